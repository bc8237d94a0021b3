// SPDX-License-Identifier: Apache-2.0
// Writing of several entries as the signatures of a .tflite.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "serializer/tflite/entry_fixture.h"
#include "serializer/tflite/model_text.h"
#include "tengine/state.h"

namespace tengine::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kSvdf = 27;

class TfliteEntryWriterTest : public TfliteEntryTest
{
  protected:
    void TearDown() override
    {
        std::remove(path_.c_str());
        TfliteEntryTest::TearDown();
    }

    // The bytes of the file that the graph and its other entries become; "" after a failure.
    std::string save(graph_t graph)
    {
        if (save_graph(graph, "tflite", path_.c_str()) < 0) return "";
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    void load_both(const std::string& bytes, const char* first, const char* second)
    {
        close();
        unload();
        graph_ = tengine_graph_load(nullptr, "tflite", bytes.data(), bytes.size());
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
        EXPECT_STREQ(tengine_graph_get_entry_name(graph_, 0), first);
        other_ = tengine_graph_open_entry(graph_, second);
        ASSERT_NE(other_, nullptr) << get_tengine_error();
    }

    const std::string path_ =
        testing::TempDir() + "entries_" + std::to_string(getpid()) + ".tflite";
};

// The values of the first four steps are those of LiteRT's own runtime, @litertjs/core 2.5.3, for
// both the file and the written one.
TEST_F(TfliteEntryWriterTest, SignaturesOfAFileAreWritten)
{
    ASSERT_TRUE(load(make_pair())) << get_tengine_error();
    const std::string bytes = save(graph_);
    const std::string text = print_tflite(bytes);
    EXPECT_THAT(text, HasSubstr("signature 'add' of 0 input 'x' 0 output 'y' 2\n"
                                "signature 'scale' of 2 input 'x' 0 output 'y' 2\n"))
        << get_tengine_error();
    EXPECT_EQ(text.find("first_values"), text.rfind("subgraph 'first_values'") + 10);
    load_both(bytes, "add", "scale");
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
    EXPECT_EQ(step(other_, {2, 1}), (Floats{24, 24}));
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{25, 25}));
    // From the second entry, and as a third file.
    EXPECT_EQ(print_tflite(save(other_)), text);
}

// A tmfile between them has the same, as the written file.
TEST_F(TfliteEntryWriterTest, EachSignatureMayCallItsOwn)
{
    ASSERT_TRUE(load(make_pair_of_calls())) << get_tengine_error();
    for (int round = 0; round < 2; ++round) {
        load_both(save(graph_), "add", "scale");
        EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
        EXPECT_EQ(step(other_, {2, 3}), (Floats{2, 6}));
        EXPECT_EQ(step(other_, {2, 1}), (Floats{4, 6}));
        EXPECT_EQ(step(graph_, {1, 1}), (Floats{5, 7}));
        ASSERT_EQ(save_graph(graph_, "tengine", path_.c_str()), 0) << get_tengine_error();
        close();
        unload();
        graph_ = create_graph(nullptr, "tengine", path_.c_str());
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
    }
}

// Variables of both signatures are found by container and name.
TEST_F(TfliteEntryWriterTest, VariablesStayApart)
{
    TfliteModel model = make_pair();
    model.called[1] = make_step(kMul, "v", "other box");
    ASSERT_TRUE(load(model)) << get_tengine_error();
    load_both(save(graph_), "add", "scale");
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{0, 0}));
    // The state cannot have the name of the variable here, for a tensor has it.
    model = make_pair();
    model.called[1].tensors[3].name = "v";
    model.signatures[1].outputs.clear();
    ASSERT_TRUE(load(model)) << get_tengine_error();
    load_both(save(graph_), "add", "scale");
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
}

// The records of an entry are those of its own signature, whatever its name is now.
TEST_F(TfliteEntryWriterTest, EntriesMayHaveOtherNames)
{
    TfliteModel model = make_pair();
    model.called[1].operators[2].version = 4;
    ASSERT_TRUE(load(model)) << get_tengine_error();
    const std::string file = encode_tflite(model);
    const graph_t add = tengine_graph_load(nullptr, "tflite", file.data(), file.size());
    const graph_t scale = tengine_graph_open_entry(graph_, "scale");
    ASSERT_NE(scale, nullptr) << get_tengine_error();
    unload();
    const graph_t graphs[] = {add, scale};
    const char* const names[] = {"scale", "add"};
    ASSERT_EQ(tengine_graph_join_entries(graphs, names, 2), 0) << get_tengine_error();
    const std::string bytes = save(scale);
    EXPECT_EQ(destroy_graph(add), 0);
    EXPECT_EQ(destroy_graph(scale), 0);
    EXPECT_THAT(print_tflite(bytes), HasSubstr("operator 18 version 4"));
    EXPECT_THAT(print_tflite(bytes), HasSubstr("operator 0 version 1"));
    load_both(bytes, "scale", "add");
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
}

