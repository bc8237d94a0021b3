// SPDX-License-Identifier: Apache-2.0
// Several entries in one .tflite, as its signatures.
#include <thread>

#include "api/entry_file_fixture.h"
#include "tengine/placement.h"

namespace tengine {
namespace {

class EntryTfliteFileTest : public EntryFileTest
{
  protected:
    void SetUp() override
    {
        EntryFileTest::SetUp();
        use_tflite();
    }
};

TEST_F(EntryTfliteFileTest, PrefillAndDecodingAreTheWholeSequence)
{
    save();
    const std::string bytes = read_file();
    load();
    EXPECT_EQ(tengine_graph_get_entry_number(prefill_), 2);
    EXPECT_STREQ(tengine_graph_get_entry_name(prefill_, 0), "prefill");
    EXPECT_STREQ(tengine_graph_get_entry_name(prefill_, 1), "decode");
    EXPECT_EQ(tengine_graph_get_state_number(decode_), 2);
    prepare();
    EXPECT_LT(find_error(), 1e-4);
    ASSERT_EQ(tengine_graph_reset_states(decode_), 0);
    EXPECT_LT(find_error(), 1e-4);
    // The file again, a tmfile of it, and a .tflite of that.
    ASSERT_EQ(save_graph(decode_, "tflite", path_.c_str()), 0) << get_tengine_error();
    close();
    load();
    prepare();
    EXPECT_LT(find_error(), 1e-4);
    const std::string copy = path_ + ".tmfile";
    ASSERT_EQ(save_graph(prefill_, "tengine", copy.c_str()), 0) << get_tengine_error();
    close();
    prefill_ = create_graph(nullptr, "tengine", copy.c_str());
    ASSERT_NE(prefill_, nullptr) << get_tengine_error();
    std::remove(copy.c_str());
    ASSERT_EQ(save_graph(prefill_, "tflite", path_.c_str()), 0) << get_tengine_error();
    close();
    load();
    prepare();
    EXPECT_LT(find_error(), 1e-4);
}

TEST_F(EntryTfliteFileTest, DevicesSchedulersAndPrecisions)
{
    save();
    run_everywhere("split.min_macs", "5");
}

TEST_F(EntryTfliteFileTest, WeightsAreInTheFileOnce)
{
    const graph_t alone = create_model(nullptr, weights_, 1);
    ASSERT_EQ(save_graph(alone, "tflite", path_.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(alone), 0);
    const size_t one = read_file().size();
    save();
    const std::string both = read_file();
    const size_t weights = 4 * kWidth * kWidth * sizeof(float);
    EXPECT_GT(one, weights);
    EXPECT_LT(both.size(), weights + 2 * (one - weights) + 1024);
    // The first values of both states, of which there is one for both entries.
    const std::string zeros(kMost * kWidth * sizeof(float), 0);
    size_t number = 0;
    for (size_t at = both.find(zeros); at != std::string::npos;
         at = both.find(zeros, at + zeros.size()))
        ++number;
    EXPECT_EQ(number, 2);
}

// Hints that both entries have are the model's.
TEST_F(EntryTfliteFileTest, HintsAreThoseOfTheirEntry)
{
    save();
    load();
    ASSERT_EQ(tengine_graph_set_hint(prefill_, "split.min_nodes", "777"), 0);
    ASSERT_EQ(tengine_graph_set_hint(decode_, "split.min_nodes", "777"), 0);
    ASSERT_EQ(tengine_graph_set_hint(prefill_, "split.prune", "0"), 0);
    ASSERT_EQ(tengine_graph_set_hint(decode_, "split.prune", "1"), 0);
    ASSERT_EQ(tengine_graph_set_hint(decode_, "split.min_macs", "5"), 0) << get_tengine_error();
    const auto list = [](graph_t graph) {
        std::string text;
        struct tengine_hint hint;
        for (int i = 0; i < tengine_graph_get_hint_number(graph); ++i) {
            EXPECT_EQ(tengine_graph_get_hint(graph, i, &hint, sizeof hint), 0);
            text += std::string(hint.option) + "=" + hint.value + " ";
        }
        return text;
    };
    const std::string prefill = list(prefill_), decode = list(decode_);
    for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(save_graph(prefill_, "tflite", path_.c_str()), 0) << get_tengine_error();
        close();
        load();
        EXPECT_EQ(list(prefill_), prefill);
        EXPECT_EQ(list(decode_), decode);
    }
    const std::string bytes = read_file();
    EXPECT_NE(bytes.find("tengine.entry.prefill/"), std::string::npos);
    EXPECT_EQ(bytes.find("777"), bytes.rfind("777"));
}

// Each has states of its own, and both of its entries are for its thread.
TEST_F(EntryTfliteFileTest, InstancesOnThreads)
{
    constexpr size_t kThreads = 3;
    save();
    load();
    std::vector<graph_t> prefills, decodes;
    for (size_t i = 0; i < kThreads; ++i) {
        prefills.push_back(tengine_graph_share(prefill_));
        decodes.push_back(tengine_graph_open_entry(prefills.back(), "decode"));
        ASSERT_NE(decodes.back(), nullptr) << get_tengine_error();
        feed(prefills.back(), 0, kPrompt);
        feed(decodes.back(), 0, 1);
        ASSERT_EQ(prerun_graph(prefills.back()), 0) << get_tengine_error();
        ASSERT_EQ(prerun_graph(decodes.back()), 0) << get_tengine_error();
    }
    std::vector<double> errors(kThreads, INFINITY);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
            errors[i] = 0;
            for (int round = 0; round < 3; ++round)
                errors[i] = std::max(errors[i], find_error(prefills[i], decodes[i]));
        });
    for (std::thread& thread : threads)
        thread.join();
    for (size_t i = 0; i < kThreads; ++i) {
        EXPECT_LT(errors[i], 1e-4) << i;
        EXPECT_EQ(destroy_graph(prefills[i]), 0);
        EXPECT_EQ(destroy_graph(decodes[i]), 0);
    }
}

// One entry alone has its name.
TEST_F(EntryTfliteFileTest, OneEntry)
{
    const graph_t graph = create_model(nullptr, weights_, 1);
    const char* const name = "decode";
    ASSERT_EQ(tengine_graph_join_entries(&graph, &name, 1), 0) << get_tengine_error();
    ASSERT_EQ(save_graph(graph, "tflite", path_.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    prefill_ = create_graph(nullptr, "tflite", path_.c_str());
    ASSERT_NE(prefill_, nullptr) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_entry_number(prefill_), 1);
    EXPECT_STREQ(tengine_graph_get_entry_name(prefill_, 0), name);
}

TEST_F(EntryTfliteFileTest, OutOfMemory)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    save();
    const std::string copy = path_ + ".copy";
    expect_clean_failures([&] {
        prefill_ = create_graph(nullptr, "tflite", path_.c_str());
        decode_ = prefill_ ? tengine_graph_open_entry(prefill_, "decode") : nullptr;
        return decode_ && save_graph(prefill_, "tflite", copy.c_str()) == 0;
    });
    std::remove(copy.c_str());
}

}  // namespace
}  // namespace tengine
