// SPDX-License-Identifier: Apache-2.0
// The execution graphs before the split. Values are checked by running.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <gtest/gtest.h>
#include <memory>

#include "graph/context.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace {

using namespace tengine::test;

using GraphOwner = std::unique_ptr<graph, void (*)(graph*)>;

GraphOwner optimize(IrBuilder& source)
{
    GraphOwner made(make_execution_graph(source.get()), destroy_ir_graph);
    EXPECT_NE(made, nullptr) << tengine_error_message();
    return made;
}

std::vector<float> run(IrBuilder& source, const std::string& output)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    EXPECT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
    const tensor* result = source.find(output);
    return {result->f32, result->f32 + result->elem_num};
}

TEST(Passes, TheSourceGraphIsNotChanged)
{
    IrBuilder source;
    source.input("x", {1, 2});
    source.floats("w", {2}, {1, 2});
    source.add("Add", {"x", "w"}, {"a"});
    source.add("Identity", {"a"}, {"b"});
    source.add("Relu", {"b"}, {"y"});
    source.outputs({"y"});
    const void* weight = source.find("w")->data;
    const GraphOwner graph = optimize(source);
    EXPECT_EQ(source.get()->node_num, 4);
    EXPECT_EQ(graph->node_num, 2);  // no InputOp, no Identity
    EXPECT_FALSE(source.find("y")->shape_set);
    EXPECT_EQ(find_tensor(graph.get(), "w")->data, weight);  // shared, not copied
    EXPECT_EQ(find_node(graph.get(), "y")->core->source_index, find_node(source.get(), "y")->index);
}

// Devices that cannot scale C get a Gemm without C.
TEST(Passes, GemmWithBetaZeroLosesC)
{
    for (const float beta : {0.0f, 0.5f}) {
        IrBuilder source;
        source.input("a", {2, 3});
        source.input("b", {3, 4});
        source.input("c", {2, 4});
        ASSERT_EQ(set_node_float(source.add("Gemm", {"a", "b", "c"}, {"y"}), "beta", beta), 0);
        source.outputs({"y"});
        const GraphOwner graph = optimize(source);
        const node* gemm = find_node(graph.get(), "y");
        ASSERT_NE(gemm, nullptr);
        EXPECT_EQ(get_ir_node_input(gemm, 2) != nullptr, beta != 0);
    }
}

TEST(Passes, DeadNodesGo)
{
    IrBuilder source;
    source.input("x", {2});
    source.add("Relu", {"x"}, {"y"});
    source.add("Exp", {"x"}, {"unused"});
    source.add("Exp", {"unused"}, {"also_unused"});
    source.outputs({"y"});
    EXPECT_EQ(optimize(source)->node_num, 1);
}

