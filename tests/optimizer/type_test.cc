// SPDX-License-Identifier: Apache-2.0
// Types are known before the run even if shapes are not, and agree with the model's declarations.
#include <gtest/gtest.h>
#include <memory>

#include "graph/graph.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace {

using namespace tengine::test;

using GraphOwner = std::unique_ptr<graph, void (*)(graph*)>;

// x → NonZero → "indices", whose count is unknown before the run.
void add_indices(IrBuilder& source)
{
    source.input("x", {1, 2});
    source.add("NonZero", {"x"}, {"n"});
    source.add("Concat", {"n", "n"}, {"indices"});
}

void set_to(node* cast, int onnx_type)
{
    ASSERT_EQ(set_node_int(cast, "to", onnx_type), TENGINE_OK) << tengine_error_message();
}

void run(IrBuilder& source)
{
    static float values[] = {1, 1};
    source.find("x")->data = values;
    ir_run_options_t options = {};
    options.num_thread = 1;
    ASSERT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
}

constexpr int kOnnxFloat = 1;
constexpr int kOnnxInt64 = 7;

TEST(Types, ACastBehindAShapeOfTheRunStays)
{
    IrBuilder source;
    add_indices(source);
    set_to(source.add("Cast", {"indices"}, {"real"}), kOnnxFloat);
    source.floats("half", {}, {0.5f});
    source.add("Add", {"real", "half"}, {"y"});
    source.outputs({"y"});
    run(source);
    const tensor* y = source.find("y");
    ASSERT_EQ(y->data_type, TENGINE_DT_FP32);
    ASSERT_EQ(y->elem_num, 8);  // 2 axes, 2 positions, twice
    EXPECT_EQ(y->f32[2], 0.5f);
    EXPECT_EQ(y->f32[3], 1.5f);
}

TEST(Types, ACastThatChangesNothingGoesWhateverTheShape)
{
    IrBuilder source;
    add_indices(source);
    set_to(source.add("Cast", {"indices"}, {"same"}), kOnnxInt64);
    source.add("Abs", {"same"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph(make_execution_graph(source.get()), destroy_ir_graph);
    ASSERT_NE(graph, nullptr) << tengine_error_message();
    EXPECT_EQ(graph->node_num, 3);
    EXPECT_EQ(find_tensor(graph.get(), "y")->data_type, TENGINE_DT_INT64);
    EXPECT_FALSE(is_ir_tensor_shape_known(find_tensor(graph.get(), "y")));
}

TEST(Types, AnOutputIsWhatTheModelDeclares)
{
    for (const bool real : {true, false}) {
        IrBuilder source;
        add_indices(source);
        source.add("Abs", {"indices"}, {"y"});
        source.outputs({"y"});
        set_ir_tensor_data_type(source.find("y"), real ? TENGINE_DT_FP32 : TENGINE_DT_INT64);
        const GraphOwner graph(make_execution_graph(source.get()), destroy_ir_graph);
        EXPECT_EQ(!graph, real);
        if (!real) continue;
        EXPECT_EQ(tengine_error_code(), TENGINE_EGRAPH);
        EXPECT_STREQ(tengine_error_message(),
                     "the model declares output 'y' as fp32, but its nodes compute int64");
    }
}

// Tengine Lite reads types from the file, also those of tensors that conversion adds.
TEST(Types, EveryTensorOfATmfileHasOne)
{
    IrBuilder source;
    source.input("x", {2, 3, 4});
    source.floats("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    source.add("MatMul", {"x", "w"}, {"product"});
    source.add("Relu", {"product"}, {"y"});
    source.outputs({"y"});
    graph* made = nullptr;
    ASSERT_EQ(create_saved_graph(source.get(), "tengine", &made), TENGINE_OK)
        << tengine_error_message();
    const GraphOwner saved(made, destroy_ir_graph);
    ASSERT_GT(made->tensor_num, source.get()->tensor_num) << "of a Reshape before and one after";
    for (int i = 0; i < made->tensor_num; ++i)
        EXPECT_NE(made->tensor_list[i]->data_type, TENGINE_DT_UNKNOWN)
            << made->tensor_list[i]->name;
}

}  // namespace
