// SPDX-License-Identifier: Apache-2.0
// Tengine's Comparison, Logical and Where, with truth as a float, and the operators on ONNX's
// booleans that are raised to them.
#include <functional>

#include "operator/param.h"
#include "optimizer/pass.h"
#include "tengine_case.h"

namespace tengine::test {
namespace {

using Relation = std::function<bool(double, double)>;

const std::pair<const char*, Relation> kComparisons[] = {
    {"Equal", [](double a, double b) { return a == b; }},
    {nullptr, [](double a, double b) { return a != b; }},
    {"Greater", [](double a, double b) { return a > b; }},
    {"GreaterOrEqual", [](double a, double b) { return a >= b; }},
    {"Less", [](double a, double b) { return a < b; }},
    {"LessOrEqual", [](double a, double b) { return a <= b; }},
};

// Small whole numbers, so that many are equal.
Array digits(std::vector<int> dims, int seed)
{
    Array made = make_array(std::move(dims), seed);
    for (double& value : made.values)
        value = static_cast<int>(value * 3);
    return made;
}

Array relate(const Array& first, const Array& second, size_t step, const Relation& relation)
{
    Array made = first;
    for (size_t i = 0; i < made.values.size(); ++i)
        made.values[i] = relation(first.values[i], second.values[i / step % second.values.size()]);
    return made;
}

TEST(TengineComparison, EveryType)
{
    const Array first = digits({2, 3, 5, 7}, 1);
    for (int type = 0; type < 6; ++type) {
        SCOPED_TRACE(type);
        const auto check = [&](const Array& second, size_t step) {
            TengineCase op("tengine.Comparison");
            const Array result = op.input(first).input(second).attr("type", type).run_one();
            EXPECT_EQ(result.data_type, TENGINE_DT_FP32);
            expect_close(result, relate(first, second, step, kComparisons[type].second), 0);
        };
        check(digits({2, 3, 5, 7}, 6), 1);
        check({{1}, {1}}, 1);
        check(digits({3}, 4), 35);
    }
}

TEST(TengineComparison, TheSmallerOperandFirst)
{
    const Array second = digits({1, 3, 5, 7}, 1);
    TengineCase op("tengine.Comparison");
    op.input({{1}, {1}}).input(second).attr("type", 4);
    expect_close(op.run_one(), relate(second, {{1}, {1}}, 1, kComparisons[2].second), 0);
}

TEST(TengineComparison, UnknownType)
{
    for (const int type : {-1, 6}) {
        TengineCase op("tengine.Comparison");
        op.input(digits({2}, 1)).input(digits({2}, 1)).attr("type", type);
        op.expect_failure(TENGINE_EINVAL, "unknown type " + std::to_string(type));
    }
}

TEST(TengineLogical, AndOr)
{
    const Array first = digits({2, 3, 5}, 1);
    const Relation relations[] = {[](double a, double b) { return a != 0 && b != 0; },
                                  [](double a, double b) { return a != 0 || b != 0; }};
    for (int type = 0; type < 2; ++type) {
        for (const Array& second : {digits({2, 3, 5}, 4), Array{{1}, {-0.5}}, Array{{1}, {0}}}) {
            TengineCase op("tengine.Logical");
            const Array result = op.input(first).input(second).attr("type", type).run_one();
            EXPECT_EQ(result.data_type, TENGINE_DT_FP32);
            expect_close(result, relate(first, second, 1, relations[type]), 0);
        }
    }
    TengineCase unknown("tengine.Logical");
    unknown.input(first).input(first).attr("type", 2);
    unknown.expect_failure(TENGINE_EINVAL, "unknown type 2");
}

TEST(TengineWhere, OneByOne)
{
    const Array condition = digits({2, 3, 5}, 1);
    const Array a = make_array({2, 3, 5}, 5);
    const Array b = make_array({6, 5}, 8);
    Array expected = condition;
    for (size_t i = 0; i < expected.values.size(); ++i)
        expected.values[i] = condition.values[i] != 0 ? a.values[i] : b.values[i];
    TengineCase op("tengine.Where");
    expect_close(op.input(condition).input(a).input(b).run_one(), expected, 0);
    TengineCase apart("tengine.Where");
    apart.input(condition).input(a).input(make_array({1}));
    apart.expect_failure(TENGINE_EINVAL, "input 2 has 1 elements, the condition has 30");
    TengineCase onnx("Where");
    onnx.input({{2}, {0, 1}, TENGINE_DT_BOOL}).input(make_array({2})).input(make_array({2}));
    onnx.expect_refusal("Tengine Lite reads Where as ReLU1");
}

TEST(TengineLogic, BooleansThatLeaveAreNotRaised)
{
    TengineCase less("Less");
    less.input(digits({2, 3}, 1)).input(digits({2, 3}, 4));
    less.expect_refusal("its result is used as a boolean");
    const Array truth = {{2}, {0, 1}, TENGINE_DT_BOOL};
    TengineCase both("And");
    both.input(truth).input(truth).expect_refusal("its result is used as a boolean");
    const Array wide = {{2}, {3, 4}, TENGINE_DT_INT64};
    TengineCase integers("Equal");
    integers.input(wide).input(wide).expect_refusal("it compares int64");
}

GraphPointer raise(const IrBuilder& builder)
{
    GraphPointer made;
    EXPECT_EQ(copy_to_execution_graph(*const_cast<IrBuilder&>(builder).get(), &made), TENGINE_OK);
    EXPECT_EQ(lower_graph(*made), TENGINE_OK);
    EXPECT_EQ(infer_graph(*made), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(tidy_graph(*made), TENGINE_OK);
    EXPECT_EQ(raise_graph(*made), TENGINE_OK);
    EXPECT_EQ(tidy_graph(*made), TENGINE_OK);
    return made;
}

// Returns "tengine.Comparison Cast": the operators; the results of Tengine's are floats.
std::string list_ops(const graph& graph)
{
    std::string ops;
    for (int i = 0; i < graph.node_num; ++i) {
        const node* node = graph.node_list[i];
        const bool tengine = *get_ir_node_domain(node) != 0;
        EXPECT_TRUE(!tengine || get_ir_node_output(node, 0)->data_type == TENGINE_DT_FP32);
        ops += (ops.empty() ? "" : " ") + std::string(get_ir_node_domain(node)) +
               (tengine ? "." : "") + get_ir_node_op(node);
    }
    return ops;
}

// Builds (x < 0) or (x > y and x == y), as a float; `last` also reads the result, if given.
std::string raise_chain(const char* last)
{
    IrBuilder builder;
    builder.input("x", {1, 3, 5, 5});
    builder.input("y", {1, 3, 5, 5});
    builder.floats("zero", {1}, {0});
    builder.add("Less", {"zero", "x"}, {"positive"});
    builder.add("Greater", {"x", "y"}, {"above"});
    builder.add("Equal", {"x", "y"}, {"same"});
    builder.add("And", {"above", "same"}, {"both"});
    builder.add("Or", {"positive", "both"}, {"either"});
    set_node_int(builder.add("Cast", {"either"}, {"result"}), "to", 1);
    if (last) builder.add(last, {"both"}, {"more"});
    if (last)
        builder.outputs({"result", "more"});
    else
        builder.outputs({"result"});
    return list_ops(*raise(builder));
}

// The larger operand is first in Tengine: 0 < x is x > 0.
TEST(TengineLogic, ComparisonsAreMirrored)
{
    const std::pair<const char*, int> ops[] = {
        {"Equal", 0}, {"Less", 2}, {"LessOrEqual", 3}, {"Greater", 4}, {"GreaterOrEqual", 5}};
    for (const auto& [op, type] : ops) {
        SCOPED_TRACE(op);
        IrBuilder builder;
        builder.input("x", {2, 3, 5});
        builder.floats("zero", {1}, {0});
        builder.add(op, {"zero", "x"}, {"truth"});
        set_node_int(builder.add("Cast", {"truth"}, {"y"}), "to", 1);
        builder.outputs({"y"});
        const GraphPointer made = raise(builder);
        ASSERT_EQ(list_ops(*made), "tengine.Comparison tengine.Cast");
        const node* comparison = made->node_list[0];
        EXPECT_EQ(get_ir_node_int(comparison, "type", 9), type);
        EXPECT_STREQ(get_ir_node_input(comparison, 0)->name, "x");
        EXPECT_STREQ(get_ir_node_input(comparison, 1)->name, "zero");
    }
}

TEST(TengineLogic, ARegionIsRaisedWhole)
{
    EXPECT_EQ(raise_chain(nullptr),
              "tengine.Comparison tengine.Comparison tengine.Comparison tengine.Logical "
              "tengine.Logical tengine.Cast");
}

TEST(TengineLogic, OrNotAtAll)
{
    const std::string ops = raise_chain("Not");
    for (const char* kept : {"Less", "Greater", "Equal", "And", "Or", "Not"})
        EXPECT_NE((' ' + ops + ' ').find(' ' + std::string(kept) + ' '), std::string::npos) << ops;
    EXPECT_EQ(ops.find("tengine.Comparison"), std::string::npos) << ops;
    EXPECT_EQ(ops.find("tengine.Logical"), std::string::npos) << ops;
}

}  // namespace
}  // namespace tengine::test