TEST(Passes, ShapeArithmeticIsFolded)
{
    IrBuilder source;
    source.input("x", {2, 3, 4});
    source.ints("zero", {0});
    source.ints("rest", {-1});
    source.add("Shape", {"x"}, {"shape"});
    source.add("Gather", {"shape", "zero"}, {"batch"});
    source.add("Concat", {"batch", "rest"}, {"target"});
    source.add("Reshape", {"x", "target"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph = optimize(source);
    EXPECT_EQ(graph->node_num, 1);
    const tensor* y = find_tensor(graph.get(), "y");
    ASSERT_EQ(y->dim_num, 2);
    EXPECT_EQ(y->dims[0], 2);
    EXPECT_EQ(y->dims[1], 12);
}

TEST(Passes, AttributesOfOldOpsetsBecomeInputs)
{
    IrBuilder source;
    source.input("x", {2, 3});
    node* unsqueeze = source.add("Unsqueeze", {"x"}, {"u"}, 11);
    const int64_t axes[] = {0, 2};
    ASSERT_EQ(set_node_ints(unsqueeze, "axes", axes, 2), TENGINE_OK) << tengine_error_message();
    source.outputs({"u"});
    const GraphOwner graph = optimize(source);
    const node* lowered = find_node(graph.get(), "u");
    ASSERT_EQ(lowered->input_num, 2);
    const tensor* constant = get_ir_node_input(lowered, 1);
    EXPECT_EQ(constant->tensor_type, TENSOR_TYPE_CONST);
    EXPECT_EQ(constant->i64[1], 2);
    EXPECT_EQ(find_tensor(graph.get(), "u")->dim_num, 4);
    EXPECT_EQ(source.get()->node_list[1]->input_num, 1);
}

TEST(Passes, AttributesLikeTheInputTakeItsType)
{
    IrBuilder source;
    source.input("x", {2}, TENGINE_DT_FP64);
    node* clip = source.add("Clip", {"x"}, {"y"}, 7);
    ASSERT_EQ(set_node_float(clip, "min", -1.5f), TENGINE_OK);
    source.outputs({"y"});
    const GraphOwner graph = optimize(source);
    const tensor* minimum = get_ir_node_input(find_node(graph.get(), "y"), 1);
    ASSERT_EQ(minimum->data_type, TENGINE_DT_FP64);
    EXPECT_EQ(*static_cast<double*>(minimum->data), -1.5);
    EXPECT_EQ(find_tensor(graph.get(), "y")->data_type, TENGINE_DT_FP64);
}

void add_conv_and_norm(IrBuilder& source, bool bias)
{
    source.input("x", {1, 1, 2, 2});
    source.floats("w", {2, 1, 1, 1}, {2, -3});
    source.floats("b", {2}, {0.5f, 1});
    source.floats("gamma", {2}, {1.5f, 2});
    source.floats("beta", {2}, {0.25f, -1});
    source.floats("mean", {2}, {3, -2});
    source.floats("var", {2}, {4, 0.25f});
    if (bias)
        source.add("Conv", {"x", "w", "b"}, {"c"});
    else
        source.add("Conv", {"x", "w"}, {"c"});
    source.add("BatchNormalization", {"c", "gamma", "beta", "mean", "var"}, {"y"});
}

TEST(Passes, BatchNormalizationMergesIntoTheConvolution)
{
    for (const bool bias : {false, true}) {
        IrBuilder source;
        add_conv_and_norm(source, bias);
        source.outputs({"y"});
        EXPECT_EQ(optimize(source)->node_num, 1);
        std::vector<float> data = {1, 2, 3, -4};
        set_ir_tensor_data(source.find("x"), data.data(), false);
        const std::vector<float> result = run(source, "y");
        ASSERT_EQ(result.size(), 8u);
        const double weight[] = {2, -3}, offset[] = {0.5, 1}, gamma[] = {1.5, 2};
        const double beta[] = {0.25, -1}, mean[] = {3, -2}, variance[] = {4, 0.25};
        for (int c = 0; c < 2; ++c)
            for (int i = 0; i < 4; ++i) {
                const double conv = weight[c] * data[i] + (bias ? offset[c] : 0);
                const double expected =
                    gamma[c] * (conv - mean[c]) / std::sqrt(variance[c] + 1e-5) + beta[c];
                // A few roundings of values below 100.
                EXPECT_NEAR(result[c * 4 + i], expected, 100 * 4 * 6e-8);
            }
    }
}

TEST(Passes, PreparationsShareMergedWeights)
{
    IrBuilder source;
    add_conv_and_norm(source, true);
    source.outputs({"y"});
    const auto weights_of = [](const GraphOwner& graph) {
        return get_ir_node_input(graph->node_list[0], 1);
    };
    const GraphOwner first = optimize(source);
    const int dims[] = {1, 1, 5, 7};
    ASSERT_EQ(set_ir_tensor_shape(source.find("x"), dims, 4), TENGINE_OK);
    const GraphOwner second = optimize(source);
    EXPECT_EQ(get_ir_node_output(second->node_list[0], 0)->dims[3], 7);
    EXPECT_EQ(weights_of(second)->data, weights_of(first)->data);
    EXPECT_NE(weights_of(second)->data, source.find("w")->data);
}

TEST(Passes, NormsOfOneConstantMergeIntoWeightsOfTheirOwn)
{
    IrBuilder source;
    add_conv_and_norm(source, false);
    source.add("Conv", {"x", "w"}, {"c2"});
    source.add("BatchNormalization", {"c2", "gamma", "beta", "mean", "gamma"}, {"z"});
    source.outputs({"y", "z"});
    const GraphOwner graph = optimize(source);
    ASSERT_EQ(graph->node_num, 2);
    const auto* one = get_ir_node_input(graph->node_list[0], 1);
    const auto* other = get_ir_node_input(graph->node_list[1], 1);
    EXPECT_NE(one->data, other->data);
    EXPECT_NE(one->f32[0], other->f32[0]) << "another variance";
}

TEST(Passes, AConvolutionReadTwiceKeepsItsNorm)
{
    IrBuilder source;
    add_conv_and_norm(source, false);
    source.add("Relu", {"c"}, {"r"});
    source.outputs({"y", "r"});
    EXPECT_EQ(optimize(source)->node_num, 3);
}

TEST(Passes, ZeroPaddingMergesIntoTheConvolution)
{
    IrBuilder source;
    source.input("x", {1, 1, 3, 3});
    source.ints("pads", {0, 0, 1, 2, 0, 0, 3, 4});
    source.floats("w", {1, 1, 1, 1}, {1});
    source.add("Pad", {"x", "pads"}, {"p"});
    source.add("Conv", {"p", "w"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph = optimize(source);
    ASSERT_EQ(graph->node_num, 1);
    int number;
    const int64_t* pads = get_ir_node_ints(graph->node_list[0], "pads", &number);
    ASSERT_EQ(number, 4);
    EXPECT_EQ(std::vector<int64_t>(pads, pads + 4), (std::vector<int64_t>{1, 2, 3, 4}));
    EXPECT_EQ(find_tensor(graph.get(), "y")->dims[3], 9);
}

TEST(Passes, ZeroPaddingMergesIntoTheMeanThatCountsIt)
{
    for (const bool has_own : {false, true}) {
        IrBuilder source;
        source.input("x", {1, 1, 3, 3});
        source.ints("pads", {0, 0, 1, 1, 0, 0, 1, 1});
        source.add("Pad", {"x", "pads"}, {"p"});
        node* pool = source.add("AveragePool", {"p"}, {"a"});
        ASSERT_EQ(set_node_ints(pool, "kernel_shape", std::vector<int64_t>{3, 3}.data(), 2), 0);
        // Its own pads do not count, so that the two stay apart.
        const std::vector<int64_t> own = {has_own, has_own, 0, 0};
        ASSERT_EQ(set_node_ints(pool, "pads", own.data(), 4), 0);
        source.add("Neg", {"a"}, {"y"});
        source.outputs({"y"});
        EXPECT_EQ(optimize(source)->node_num, has_own ? 3 : 2);
        std::vector<float> data = {9, 9, 9, 9, 9, 9, 9, 9, 9};
        set_ir_tensor_data(source.find("x"), data.data(), false);
        const std::vector<float> means = run(source, "y");
        const std::vector<float> first(means.begin(), means.begin() + 2);
        EXPECT_EQ(first,
                  (has_own ? std::vector<float>{-9.0f / 4, -3} : std::vector<float>{-4, -6}));
    }
}

TEST(Passes, PaddingOfNothingGoes)
{
    IrBuilder source;
    source.input("x", {1, 1, 3, 3});
    source.ints("pads", {0, 0, 0, 0, 0, 0, 0, 0});
    source.add("Pad", {"x", "pads"}, {"p"});
    source.add("Neg", {"p"}, {"y"});
    source.outputs({"y"});
    EXPECT_EQ(optimize(source)->node_num, 1);
}

TEST(Passes, AGraphOutputKeepsItsOwnTensor)
{
    IrBuilder source;
    source.input("x", {3});
    source.add("Relu", {"x"}, {"r"});
    source.add("Identity", {"r"}, {"i"});
    source.add("Neg", {"i"}, {"n"});
    source.outputs({"r", "i", "n"});
    std::vector<float> data = {-1, 2, 3};
    set_ir_tensor_data(source.find("x"), data.data(), false);
    EXPECT_EQ(run(source, "r"), (std::vector<float>{0, 2, 3}));
    EXPECT_EQ(run(source, "i"), (std::vector<float>{0, 2, 3}));
    EXPECT_NE(source.find("r")->data, source.find("i")->data);
    EXPECT_NE(source.find("n")->data, source.find("i")->data);
}

TEST(Passes, DropoutThatDropsStays)
{
    IrBuilder source;
    source.input("x", {3});
    source.floats("ratio", {}, {0.5f});
    source.constant<char>("training", {}, {1}, TENGINE_DT_BOOL);
    source.constant<char>("inference", {}, {0}, TENGINE_DT_BOOL);
    source.add("Dropout", {"x", "ratio", "inference"}, {"kept"});
    source.add("Dropout", {"kept", "ratio", "training"}, {"dropped"});
    source.add("Relu", {"dropped"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph = optimize(source);
    EXPECT_EQ(find_node(graph.get(), "kept"), nullptr);
    EXPECT_NE(find_node(graph.get(), "dropped"), nullptr);
}

TEST(Passes, ANodeOfANameThatEndedHasItsLastOpset)
{
    IrBuilder source;
    source.input("x", {1, 1, 2, 2});
    source.floats("scales", {4}, {1, 1, 2, 2});
    source.add("Upsample", {"x", "scales"}, {"y"});
    source.outputs({"y"});
    EXPECT_EQ(find_node(source.get(), "y")->op.version, 9);
    const GraphOwner graph = optimize(source);
    EXPECT_EQ(find_tensor(graph.get(), "y")->dims[3], 4);
}

TEST(Passes, PlanesWithoutElementsAreLegal)
{
    for (const int kernel : {1, 3}) {
        IrBuilder source;
        source.input("x", {1, 1, 0, 4});
        source.floats("w", {2, 1, kernel, kernel}, std::vector<float>(2 * kernel * kernel));
        node* conv = source.add("Conv", {"x", "w"}, {"y"});
        const int64_t pads[] = {0, 1, 0, 1};
        ASSERT_EQ(set_node_ints(conv, "pads", pads, 4), TENGINE_OK);
        source.outputs({"y"});
        std::vector<float> nothing(1);
        set_ir_tensor_data(source.find("x"), nothing.data(), false);
        EXPECT_TRUE(run(source, "y").empty());
    }
}

TEST(Passes, AnAbsentFirstOutputIsComputedForNobody)
{
    IrBuilder source;
    source.input("x", {1, 1, 2, 2});
    node* pool = source.add("MaxPool", {"x"}, {"y", "where"});
    ASSERT_EQ(set_ir_node_output_tensor(pool, 0, nullptr), TENGINE_OK);
    const int64_t kernel[] = {2, 2};
    ASSERT_EQ(set_node_ints(pool, "kernel_shape", kernel, 2), TENGINE_OK);
    source.outputs({"where"});
    std::vector<float> data = {1, 4, 2, 3};
    set_ir_tensor_data(source.find("x"), data.data(), false);
    run(source, "where");
    EXPECT_EQ(source.find("where")->i64[0], 1);
}

TEST(Passes, SoftmaxOfOldOpsetsTakesEmptyInputs)
{
    IrBuilder source;
    source.input("x", {2, 3, 0, 4});
    node* softmax = source.add("Softmax", {"x"}, {"y"}, 11);
    ASSERT_EQ(set_node_int(softmax, "axis", 1), TENGINE_OK);
    source.outputs({"y"});
    const GraphOwner graph = optimize(source);
    EXPECT_EQ(find_tensor(graph.get(), "y")->dim_num, 4);
}

TEST(Passes, ErrorsNameWhatIsWrong)
{
    IrBuilder none;
    none.input("x", {2});
    EXPECT_EQ(make_execution_graph(none.get()), nullptr);
    EXPECT_EQ(tengine_error_code(), TENGINE_EGRAPH);

    IrBuilder dangling;
    dangling.add("Relu", {"nowhere"}, {"y"});
    dangling.outputs({"y"});
    EXPECT_EQ(make_execution_graph(dangling.get()), nullptr);
    EXPECT_NE(std::string(tengine_error_message()).find("'nowhere', read by 'y'"),
              std::string::npos);

    IrBuilder symbolic;
    symbolic.input("x", {-1, 2});
    symbolic.add("Relu", {"x"}, {"y"});
    symbolic.outputs({"y"});
    EXPECT_EQ(make_execution_graph(symbolic.get()), nullptr);
    EXPECT_EQ(tengine_error_code(), TENGINE_EINVAL);

    IrBuilder mismatch;
    mismatch.input("x", {3});
    mismatch.floats("w", {2}, {1, 2});
    mismatch.add("Add", {"x", "w"}, {"y"});
    mismatch.outputs({"y"});
    EXPECT_EQ(make_execution_graph(mismatch.get()), nullptr);
    EXPECT_NE(std::string(tengine_error_message()).find("Add 'y'"), std::string::npos);
}

// ---- what a small file may ask ----

// Adds a ConstantOfShape of `bytes` zeros, in one node, and a node that reads all of them.
void add_zeroes(IrBuilder& source, int64_t bytes)
{
    source.ints("shape", {bytes / 4});
    source.add("ConstantOfShape", {"shape"}, {"zeroes"});
    source.input("x", {1});
    source.add("ReduceSum", {"zeroes"}, {"sum"});
    source.add("Add", {"x", "sum"}, {"y"});
    source.outputs({"y"});
}

TEST(Passes, FoldingIsBoundedByWhatTheModelHolds)
{
    for (const bool large : {false, true}) {
        IrBuilder source;
        add_zeroes(source, large ? int64_t{1} << 27 : 1 << 20);
        const GraphOwner graph = optimize(source);
        EXPECT_EQ(graph->node_num, large ? 3 : 1);
    }
}

TEST(Passes, AnOptionSaysHowMuchIsFolded)
{
    const std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context(create_ir_context("c"),
                                                                         destroy_ir_context);
    for (const bool much : {false, true}) {
        ASSERT_EQ(set_ir_context_option(context.get(), "memory.fold_mb", much ? "2" : "0.5"), 0);
        IrBuilder source(context.get());
        add_zeroes(source, 1 << 20);
        EXPECT_EQ(optimize(source)->node_num, much ? 1 : 3);
    }
}

TEST(Passes, WhatIsFoldedCountsAgainstTheLimitOfTheGraph)
{
    const std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context(create_ir_context("c"),
                                                                         destroy_ir_context);
    ASSERT_EQ(set_ir_context_option(context.get(), "memory.limit_mb", "1"), 0);
    IrBuilder source(context.get());
    add_zeroes(source, 1 << 21);
    EXPECT_EQ(make_execution_graph(source.get()), nullptr);
    EXPECT_EQ(tengine_error_code(), TENGINE_ELIMIT);
    EXPECT_NE(std::string(tengine_error_message()).find("2097152 bytes for folded constants"),
              std::string::npos)
        << tengine_error_message();
}

// ---- time ----

// Adds 1 input; `num` parallel nodes that are all outputs, read one shared constant, and are read
// once by a Sum and once by a Concat that reads one of them again.
void add_wide(IrBuilder& source, int num)
{
    source.input("x", {1});
    source.floats("one", {1}, {1});
    graph* graph = source.get();
    const auto create = [&](const char* op) {
        node* made = create_ir_node(graph, nullptr, get_op_type_by_name(op), 0);
        tensor* output = create_ir_tensor(graph, nullptr, TENGINE_DT_UNKNOWN);
        EXPECT_EQ(set_ir_node_output_tensor(made, 0, output), TENGINE_OK);
        return made;
    };
    node* sum = create("Sum");
    node* concat = create("Concat");
    std::vector<int32_t> outputs = {sum->output_tensors[0], concat->output_tensors[0]};
    for (int i = 0; i < num; ++i) {
        node* add = create("Add");
        set_ir_node_input_tensor(add, 0, source.find("x"));
        set_ir_node_input_tensor(add, 1, get_ir_graph_tensor(graph, 1));
        outputs.push_back(add->output_tensors[0]);
        set_ir_node_input_tensor(sum, i, get_ir_graph_tensor(graph, outputs.back()));
        set_ir_node_input_tensor(concat, i, get_ir_graph_tensor(graph, outputs[2]));
    }
    ASSERT_EQ(set_ir_graph_output_tensor(graph, outputs.data(), num + 2), TENGINE_OK);
}

void add_chain(IrBuilder& source, int num)
{
    source.input("x", {1});
    graph* graph = source.get();
    int32_t last = source.find("x")->index;
    for (int i = 0; i < num; ++i) {
        node* made = create_ir_node(graph, nullptr, get_op_type_by_name(i % 2 ? "Abs" : "Neg"), 0);
        tensor* output = create_ir_tensor(graph, nullptr, TENGINE_DT_UNKNOWN);
        set_ir_node_input_tensor(made, 0, get_ir_graph_tensor(graph, last));
        set_ir_node_output_tensor(made, 0, output);
        last = output->index;
    }
    ASSERT_EQ(set_ir_graph_output_tensor(graph, &last, 1), TENGINE_OK);
}

double measure_prerun(void (*add)(IrBuilder& source, int num), int num)
{
    IrBuilder source;
    add(source, num);
    ir_run_options_t options = {};
    options.num_thread = 1;
    const std::clock_t start = std::clock();  // processor time, independent of other load
    EXPECT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK) << tengine_error_message();
    return static_cast<double>(std::clock() - start);
}

// Eight times the nodes may take eight times the time, and twice that if caches no longer hold
// them; a quadratic algorithm would take 64. The test uses the best of several attempts, since
// machines are shared.
TEST(Passes, PreparationTakesTimeInProportionToTheGraph)
{
    for (void (*add)(IrBuilder&, int) : {add_wide, add_chain}) {
        double growth = 1e9;
        for (int attempt = 0; attempt < 5 && growth > 32; ++attempt)
            growth = std::min(growth, measure_prerun(add, 20000) / measure_prerun(add, 2500));
        EXPECT_LT(growth, 32) << (add == add_wide ? "wide" : "chain");
    }
}

}  // namespace
