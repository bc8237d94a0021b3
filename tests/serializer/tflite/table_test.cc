// SPDX-License-Identifier: Apache-2.0
// Hash tables: names of animals and their numbers of legs. The operator for sorted keys.
#include <unistd.h>

#include <filesystem>

#include "serializer/tflite/model_test.h"

namespace tengine::test {
namespace {

constexpr int kLookup = 10, kCallOnce = 129, kTable = 136, kFind = 137, kImport = 138, kSize = 139;

// The blob of a tensor of strings.
std::string texts(const std::vector<std::string>& list)
{
    std::vector<int32_t> head = {static_cast<int32_t>(list.size())};
    std::string bytes;
    for (size_t i = 0; i <= list.size(); ++i) {
        head.push_back(static_cast<int32_t>((list.size() + 2) * 4 + bytes.size()));
        if (i < list.size()) bytes += list[i];
    }
    return bytes_of(head) + bytes;
}

TfliteOperator make_table(int32_t output, int32_t id, int8_t keys, int8_t values)
{
    return {kTable, {}, {output}, {{0, 4, id}, {1, 1, keys}, {2, 1, values}}};
}

// legs[name of query]: 1 bird, 2 cow, 3 ant; and the size of the table. `is_once`: CALL_ONCE fills
// it, else the model.
TfliteModel make_legs(bool is_once)
{
    TfliteModel model, once;
    model.tensors = {{"query", {4}, kTfliteInt64},
                     {"table", {}, kTfliteResource},
                     {"none", {}, kTfliteInt64, bytes_of<int64_t>({-9})},
                     {"legs", {4}, kTfliteInt64},
                     {"size", {1}, kTfliteInt64},
                     {"keys", {3}, kTfliteInt64, bytes_of<int64_t>({1, 2, 3})},
                     {"values", {3}, kTfliteInt64, bytes_of<int64_t>({2, 4, 6})}};
    model.inputs = {0};
    model.outputs = {3, 4};
    const TfliteOperator table = make_table(1, 5, kTfliteInt64, kTfliteInt64);
    const std::vector<TfliteOperator> uses = {{kFind, {1, 0, 2}, {3}}, {kSize, {1}, {4}}};
    model.operators = {table, {kImport, {1, 5, 6}, {}}};
    if (is_once) {
        once.tensors = {{"keys", {3}, kTfliteInt64, model.tensors[5].values},
                        {"table", {}, kTfliteResource},
                        {"values", {3}, kTfliteInt64, model.tensors[6].values}};
        once.operators = {table, {kImport, {1, 0, 2}, {}}};
        model.called = {once};
        model.tensors.resize(5);
        model.operators = {{kCallOnce, {}, {}, {{0, 4, 1}}}, table};
    }
    model.operators.insert(model.operators.end(), uses.begin(), uses.end());
    return model;
}

// The names have the types of the tensors of the file.
TfliteModel make_names()
{
    TfliteModel model;
    model.tensors = {{"legs", {2}, kTfliteInt64},
                     {"table", {}, kTfliteResource},
                     {"none", {1}, kTfliteString, texts({"unknown"})},
                     {"name", {2}, kTfliteString},
                     {"keys", {2}, kTfliteInt64, bytes_of<int64_t>({2, 6})},
                     {"values", {2}, kTfliteString, texts({"bird", "ant"})},
                     {"back", {}, kTfliteResource},
                     {"zero", {}, kTfliteInt64, bytes_of<int64_t>({0})},
                     {"again", {2}, kTfliteInt64}};
    model.inputs = {0};
    model.outputs = {8};
    model.operators = {make_table(1, 0, kTfliteInt64, kTfliteString),
                       {kImport, {1, 4, 5}, {}},
                       make_table(6, 1, kTfliteString, kTfliteInt64),
                       {kImport, {6, 5, 4}, {}},
                       {kFind, {1, 0, 2}, {3}},
                       {kFind, {6, 3, 7}, {8}}};
    return model;
}

class TfliteTableTest : public TfliteModelTest
{
  protected:
    void TearDown() override
    {
        TfliteModelTest::TearDown();
        std::filesystem::remove(path_);
    }

