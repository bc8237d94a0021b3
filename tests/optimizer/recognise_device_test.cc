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

    void use(TestDevice& device)
    {
        ASSERT_EQ(add_ir_context_device(context_.get(), device.get(), nullptr, 0), TENGINE_OK);
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
    a.use_survey();
    use(a);
    Operators seen;
    a.on_survey = [&](const graph& graph) {
        seen = list_operators(graph);
        return int{TENGINE_OK};
    };
    EXPECT_EQ(place(make_model(kGeluForm)), Places{"Gelu:A"});
    EXPECT_EQ(seen, Operators{"Gelu"});
    EXPECT_EQ(a.surveys, 1);
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

}  // namespace
}  // namespace tengine::test
