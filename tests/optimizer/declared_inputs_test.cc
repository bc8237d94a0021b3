// SPDX-License-Identifier: Apache-2.0
// Messages about shapes quote the model's declarations of its inputs, with the names of dimensions.
#include "graph/graph.h"
#include "gtest/gtest.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

// Declares an input with the dimensions `dims`, -1 where `names` has one; the program then sets
// others.
tensor* declare(IrBuilder& builder, const std::string& name, const std::vector<int>& dims,
                const std::vector<const char*>& names, int data_type = TENGINE_DT_FP32)
{
    tensor* made = builder.input(name, dims, data_type);
    EXPECT_EQ(set_ir_tensor_dim_names(made, names.data(), static_cast<int>(names.size())),
              TENGINE_OK);
    return made;
}

void give(tensor* input, const std::vector<int>& dims)
{
    EXPECT_EQ(set_ir_tensor_shape(input, dims.data(), static_cast<int>(dims.size())), TENGINE_OK);
}

void expect_failure(IrBuilder& builder, const char* sentence)
{
    EXPECT_EQ(make_execution_graph(builder.get()), nullptr);
    EXPECT_STREQ(tengine_error_message(), sentence);
}

TEST(DeclaredInputs, OneWithoutAShapeIsNamedWithItsDimensions)
{
    IrBuilder builder;
    declare(builder, "ids", {-1, 3, -1}, {"batch", "", ""});
    builder.add("Relu", {"ids"}, {"y"});
    builder.outputs({"y"});
    expect_failure(builder,
                   "input 'ids' is declared as batch x 3 x ?; set its shape with set_tensor_shape "
                   "before prerun");
}

TEST(DeclaredInputs, WithoutADeclarationItIsNamedAllTheSame)
{
    IrBuilder builder;
    builder.input("x", {-1, 3});
    builder.add("Relu", {"x"}, {"y"});
    builder.outputs({"y"});
    expect_failure(builder,
                   "input 'x' has no complete shape; set it with set_tensor_shape before prerun");
}

TEST(DeclaredInputs, AnotherRankIsToldByTheNames)
{
    IrBuilder builder;
    give(declare(builder, "ids", {-1, -1}, {"batch", "sequence"}), {8});
    const int64_t perm[] = {1, 0};
    ASSERT_EQ(set_node_ints(builder.add("Transpose", {"ids"}, {"y"}), "perm", perm, 2), TENGINE_OK);
    builder.outputs({"y"});
    expect_failure(builder,
                   "Transpose 'y': perm has 2 values for 1 dimensions; input 'ids' is declared as "
                   "batch x sequence, given 8");
}

TEST(DeclaredInputs, AllThatAreNotAsDeclaredAreTold)
{
    IrBuilder builder;
    give(declare(builder, "a", {1, 3}, {"", ""}), {1, 4});
    give(declare(builder, "b", {}, {}), {1, 5});
    give(declare(builder, "c", {-1, 5}, {"batch", ""}), {1, 5});
    builder.add("Add", {"a", "b"}, {"y"});
    builder.add("Add", {"y", "c"}, {"z"});
    builder.outputs({"z"});
    expect_failure(
        builder,
        "Add 'y': 'b' does not broadcast: dimension 1 from the end is 5, others have 4; "
        "input 'a' is declared as 1x3, given 1x4; input 'b' is declared as scalar, given "
        "1x5");
}

TEST(DeclaredInputs, ANameThatStandsForTwoNumbersIsTold)
{
    IrBuilder builder;
    give(declare(builder, "ids", {-1, -1}, {"batch", "sequence"}), {2, 8});
    give(declare(builder, "mask", {-1, -1}, {"batch", "sequence"}), {2, 7});
    builder.add("Add", {"ids", "mask"}, {"y"});
    builder.outputs({"y"});
    expect_failure(builder,
                   "Add 'y': 'mask' does not broadcast: dimension 1 from the end is 7, others have "
                   "8; dimension 'sequence' is 8 of input 'ids' and 7 of input 'mask'");
}

TEST(DeclaredInputs, ElseTheNumbersOfAllNamesAre)
{
    IrBuilder builder;
    give(declare(builder, "x", {-1, 1, -1}, {"batch", "", "samples"}), {2, 1, 3});
    give(declare(builder, "z", {-1}, {"batch"}), {2});
    builder.floats("w", {1, 1, 4}, {1, 1, 1, 1});
    builder.add("Conv", {"x", "w"}, {"y"});
    builder.outputs({"y", "z"});
    expect_failure(builder,
                   "Conv 'y': axis 0: no window of extent 4 fits an input of 3 with padding 0 + 0; "
                   "with batch = 2, samples = 3");
}

// The model's shapes are a hint: other shapes that can be computed are permitted.
TEST(DeclaredInputs, OtherShapesThatComputeAreNoFailure)
{
    IrBuilder builder;
    give(declare(builder, "x", {-1, 3}, {"batch", ""}), {4});
    builder.add("Relu", {"x"}, {"y"});
    builder.outputs({"y"});
    graph* made = make_execution_graph(builder.get());
    EXPECT_NE(made, nullptr) << tengine_error_message();
    destroy_ir_graph(made);
}

TEST(DeclaredInputs, LongNamesAreCut)
{
    const std::string name(10000, 'n');
    IrBuilder builder;
    declare(builder, "x", std::vector<int>(8, -1), std::vector<const char*>(8, name.c_str()));
    builder.add("Relu", {"x"}, {"y"});
    builder.outputs({"y"});
    std::string text;
    for (int i = 0; i < 8; ++i)
        text += (i == 0 ? "" : " x ") + std::string(32, 'n');
    expect_failure(builder, ("input 'x' is declared as " + text +
                             "; set its shape with set_tensor_shape before prerun")
                                .c_str());
}

// ---- shapes that depend on data ----

TEST(UnknownShape, IsToldWithWhatDecidesIt)
{
    IrBuilder builder;
    builder.input("mask", {4});
    builder.add("NonZero", {"mask"}, {"places"});
    ASSERT_EQ(set_node_int(builder.add("Cast", {"places"}, {"numbers"}), "to", 1), TENGINE_OK);
    builder.add("tengine.ReLU", {"numbers"}, {"y"});
    builder.outputs({"y"});
    expect_failure(
        builder,
        "ReLU 'y': the shape of its input 'numbers' is known only at run time (NonZero "
        "'places' decides by the values of input 'mask'); the operator needs it earlier");
}

// The sizes depend on one of the two inputs of the graph.
TEST(UnknownShape, TheInputIsTheOneThatDecides)
{
    IrBuilder builder;
    builder.input("x", {4});
    builder.input("sizes", {2}, TENGINE_DT_INT64);
    builder.add("Abs", {"sizes"}, {"target"});
    builder.add("Reshape", {"x", "target"}, {"r"});
    builder.add("tengine.ReLU", {"r"}, {"y"});
    builder.outputs({"y"});
    expect_failure(builder,
                   "ReLU 'y': the shape of its input 'r' is known only at run time (Reshape 'r' "
                   "decides by the values of input 'sizes'); the operator needs it earlier");
}

}  // namespace
}  // namespace tengine::test
