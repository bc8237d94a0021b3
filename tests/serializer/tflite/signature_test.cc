// SPDX-License-Identifier: Apache-2.0
// Files with several signatures.
#include <unistd.h>

#include "serializer/tflite/model_test.h"
#include "tengine/entry.h"
#include "tengine/metadata.h"

namespace tengine::test {
namespace {

constexpr int kAdd = 0, kMul = 18;

// y = x op x, of a subgraph
TfliteModel make_pair(int code)
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"y", {2}}};
    model.operators = {{code, {0, 0}, {1}}};
    model.inputs = {0};
    model.outputs = {1};
    return model;
}

// The first signature is that of the second subgraph.
TfliteModel make_both()
{
    TfliteModel model = make_pair(kAdd);
    model.called = {make_pair(kMul)};
    model.signatures = {{"square", 1, {{0, "of"}}, {{1, "squared"}}},
                        {"twice", 0, {{0, "number"}}, {{1, "doubled"}}}};
    return model;
}

class TfliteSignatureTest : public TfliteModelTest
{
  protected:
    void TearDown() override
    {
        TfliteModelTest::TearDown();
        if (context_) destroy_context(context_);
    }

    bool load_signature(const TfliteModel& model, const char* key)
    {
        unload();
        if (context_) destroy_context(context_);
        context_ = create_context("signature", 0);
        EXPECT_EQ(tengine_context_set_option(context_, "model.entry", key), 0);
        const std::string bytes = encode_tflite(model);
        graph_ = tengine_graph_load(context_, "tflite", bytes.data(), bytes.size());
        return graph_ != nullptr;
    }

    // The result for {3, 4}, and the names of input and output.
    void expect_run(const char* input, const char* output, const std::vector<float>& result)
    {
        float values[] = {3, 4};
        const tensor_t x = tengine_graph_get_input(graph_, 0);
        const tensor_t y = tengine_graph_get_output(graph_, 0);
        EXPECT_STREQ(get_tensor_name(x), input);
        EXPECT_STREQ(get_tensor_name(y), output);
        ASSERT_EQ(set_tensor_buffer(x, values, sizeof values), 0);
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        std::vector<float> made(2);
        ASSERT_EQ(get_tensor_data(y, made.data(), 8), 0);
        EXPECT_EQ(made, result);
    }

    context_t context_ = nullptr;
};

TEST_F(TfliteSignatureTest, IsChosenByItsKey)
{
    ASSERT_TRUE(load_signature(make_both(), "")) << get_tengine_error();
    expect_run("of", "squared", {9, 16});
    EXPECT_EQ(tengine_graph_get_entry_index(graph_), 0);
    ASSERT_EQ(tengine_graph_get_entry_number(graph_), 2);
    EXPECT_STREQ(tengine_graph_get_entry_name(graph_, 0), "square");
    EXPECT_STREQ(tengine_graph_get_entry_name(graph_, 1), "twice");
    ASSERT_TRUE(load_signature(make_both(), "twice")) << get_tengine_error();
    expect_run("number", "doubled", {6, 8});
    EXPECT_EQ(tengine_graph_get_entry_index(graph_), 1);
}

TEST_F(TfliteSignatureTest, IsWrittenAlone)
{
    const std::string path =
        testing::TempDir() + "signature_" + std::to_string(getpid()) + ".tflite";
    for (const char* key : {"square", "twice"}) {
        ASSERT_TRUE(load_signature(make_both(), key)) << get_tengine_error();
        ASSERT_EQ(save_graph(graph_, "tflite", path.c_str()), 0) << get_tengine_error();
        unload();
        graph_ = create_graph(context_, "tflite", path.c_str());
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
        const bool is_first = std::string(key) == "square";
        expect_run(is_first ? "of" : "number", is_first ? "squared" : "doubled",
                   is_first ? std::vector<float>{9, 16} : std::vector<float>{6, 8});
    }
}