    // The results of the graph that the loaded one becomes when it is written and read.
    std::vector<std::string> run_written(const char* format, std::string input)
    {
        EXPECT_EQ(save_graph(graph_, format, path_.c_str()), 0) << get_tengine_error();
        unload();
        graph_ = create_graph(nullptr, format, path_.c_str());
        if (!graph_ ||
            set_tensor_buffer(tengine_graph_get_input(graph_, 0), input.data(),
                              static_cast<int>(input.size())) < 0 ||
            prerun_graph(graph_) < 0 || run_graph(graph_, 1) < 0) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        return read_results(graph_);
    }

    const std::string path_ = testing::TempDir() + "table_" + std::to_string(getpid()) + ".model";
};

TEST_F(TfliteTableTest, KeysAreFound)
{
    const std::string query = bytes_of<int64_t>({3, 1, 7, 2});
    const std::vector<std::string> expected = {bytes_of<int64_t>({6, 2, -9, 4}),
                                               bytes_of<int64_t>({3})};
    for (const bool is_once : {false, true}) {
        EXPECT_EQ(run(make_legs(is_once), {query}), expected);
        for (const char* format : {"tflite", "tflite", "onnx"}) {
            SCOPED_TRACE(format);
            EXPECT_EQ(run_written(format, query), expected);
        }
    }
}

TEST_F(TfliteTableTest, Strings)
{
    const std::string query = bytes_of<int64_t>({6, 5}), expected = bytes_of<int64_t>({6, 0});
    EXPECT_EQ(run(make_names(), {query}), std::vector<std::string>{expected});
    EXPECT_EQ(run_written("tflite", query), std::vector<std::string>{expected});
}

// The first import counts.
TEST_F(TfliteTableTest, AnotherImport)
{
    TfliteModel model = make_legs(false);
    model.operators.insert(model.operators.begin() + 2, {kImport, {1, 6, 5}, {}});
    const auto results = run(model, {bytes_of<int64_t>({3, 1, 7, 2})});
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0], bytes_of<int64_t>({6, 2, -9, 4}));
}

TEST_F(TfliteTableTest, WhatIsRefused)
{
    TfliteModel model = make_legs(false);
    model.operators.erase(model.operators.begin() + 1);
    expect_refusal(model, TENGINE_EGRAPH, "no HASHTABLE_IMPORT before it fills table 5");
    model = make_legs(false);
    model.operators[2].inputs[0] = 0;
    expect_refusal(model, TENGINE_EGRAPH, "tensor 0, expected the output of a HASHTABLE");
    model = make_legs(false);
    model.operators[1].inputs = {1, 0, 6};
    expect_refusal(model, TENGINE_ENOTSUP, "its keys or values are computed");
    model = make_legs(false);
    model.operators[1].inputs = {1, 5};
    expect_refusal(model, TENGINE_EFORMAT, "tensor -1, expected one of 7");
    model = make_legs(false);
    model.tensors[6].shape = {2};
    model.tensors[6].values.resize(16);
    expect_refusal(model, TENGINE_EINVAL, "its table has 3 keys and 2 values");
    model = make_legs(false);
    model.tensors[5].type = kTfliteInt32;
    model.tensors[5].values.resize(12);
    expect_refusal(model, TENGINE_EDTYPE, "the keys of its table are int32");
    model = make_legs(true);
    model.operators[1].code = 142;
    model.operators[1].options.clear();
    expect_refusal(model, TENGINE_EGRAPH, "tensor 1, expected the output of a HASHTABLE");
}

TEST_F(TfliteTableTest, DamagedFiles)
{
    expect_bounds(make_legs(true));
    expect_bounds(make_names());
}

// Rows of values, zeros for keys that are not there.
TEST_F(TfliteTableTest, SortedKeys)
{
    TfliteModel model;
    model.tensors = {{"query", {3}, kTfliteInt32},
                     {"keys", {2}, kTfliteInt32, bytes_of<int32_t>({5, 8})},
                     {"values", {2, 2}, kTfliteFloat, bytes_of<float>({1, 2, 3, 4})},
                     {"rows", {3, 2}},
                     {"hits", {3}, 3}};
    model.inputs = {0};
    model.outputs = {3, 4};
    model.operators = {{kLookup, {0, 1, 2}, {3, 4}}};
    const auto results = run(model, {bytes_of<int32_t>({8, 6, 5})});
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0], bytes_of<float>({3, 4, 0, 0, 1, 2}));
    EXPECT_EQ(results[1], (std::string{1, 0, 1}));
    model.tensors[1].shape = {1, 2};
    expect_refusal(model, TENGINE_EINVAL, "its queries and keys have rank 1 and 2");
}

}  // namespace
}  // namespace tengine::test