// Those of several files are in the new one; the first file's are first.
TEST_F(TfliteEntryWriterTest, MetadataOfAllFilesAreKept)
{
    TfliteModel model = make_step(kAdd, "v");
    model.metadata = {{"both", "of the first"}, {"first", "1"}};
    ASSERT_TRUE(load(model)) << get_tengine_error();
    model = make_step(kMul, "v");
    model.metadata = {{"both", "of the second"}, {"second", "2"}};
    model.description = "about it";
    const std::string file = encode_tflite(model);
    other_ = tengine_graph_load(nullptr, "tflite", file.data(), file.size());
    const graph_t graphs[] = {graph_, other_};
    const char* const names[] = {"add", "scale"};
    ASSERT_EQ(tengine_graph_join_entries(graphs, names, 2), 0) << get_tengine_error();
    const std::string bytes = save(graph_);
    const std::string text = print_tflite(bytes);
    EXPECT_THAT(text, HasSubstr("'about it'"));
    for (const char* name : {"metadata 'both'", "metadata 'first'", "metadata 'second'"})
        EXPECT_EQ(text.find(name), text.rfind(name)) << name;
    EXPECT_NE(bytes.find("of the first"), std::string::npos);
    EXPECT_EQ(bytes.find("of the second"), std::string::npos);
    load_both(bytes, "add", "scale");
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{1, 2}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{2, 6}));
}

// y = SVDF(x), whose state is a tensor of the operator.
TfliteModel make_svdf()
{
    TfliteModel model;
    model.tensors = {{"x", {1, 2}},
                     {"features", {1, 2}, kTfliteFloat, bytes_of<float>({1, 1})},
                     {"times", {1, 2}, kTfliteFloat, bytes_of<float>({1, 1})},
                     {"kept", {1, 2}},
                     {"y", {1, 1}}};
    model.tensors[3].is_variable = true;
    model.operators = {{kSvdf, {0, 1, 2, -1, 3}, {4}, {{0, 4, 1}, {1, 1, 0}}}};
    model.inputs = {0};
    model.outputs = {4};
    return model;
}

TEST_F(TfliteEntryWriterTest, StatesOfOperatorsAreOfOneSignature)
{
    TfliteModel model = make_svdf();
    model.called = {make_svdf()};
    model.signatures = {{"one", 0, {{0, "x"}}, {{4, "y"}}}, {"two", 1, {{0, "x"}}, {{4, "y"}}}};
    ASSERT_TRUE(load(model)) << get_tengine_error();
    load_both(save(graph_), "one", "two");
    const auto run = [](graph_t graph, Floats x) {
        float y = 0;
        EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph, 0), x.data(), 8), 0);
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(get_tensor_data(tengine_graph_get_output(graph, 0), &y, sizeof y), 0);
        return y;
    };
    EXPECT_EQ(run(graph_, {1, 2}), 3);
    EXPECT_EQ(run(other_, {5, 5}), 10);
    EXPECT_EQ(run(graph_, {1, 1}), 5);
    // Entries of two models would share it by its name.
    close();
    ASSERT_TRUE(load(make_svdf())) << get_tengine_error();
    const std::string file = encode_tflite(make_svdf());
    other_ = tengine_graph_load(nullptr, "tflite", file.data(), file.size());
    const graph_t graphs[] = {graph_, other_};
    const char* const names[] = {"one", "two"};
    ASSERT_EQ(tengine_graph_join_entries(graphs, names, 2), 0) << get_tengine_error();
    EXPECT_EQ(save(graph_), "");
    EXPECT_EQ(get_tengine_errno(), TENGINE_ENOTSUP);
    EXPECT_THAT(get_tengine_error(),
                HasSubstr("entries 'one' and 'two' share 'kept', the state of an operator, which "
                          "belongs to one signature in a .tflite"));
}

}  // namespace
}  // namespace tengine::test