TEST_F(TfliteSignatureTest, OfAShapeDeclaresFreeDimensions)
{
    const auto declared = [&](const TfliteModel& model) {
        int dims[2] = {7, 7};
        EXPECT_TRUE(load(model)) << get_tengine_error();
        const tensor_t x = tengine_graph_get_input(graph_, 0);
        const int number = tengine_tensor_get_declared_shape(x, dims, 2);
        int present[2];
        EXPECT_EQ(get_tensor_shape(x, present, 2), 1);
        EXPECT_EQ(present[0], 2);
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        return number < 0 ? 0 : dims[0];
    };
    TfliteModel model = make_pair(kAdd);
    EXPECT_EQ(declared(model), 0);
    model.tensors[0].shape_signature = {-1};
    EXPECT_EQ(declared(model), -1);
    // These are not of the shape, or have nothing free.
    for (const std::vector<int32_t>& wrong : {std::vector<int32_t>{2}, {3}, {-1, -1}}) {
        model.tensors[0].shape_signature = wrong;
        EXPECT_EQ(declared(model), 0);
    }
}

TEST_F(TfliteSignatureTest, OthersAreRefused)
{
    EXPECT_FALSE(load_signature(make_both(), "third"));
    EXPECT_EQ(get_tengine_errno(), TENGINE_ENOENT);
    EXPECT_THAT(get_tengine_error(),
                testing::HasSubstr("option model.entry: the model has no entry 'third', expected "
                                   "'square', 'twice'"));
    EXPECT_FALSE(load_signature(make_pair(kAdd), "square"));
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("expected none"));
    TfliteModel model = make_both();
    model.signatures[0].subgraph = 7;
    EXPECT_FALSE(load_signature(model, ""));
    EXPECT_EQ(get_tengine_errno(), TENGINE_EFORMAT);
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("of subgraph 7, the model has 2"));
}

TEST_F(TfliteSignatureTest, HaveNamesThatDiffer)
{
    TfliteModel model = make_both();
    model.signatures[1].key = "square";
    expect_refusal(model, TENGINE_EFORMAT, "two entries have the name 'square'");
    model.signatures[1].key = "";
    expect_refusal(model, TENGINE_EFORMAT, "the name of entry 1 has 0 bytes, expected 1 to 255");
    model.signatures[1].key = std::string(256, 'n');
    expect_refusal(model, TENGINE_EFORMAT, "the name of entry 1 has 256 bytes");
    model.signatures.resize(1025, model.signatures[0]);
    expect_refusal(model, TENGINE_EFORMAT, "the model has 1025 entries, expected 1 to 1024");
    // A single one may have none, and is then no entry.
    model.signatures = {make_both().signatures[0]};
    model.signatures[0].key = "";
    ASSERT_TRUE(load(model)) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_entry_number(graph_), 0);
}

// Programs know the name of an output, whether an operator computes it or it is a constant.
TEST_F(TfliteSignatureTest, AConstantMayBeAnOutput)
{
    for (const bool has_signature : {true, false}) {
        TfliteModel model;
        model.tensors = {{"x", {2}},
                         {"y", {2}, kTfliteFloat, bytes_of<float>({3, 4})},
                         {"z", {2}, kTfliteFloat, bytes_of<float>({5, 6})},
                         {"s", {2}}};
        model.operators = {{0, {0, 1}, {3}}};
        model.inputs = {0};
        model.outputs = {1, 3, 2};
        if (has_signature) {
            model.named_inputs = {{0, "x"}};
            model.named_outputs = {{1, "y"}, {3, "s"}, {2, "z"}};
        }
        const std::vector<std::string> expected = {bytes_of<float>({3, 4}), bytes_of<float>({4, 6}),
                                                   bytes_of<float>({5, 6})};
        EXPECT_EQ(run(model, {bytes_of<float>({1, 2})}), expected);
        const char* names[] = {"y", "s", "z"};
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(tengine_graph_get_output(graph_, i), get_graph_tensor(graph_, names[i]));
    }
}

}  // namespace
}  // namespace tengine::test
