// SPDX-License-Identifier: Apache-2.0
// The devices that get operators for nodes (optimizer/recognise), in every precision.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "graph/context.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/affinity.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "optimizer/recognise_model.h"
#include "support/test_device.h"

namespace tengine::test {
namespace {

class RecogniseForDevice : public testing::Test
{
  protected:
    RecogniseForDevice() { option("split.report", "none"); }

    void option(const char* key, const char* value)
    {
        ASSERT_EQ(set_ir_context_option(context_.get(), key, value), TENGINE_OK)
            << tengine_error_message();
    }

    // The context lists the device until that ends.
    void use(TestDevice& device)
    {
        ASSERT_EQ(add_ir_context_device(context_.get(), device.get(), nullptr, 0), TENGINE_OK);
        device.before_end = [this, &device] {
            if (find_ir_context_device(context_.get(), device.get()))
                remove_ir_context_device(context_.get(), device.get());
        };
    }

    void use_instead(TestDevice& device)
    {
        context_.reset(create_ir_context("recognise"));
        option("split.report", "none");
        use(device);
    }

    // "Gelu:A", in the order of the graph.
    std::vector<std::string> place(const SmallModel& model, int precision = TENGINE_MODE_FP32)
    {
        IrBuilder builder(context_.get());
        build(model, &builder);
        if (!pinned_.empty()) {
            EXPECT_EQ(add_ir_graph_affinity(builder.get(), pinned_.c_str(), "A"), TENGINE_OK);
        }
        ir_run_options_t options = {};
        options.num_thread = 1;
        options.precision = precision;
        graph* made = nullptr;
        EXPECT_EQ(create_execution_graph(builder.get(), &options, &made), TENGINE_OK)
            << tengine_error_message();
        std::vector<std::string> places;
        for (int i = 0; made && i < made->node_num; ++i) {
            const node& node = *made->node_list[i];
            if (std::string(get_ir_node_op(&node)) != "Cast")
                places.push_back(std::string(get_ir_node_op(&node)) + ":" + node.device->name);
        }
        destroy_ir_graph(made);
        return places;
    }

    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_{create_ir_context("recognise"),
                                                                    destroy_ir_context};
    std::string pinned_;
};

int (*describe_floats)(device*, vector*, vector*, vector*);

// The device computes in fp16 and bf16, too.
void list_types_of_16_bits(TestDevice& device)
{
    describe_floats = device.get()->allocator->describe;
    device.get()->allocator->describe = [](::device* self, vector* allowed, vector* blocked,
                                           vector* types) {
        for (const int type : {TENGINE_DT_FP16, TENGINE_DT_BF16})
            EXPECT_EQ(push_vector_data(types, &type), 0);
        return describe_floats(self, allowed, blocked, types);
    };
}

using Places = std::vector<std::string>;
const Places kNodesOnA = {"Div:A", "Erf:A", "Add:A", "Mul:A", "Mul:A"};

TEST_F(RecogniseForDevice, ADeviceGetsTheOperatorThatItHas)
{
    TestDevice a("A", {"Gelu"});
    use(a);
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:A"});
}

TEST_F(RecogniseForDevice, TheNodesStayWhereADeviceTakesThemAndNotTheOperator)
{
    TestDevice a("A", {"Div", "Erf", "Add", "Mul"});
    use(a);
    EXPECT_EQ(place(make_model(kGeluForm)), kNodesOnA);
    EXPECT_EQ(place(make_model(kLayerNormForm)), Places{"LayerNormalization:CPU"});
}

TEST_F(RecogniseForDevice, TheVerdictCountsNotTheList)
{
    TestDevice a("A", {"Div", "Erf", "Add", "Mul", "Gelu"});
    use(a);
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:A"});
    a.refusal = [](const node& node) {
        return std::string(get_ir_node_op(&node)) == "Gelu" ? "it has no room" : "";
    };
    EXPECT_EQ(place(make_model(kGeluForm)), kNodesOnA);
}

// Three of five nodes on another device would be four copies.
TEST_F(RecogniseForDevice, ADeviceWithoutAllNodesLosesThemToTheOperator)
{
    TestDevice a("A", {"Div", "Add", "Mul"});
    use(a);
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:CPU"});
}

TEST_F(RecogniseForDevice, ASurveySeesTheOperator)
{
    TestDevice a("A", {"Gelu"});
    list_types_of_16_bits(a);
    a.use_survey();
    use(a);
    Operators seen;
    a.on_survey = [&](const graph& graph) {
        seen = list_operators(graph);
        return int{TENGINE_OK};
    };
    for (const int precision : {TENGINE_MODE_FP32, TENGINE_MODE_FP16, TENGINE_MODE_BF16}) {
        EXPECT_EQ(place(make_model(kGeluForm), precision), Places{"Gelu:A"});
        EXPECT_EQ(seen, Operators{"Gelu"});
    }
    EXPECT_EQ(a.surveys, 3);
}

// Nodes of the default device are converted one by one, as where it is alone.
TEST_F(RecogniseForDevice, ASurveyIn16BitsSeesTheNodesOfTheDefaultDevice)
{
    TestDevice a("A", {"Relu"});
    a.use_survey();
    use(a);
    Operators seen;
    a.on_survey = [&](const graph& graph) {
        seen = list_operators(graph);
        return int{TENGINE_OK};
    };
    EXPECT_EQ(place(make_model(kGeluForm), TENGINE_MODE_FP16), Places{"Gelu:CPU"});
    EXPECT_EQ(seen.size(), 5u);
}

// The list of a device that lists everything tells nothing: its survey decides.
TEST_F(RecogniseForDevice, ADeviceWithAllOperatorsSurveysTheNodes)
{
    std::vector<std::string> all;
    for (int i = 0; i < get_op_count(); ++i) {
        const ir_method_t& method = *find_op_via_index(i);
        all.push_back((method.domain ? std::string(method.domain) + "." : "") + method.name);
    }
    TestDevice a("A", all);
    a.use_survey();
    use(a);
    Operators seen;
    std::string taken;
    a.on_survey = [&](const graph& graph) {
        seen = list_operators(graph);
        return int{TENGINE_OK};
    };
    a.refusal = [&](const node& node) { return taken == get_ir_node_op(&node) ? "" : "other"; };
    for (const char* each : {"Gelu", "Erf"}) {
        taken = each;
        EXPECT_EQ(place(make_model(kGeluForm)), Places{taken == "Gelu" ? "Gelu:A" : "Gelu:CPU"});
        EXPECT_EQ(seen, (Operators{"Div", "Erf", "Add", "Mul", "Mul"}));
    }
    a.refusal = [&](const node& node) { return *get_ir_node_op(&node) == 'G' ? "other" : ""; };
    EXPECT_EQ(place(make_model(kGeluForm)), kNodesOnA);
}

// ---- an operator that its device gives back ----

TEST_F(RecogniseForDevice, TheNextDeviceGetsTheNodesThatItTakes)
{
    TestDevice a("A", {"Gelu"}), b("B", {"Div", "Erf", "Add", "Mul"});
    use(a);
    use(b);
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:A"});
    a.script.hand_back = "Gelu";
    EXPECT_EQ(place(make_model(kGeluForm)), (Places{"Div:B", "Erf:B", "Add:B", "Mul:B", "Mul:B"}));
    b.script.hand_back = "Erf";
    EXPECT_EQ(place(make_model(kGeluForm)),
              (Places{"Div:B", "Erf:CPU", "Add:B", "Mul:B", "Mul:B"}));
}

TEST_F(RecogniseForDevice, TheNextDeviceGetsTheOperatorThatItTakes)
{
    TestDevice a("A", {"Gelu"}), b("B", {"Div", "Erf", "Add", "Mul", "Gelu"});
    use(a);
    use(b);
    a.script.hand_back = "Gelu";
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:B"});
}

TEST_F(RecogniseForDevice, TheDefaultDeviceGetsAnOperatorThatNoOtherTakes)
{
    TestDevice a("A", {"Gelu", "Div"}), b("B", {"Erf"});
    use(a);
    use(b);
    a.script.hand_back = "Gelu";
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:CPU"});
    TestDevice c("C", {"Div", "Erf", "Add", "Mul"});
    use(c);
    EXPECT_EQ(place(make_model(kGeluForm)), (Places{"Div:A", "Erf:B", "Add:C", "Mul:C", "Mul:C"}));
}

// A part that a device cannot compile is for the CPU.
TEST_F(RecogniseForDevice, AnOperatorThatIsNotCompiledIsComputedByTheDefaultDevice)
{
    TestDevice a("A", {"Gelu"}), b("B", {"Div", "Erf", "Add", "Mul"});
    use(a);
    use(b);
    a.fail_pre_run = 1;
    const SmallModel model = make_model(kGeluForm);
    IrBuilder builder(context_.get());
    build(model, &builder);
    expect_values(model, builder);
    const graph& made = *builder.get()->core->execution;
    EXPECT_EQ(list_operators(made), Operators{"Gelu"});
    EXPECT_STREQ(made.node_list[0]->device->name, "CPU");
    EXPECT_EQ(a.pre_runs, 1);
}

TEST_F(RecogniseForDevice, NodesThatTheUserTellsApartStay)
{
    TestDevice a("A", {"Div", "Gelu"});
    use(a);
    pinned_ = "d";
    EXPECT_EQ(place(make_model(kGeluForm)),
              (Places{"Div:A", "Erf:CPU", "Add:CPU", "Mul:CPU", "Mul:CPU"}));
    pinned_ = "*";
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:A"});
    pinned_ = "";
    option("precision.keep_float", "e");
    EXPECT_EQ(place(make_model(kGeluForm), TENGINE_MODE_FP16).size(), 5u);
    option("precision.keep_float", "*");
    EXPECT_EQ(place(make_model(kGeluForm), TENGINE_MODE_FP16), Places{"Gelu:A"});
}

TEST_F(RecogniseForDevice, EveryPrecisionHasTheOperator)
{
    option("precision.float", "allow");
    for (const int precision : {TENGINE_MODE_FP16, TENGINE_MODE_BF16, TENGINE_MODE_INT8,
                                TENGINE_MODE_UINT8, TENGINE_MODE_HYBRID_INT8}) {
        SCOPED_TRACE(precision);
        EXPECT_EQ(place(make_model(kGeluForm), precision), Places{"Gelu:CPU"});
        EXPECT_EQ(place(make_model(kBiasedLayerNormForm), precision),
                  Places{"LayerNormalization:CPU"});
    }
}

TEST(Recognise, TheOperatorIsKnownByTheLastNode)
{
    IrBuilder builder;
    build(make_model(kGeluForm), &builder);
    const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(builder.get()),
                                                        destroy_ir_graph);
    ASSERT_EQ(made->node_num, 1);
    EXPECT_STREQ(made->node_list[0]->name, "y");
    EXPECT_EQ(made->node_list[0]->core->source_index, find_node(builder.get(), "y")->index);
    EXPECT_STREQ(get_ir_node_output(made->node_list[0], 0)->name, "y");
}

// ---- attention ----

// Queries, keys and values of (batch, tokens, heads, elements), and a mask.
SmallModel make_attention(const std::string& scores)
{
    SmallModel model;
    const Dims dims[] = {{2, 5, 3, 8}, {2, 7, 3, 8}, {2, 7, 3, 6}};
    for (unsigned i = 0; i < 3; ++i) {
        int number = 1;
        for (const int dim : dims[i])
            number *= dim;
        model.inputs.push_back({std::string(1, "qkv"[i]), dims[i], draw_numbers(number, -2, 2, i)});
    }
    model.constants = {
        {"factor", {}, {0.25}}, {"divisor", {}, {4}}, {"mask", {5, 7}, draw_numbers(35, -1, 1, 9)}};
    model.add_nodes("a = Transpose q; b = Transpose k; c = Transpose v; p = MatMul a b; " + scores +
                    "; w = Softmax s; y = MatMul w c");
    model.axes = {{"a", {0, 2, 1, 3}}, {"b", {0, 2, 3, 1}}, {"c", {0, 2, 1, 3}}};
    return model;
}

const char* const kScores[] = {"s = Mul p factor", "s = Div p divisor",
                               "d = Mul factor p; s = Add d mask", "s = Add mask p"};

bool has_attention(const SmallModel& model, context* context)
{
    IrBuilder builder(context);
    build(model, &builder);
    expect_values(model, builder);
    const Operators operators = list_operators(*builder.get()->core->execution);
    return std::count(operators.begin(), operators.end(), "Attention") != 0;
}

TEST_F(RecogniseForDevice, AnAttentionIsForADeviceThatHasIt)
{
    for (const char* scores : kScores)
        EXPECT_FALSE(has_attention(make_attention(scores), nullptr)) << scores;
    TestDevice a("A", {"Attention"});
    use(a);
    for (const char* scores : kScores)
        EXPECT_TRUE(has_attention(make_attention(scores), context_.get())) << scores;
    EXPECT_EQ(place(make_attention(kScores[0])),
              (Places{"Transpose:CPU", "Transpose:CPU", "Transpose:CPU", "Attention:A"}));
    SmallModel model = make_attention(kScores[0]);  // keys that are as Attention has them before
    model.inputs[1].dims = {2, 3, 7, 8};
    model.axes["b"] = {0, 1, 3, 2};
    EXPECT_TRUE(has_attention(model, context_.get()));
    EXPECT_EQ(place(model), (Places{"Transpose:CPU", "Transpose:CPU", "Attention:A"}));
}

TEST_F(RecogniseForDevice, ADeviceKeepsProductsThatOthersWouldCompute)
{
    TestDevice a("A", {"MatMul"}), b("B", {"Attention"});
    use(a);
    use(b);
    EXPECT_FALSE(has_attention(make_attention(kScores[0]), context_.get()));
}

// As in a cache, or where another program computes the nodes before. A device that has the products
// keeps them if it cannot transpose.
TEST_F(RecogniseForDevice, KeysThatNothingTransposesAreTransposed)
{
    SmallModel model = make_attention(kScores[2]);
    model.inputs[1].dims = {2, 3, 8, 7};
    model.nodes.erase(model.nodes.begin() + 1);
    model.node("p").inputs[1] = "k";
    EXPECT_FALSE(has_attention(model, nullptr));
    TestDevice a("A", {"Attention"}), b("B", {"Mul", "Add", "MatMul", "Softmax", "Attention"}),
        c("C", {"Mul", "Add", "MatMul", "Softmax", "Attention", "Transpose"});
    use(a);
    EXPECT_TRUE(has_attention(model, context_.get()));
    EXPECT_EQ(place(model),
              (Places{"Transpose:CPU", "Transpose:CPU", "Transpose:CPU", "Attention:A"}));
    use_instead(b);
    EXPECT_FALSE(has_attention(model, context_.get()));
    use_instead(c);
    EXPECT_TRUE(has_attention(model, context_.get()));
    EXPECT_EQ(place(model), (Places{"Transpose:C", "Transpose:C", "Transpose:C", "Attention:C"}));
}

TEST_F(RecogniseForDevice, WhatOnlyLooksLikeAnAttentionStays)
{
    TestDevice a("A", {"Attention"});
    use(a);
    const std::vector<Difference> differences = {
        {"another axis",
         [](SmallModel* model) {
             model->node("w").ints = {{"axis", 2}};
         }},
        {"a product that is an output", [](SmallModel* model) { model->outputs.push_back("p"); }},
        {"weights that are an output", [](SmallModel* model) { model->outputs.push_back("w"); }},
        {"another function",
         [](SmallModel* model) {
             model->node("w").op = "Sigmoid";
             model->node("w").ints.clear();
         }},
        {"a factor for each query",
         [](SmallModel* model) {
             model->constant("factor") = {"factor", {5, 1}, {1, 2, 3, 4, 5}};
         }},
        {"a factor that is computed",
         [](SmallModel* model) {
             model->inputs.push_back(model->constant("factor"));
             model->constants.erase(model->constants.begin());
         }},
        {"a mask of queries",
         [](SmallModel* model) {
             model->constant("mask") = {"mask", {5, 1}, {1, 2, 3, 4, 5}};
         }},
        {"a mask that is the product itself",
         [](SmallModel* model) {
             model->node("s").inputs = {"d", "d"};
         }},
        {"constant keys",
         [](SmallModel* model) {
             model->inputs[1].dims = {2, 3, 8, 7};
             model->constants.push_back(model->inputs[1]);
             model->inputs.erase(model->inputs.begin() + 1);
             model->nodes.erase(model->nodes.begin() + 1);
             model->node("p").inputs[1] = "k";
         }},
    };
    for (const Difference& difference : differences) {
        SCOPED_TRACE(difference.name);
        SmallModel model = make_attention(kScores[2]);
        difference.make(&model);
        EXPECT_FALSE(has_attention(model, context_.get()));
    }
}

}  // namespace
}  // namespace tengine::test
