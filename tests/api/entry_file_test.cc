// SPDX-License-Identifier: Apache-2.0
// Files with several entries.
#include "api/entry_file_fixture.h"

namespace tengine {
namespace {

TEST_F(EntryFileTest, PrefillAndDecodingAreTheWholeSequence)
{
    save();
    load();
    EXPECT_EQ(tengine_graph_get_entry_number(prefill_), 2);
    EXPECT_STREQ(tengine_graph_get_entry_name(decode_, 0), "prefill");
    EXPECT_EQ(tengine_graph_get_entry_index(prefill_), 0);
    EXPECT_EQ(tengine_graph_get_entry_index(decode_), 1);
    prepare();
    EXPECT_LT(find_error(), 1e-4);
    // A new sequence.
    ASSERT_EQ(tengine_graph_reset_states(decode_), 0);
    EXPECT_LT(find_error(), 1e-4);
}

TEST_F(EntryFileTest, DevicesSchedulersThreadsAndPrecisions)
{
    save();
    run_everywhere("run.watchdog_ms", "60000");
}

TEST_F(EntryFileTest, StatesAreSavedAndRestored)
{
    save();
    load();
    prepare();
    const Rows expected = expected_rows(weights_, tokens_);
    run(prefill_, 0, kPrompt);
    const Floats keys = read_floats(get_graph_tensor(prefill_, "k"));
    const Floats values = read_floats(get_graph_tensor(decode_, "v"));
    close();
    load();
    prepare();
    ASSERT_TRUE(write_floats(get_graph_tensor(decode_, "k"), keys));
    ASSERT_TRUE(write_floats(get_graph_tensor(prefill_, "v"), values));
    const Floats row = run(decode_, kPrompt, 1);
    for (size_t i = 0; i < kWidth; ++i)
        EXPECT_NEAR(row[i], expected[kPrompt][i], 1e-4);
}

TEST_F(EntryFileTest, WeightsAreInTheFileOnce)
{
    const graph_t alone = create_model(nullptr, weights_, 1);
    ASSERT_EQ(save_graph(alone, "tengine", path_.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(alone), 0);
    const size_t one = read_file().size();
    save();
    const size_t both = read_file().size();
    const size_t weights = 4 * kWidth * kWidth * sizeof(float);
    EXPECT_GT(one, weights);
    EXPECT_LT(both, weights + 2 * (one - weights) + 1024);
}

TEST_F(EntryFileTest, PackedWeightsAreInMemoryOnce)
{
    save();
    for (const int precision : {TENGINE_MODE_FP16, TENGINE_MODE_BF16}) {
        load();
        prepare(precision);
        const int64_t both = count_compiled_bytes(prefill_) + count_compiled_bytes(decode_);
        close();
        // The same as two models that know nothing of each other.
        prefill_ = create_graph(nullptr, "tengine", path_.c_str());
        set_option("model.entry", "decode");
        decode_ = create_graph(context_, "tengine", path_.c_str());
        prepare(precision);
        const int64_t apart = count_compiled_bytes(prefill_) + count_compiled_bytes(decode_);
        std::printf("compiled parts of two entries: %lld bytes, of two graphs: %lld\n",
                    static_cast<long long>(both), static_cast<long long>(apart));
        const auto weights = static_cast<int64_t>(4 * kWidth * kWidth * 2);
        EXPECT_LE(both, apart - weights);
        close();
    }
}

TEST_F(EntryFileTest, TheOptionChoosesOne)
{
    save();
    set_option("model.entry", "decode");
    const graph_t decode = create_graph(context_, "tengine", path_.c_str());
    ASSERT_NE(decode, nullptr) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_entry_index(decode), 1);
    int dims[2] = {};
    EXPECT_EQ(get_tensor_shape(get_graph_tensor(decode, "x"), dims, 2), 2);
    EXPECT_EQ(dims[0], 1);
    EXPECT_EQ(destroy_graph(decode), 0);
    set_option("model.entry", "third");
    EXPECT_EQ(create_graph(context_, "tengine", path_.c_str()), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    // Files without entries have none to choose.
    for (const char* format : {"tengine", "onnx"}) {
        const graph_t alone = create_model(nullptr, weights_, 1);
        ASSERT_EQ(save_graph(alone, format, path_.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(alone), 0);
        EXPECT_EQ(create_graph(context_, format, path_.c_str()), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ENOENT)) << format;
    }
}

TEST_F(EntryFileTest, ACopyOfTheFileHasAllEntries)
{
    save();
    const std::string bytes = read_file();
    // Both entries are open, one of them is, and the one that is not the first.
    for (const bool opens_decode : {true, false}) {
        load();
        if (!opens_decode) {
            EXPECT_EQ(destroy_graph(decode_), 0);
            decode_ = nullptr;
        }
        ASSERT_EQ(save_graph(prefill_, "tengine", path_.c_str()), 0) << get_tengine_error();
        EXPECT_TRUE(read_file() == bytes);
        close();
    }
    load();
    EXPECT_EQ(destroy_graph(prefill_), 0);
    prefill_ = nullptr;
    ASSERT_EQ(save_graph(decode_, "tengine", path_.c_str()), 0) << get_tengine_error();
    EXPECT_TRUE(read_file() == bytes);
    // A file of ONNX has the graph alone.
    ASSERT_EQ(save_graph(decode_, "onnx", path_.c_str()), 0) << get_tengine_error();
    const graph_t alone = create_graph(nullptr, "onnx", path_.c_str());
    ASSERT_NE(alone, nullptr) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_entry_number(alone), 0);
    EXPECT_EQ(destroy_graph(alone), 0);
}

TEST_F(EntryFileTest, GraphsThatAreGoneCannotBeSaved)
{
    const graph_t graphs[] = {create_model(nullptr, weights_, kPrompt),
                              create_model(nullptr, weights_, 1)};
    const char* const names[] = {"prefill", "decode"};
    ASSERT_EQ(tengine_graph_join_entries(graphs, names, 2), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graphs[1]), 0);
    EXPECT_EQ(save_graph(graphs[0], "tengine", path_.c_str()), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    EXPECT_EQ(destroy_graph(graphs[0]), 0);
}

TEST_F(EntryFileTest, CompiledPartsOfEntriesAreKept)
{
    save();
    for (const char* name : {"prefill", "decode"}) {
        context_ = create_context("entries", 1);
        ASSERT_EQ(set_context_device(context_, "TPU", nullptr, 0), 0);
        set_option("model.keep_parts", "1");
        set_option("model.entry", name);
        const graph_t graph = create_graph(context_, "tengine", path_.c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        const options how = {1, TENGINE_CLUSTER_BIG, TENGINE_MODE_BF16, 0};
        ASSERT_EQ(prerun_graph_multithread(graph, how), 0) << get_tengine_error();
        ASSERT_EQ(save_graph(graph, "tengine", path_.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(graph), 0);
        close();
    }
    context_ = create_context("entries", 1);
    ASSERT_EQ(set_context_device(context_, "TPU", nullptr, 0), 0);
    load();
    prepare(TENGINE_MODE_BF16);
    for (const graph_t graph : {prefill_, decode_}) {
        int loaded = 0;
        int origin = 0;
        for (int i = 0; tengine_graph_get_subgraph_origin(graph, i, &origin) == 0; ++i)
            if (origin == TENGINE_PART_FROM_MODEL) ++loaded;
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_GT(loaded, 0);
    }
    EXPECT_LT(find_error(), 0.15);
}

TEST_F(EntryFileTest, StatesMayBeInputs)
{
    save();
    set_option("model.states", "0");
    load();
    for (const graph_t graph : {prefill_, decode_}) {
        EXPECT_EQ(tengine_graph_get_state_number(graph), 0);
        EXPECT_EQ(tengine_graph_get_input_number(graph), 6);
        EXPECT_EQ(tengine_graph_get_output_number(graph), 3);
    }
}

TEST_F(EntryFileTest, OutOfMemory)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    save();
    const std::string copy = path_ + ".copy";
    expect_clean_failures([&] {
        prefill_ = create_graph(nullptr, "tengine", path_.c_str());
        decode_ = prefill_ ? tengine_graph_open_entry(prefill_, "decode") : nullptr;
        return decode_ && prerun_graph(decode_) == 0 &&
               save_graph(prefill_, "tengine", copy.c_str()) == 0;
    });
    std::remove(copy.c_str());
    // Graphs that are not joined are as before, and can be joined later.
    const graph_t graphs[] = {create_model(nullptr, weights_, 1),
                              create_model(nullptr, weights_, 1)};
    const char* const names[] = {"prefill", "decode"};
    for (long i = 1; fail_allocation(i), tengine_graph_join_entries(graphs, names, 2) < 0; ++i) {
        fail_allocation(0);
        EXPECT_EQ(get_tengine_errno(), TENGINE_ENOMEM) << i;
        for (const graph_t graph : graphs)
            EXPECT_EQ(tengine_graph_get_entry_number(graph), 0);
        ASSERT_LT(i, 1000);
    }
    fail_allocation(0);
    take_logged_failures();
    for (const graph_t graph : graphs)
        EXPECT_EQ(destroy_graph(graph), 0);
}

// Each byte around the list of entries is changed, and each length cut: the result is a graph,
// whose entries can be opened or not, or a status.
TEST_F(EntryFileTest, DamagedFiles)
{
    save();
    const std::string file = read_file();
    const auto take = [](const std::string& bytes) {
        const graph_t graph = tengine_graph_load(nullptr, "tengine", bytes.data(), bytes.size());
        if (!graph) {
            EXPECT_LT(get_tengine_errno(), 0);
            return;
        }
        const graph_t other = tengine_graph_open_entry(graph, "decode");
        if (other) destroy_graph(other);
        destroy_graph(graph);
    };
    const size_t list = file.size() - 64;
    for (size_t i = 0; i < file.size(); i = i == 40 ? list : i + 1)
        for (const int change : {1, 0x40, 0x80, 0xff}) {
            std::string damaged = file;
            damaged[i] = static_cast<char>(damaged[i] ^ change);
            take(damaged);
        }
    for (size_t i = 0; i < file.size(); i += 997)
        take(file.substr(0, i));
    for (size_t i = list; i < file.size(); ++i)
        take(file.substr(0, i));
    take_logged_failures();
}

}  // namespace
}  // namespace tengine
