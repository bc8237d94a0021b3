// SPDX-License-Identifier: Apache-2.0
// Tengine's reductions, positions of extremes and Accuracy against loops over all elements, and
// ONNX's raised to them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "operator/param.h"
#include "optimizer/pass.h"
#include "tengine_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Values = std::vector<double>;

double total(const Values& values, const std::function<double(double)>& of)
{
    double sum = 0;
    for (const double value : values)
        sum += of(value);
    return sum;
}

double identity(double x)
{
    return x;
}

double square(double x)
{
    return x * x;
}

double absolute(double x)
{
    return std::fabs(x);
}

double exponential(double x)
{
    return std::exp(x);
}

double product(const Values& values)
{
    double made = 1;
    for (const double value : values)
        made *= value;
    return made;
}

struct Type
{
    const char* onnx;
    std::function<double(const Values&)> reduce;
};

const Type kTypes[] = {
    {"ReduceSum", [](const Values& v) { return total(v, identity); }},
    {"ReduceMean", [](const Values& v) { return total(v, identity) / double(v.size()); }},
    {"ReduceL1", [](const Values& v) { return total(v, absolute); }},
    {"ReduceSumSquare", [](const Values& v) { return total(v, square); }},
    {"ReduceMax", [](const Values& v) { return *std::max_element(v.begin(), v.end()); }},
    {"ReduceMin", [](const Values& v) { return *std::min_element(v.begin(), v.end()); }},
    {"ReduceProd", product},
    {"ReduceL1", [](const Values& v) { return total(v, absolute); }},
    {"ReduceSumSquare", [](const Values& v) { return total(v, square); }},
    {"ReduceLogSum", [](const Values& v) { return std::log(total(v, identity)); }},
    {"ReduceLogSumExp", [](const Values& v) { return std::log(total(v, exponential)); }},
};

// Groups the elements of `input` by their position along the axes that stay.
Array reduce(const Array& input, const std::vector<int>& axes, bool keep,
             const std::function<double(const Values&)>& function)
{
    const int rank = static_cast<int>(input.dims.size());
    const auto is_reduced = [&](int axis) {
        return axes.empty() || std::find(axes.begin(), axes.end(), axis) != axes.end();
    };
    Array made;
    size_t groups = 1;
    for (int axis = 0; axis < rank; ++axis) {
        if (!is_reduced(axis)) groups *= static_cast<size_t>(input.dims[axis]);
        if (!is_reduced(axis))
            made.dims.push_back(input.dims[axis]);
        else if (keep)
            made.dims.push_back(1);
    }
    if (made.dims.empty()) made.dims = {1};
    std::vector<Values> members(groups);
    for (size_t i = 0; i < input.values.size(); ++i) {
        size_t rest = i;
        size_t group = 0;
        size_t step = 1;
        for (int axis = rank - 1; axis >= 0; --axis) {
            const size_t dim = static_cast<size_t>(input.dims[axis]);
            if (!is_reduced(axis)) {
                group += rest % dim * step;
                step *= dim;
            }
            rest /= dim;
        }
        members[group].push_back(input.values[i]);
    }
    for (const Values& group : members)
        made.values.push_back(function(group));
    return made;
}

Array positive_array(const Dims& dims, int seed)
{
    Array made = make_array(dims, seed);
    for (double& value : made.values)
        value = std::fabs(value) + 0.25;
    return made;
}

void set_axes(TengineCase& op, const std::vector<int>& axes)
{
    const char* const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
    for (size_t i = 0; i < axes.size(); ++i)
        op.attr(names[i], axes[i]);
}

TEST(TengineReduction, EveryTypeAndSetOfAxes)
{
    const std::vector<int> sets[] = {{}, {0}, {1}, {3}, {2, 3}, {3, 1}, {0, 2, 3}, {0, 1, 2, 3}};
    for (int type = 0; type < 11; ++type) {
        const Array input =
            type == 9 ? positive_array({2, 3, 5, 4}, type) : make_array({2, 3, 5, 4}, type);
        for (const std::vector<int>& axes : sets) {
            for (const bool keep : {false, true}) {
                SCOPED_TRACE(std::to_string(type) + " " + std::to_string(axes.size()));
                TengineCase op("tengine.Reduction");
                set_axes(op, axes);
                op.input(input).attr("type", type).attr("keepdim", keep ? 1 : 0);
                expect_close(op.run_one(), reduce(input, axes, keep, kTypes[type].reduce));
            }
        }
    }
}

TEST(TengineReduction, NegativeAndRepeatedAxes)
{
    const Array input = make_array({3, 5, 7}, 1);
    TengineCase last("tengine.Reduction");
    last.input(input).attr("dim_0", -1);
    expect_close(last.run_one(), reduce(input, {2}, false, kTypes[0].reduce));
    TengineCase first("tengine.Reduction");
    first.input(input).attr("dim_2", -3).attr("dim_3", 0).attr("keepdim", 1);
    expect_close(first.run_one(), reduce(input, {0}, true, kTypes[0].reduce));
}

TEST(TengineReduction, WrongParameters)
{
    for (const int type : {-1, 11}) {
        TengineCase op("tengine.Reduction");
        op.input(make_array({2, 3})).attr("type", type);
        op.expect_failure(TENGINE_EINVAL, "unknown type " + std::to_string(type));
    }
    for (const int axis : {2, -3, 1 << 30}) {
        TengineCase op("tengine.Reduction");
        op.input(make_array({2, 3})).attr("dim_1", axis);
        op.expect_failure(TENGINE_ERANGE, std::to_string(axis));
    }
}

Array integers(const std::vector<int>& values)
{
    return {
        {static_cast<int>(values.size())}, Values(values.begin(), values.end()), TENGINE_DT_INT64};
}

TEST(TengineReduction, Raised)
{
    std::mt19937 random(3);
    for (const Type& type : kTypes) {
        for (int round = 0; round < 8; ++round) {
            SCOPED_TRACE(std::string(type.onnx) + " " + std::to_string(round));
            const int rank = 2 + round % 3;
            Dims dims(static_cast<size_t>(rank));
            for (int& dim : dims)
                dim = 1 + static_cast<int>(random() % 5);
            std::vector<int> axes;
            for (int axis = 1; axis < rank; ++axis)
                if (random() % 2) axes.push_back(random() % 2 ? axis : axis - rank);
            if (axes.empty()) axes.push_back(0);
            TengineCase op(type.onnx);
            op.input(positive_array(dims, round)).constant(integers(axes));
            op.attr("keepdims", static_cast<int>(random() % 2)).expect_raised("tengine.Reduction");
        }
    }
    TengineCase all("ReduceMean");
    all.input(make_array({3, 5})).expect_raised("tengine.Reduction");
    EXPECT_EQ(all.raised_attr("dim_1"), 1);
}

TEST(TengineReduction, NotRaised)
{
    TengineCase deep("ReduceSum");
    deep.input(make_array({1, 2, 1, 2, 2})).expect_refusal("has 5 dimensions");
    TengineCase scalar("ReduceMax");
    scalar.input(make_array({2, 3})).attr("keepdims", 0).expect_refusal("has no dimension");
    TengineCase nothing("ReduceSum");
    nothing.input(make_array({2, 3})).attr("noop_with_empty_axes", 1);
    nothing.expect_refusal("it reduces nothing");
}

TEST(TengineReduceL2, ReducesAllFromItsAxisOn)
{
    const Array input = make_array({2, 3, 5, 4}, 1);
    const auto norm = [](const Values& v) { return std::sqrt(total(v, square)); };
    for (int axis = -4; axis < 4; ++axis) {
        std::vector<int> axes;
        for (int i = (axis + 4) % 4; i < 4; ++i)
            axes.push_back(i);
        for (const bool keep : {false, true}) {
            TengineCase op("tengine.ReduceL2");
            op.input(input).attr("axis", axis).attr("keepdim", keep ? 1 : 0);
            expect_close(op.run_one(), reduce(input, axes, keep, norm));
        }
    }
    TengineCase wrong("tengine.ReduceL2");
    wrong.input(input).attr("axis", 4).expect_failure(TENGINE_ERANGE, "4");
}

TEST(TengineReduceL2, Raised)
{
    const auto raise = [](const std::vector<int>& axes, int keep, const char* ops) {
        TengineCase op("ReduceL2");
        op.input(make_array({2, 3, 5, 4}, 2)).constant(integers(axes)).attr("keepdims", keep);
        op.expect_raised(ops);
    };
    raise({3}, 1, "tengine.ReduceL2");
    raise({3, -2}, 1, "tengine.ReduceL2");
    raise({0, 1, 2, 3}, 1, "tengine.ReduceL2");
    raise({3}, 0, "tengine.Reduction tengine.Unary");
    raise({1}, 1, "tengine.Reduction tengine.Unary");
}

// ---- positions ----

TEST(TengineArg, FirstExtremeAsInt32)
{
    Array input = make_array({2, 3, 5}, 1);
    input.values[0] = input.values[5] = 2;
    input.values[1] = input.values[6] = -2;
    const auto first = [](const Values& v) {
        return double(std::max_element(v.begin(), v.end()) - v.begin());
    };
    const auto least = [](const Values& v) {
        return double(std::min_element(v.begin(), v.end()) - v.begin());
    };
    for (const int axis : {0, 1, 2, -1}) {
        for (const int keep : {0, 1, 2}) {
            TengineCase maximum("tengine.ArgMax");
            maximum.input(input).attr("axis", axis).attr("keepdims", keep);
            const Array result = maximum.run_one();
            EXPECT_EQ(result.data_type, TENGINE_DT_INT32);
            expect_close(result, reduce(input, {(axis + 3) % 3}, keep != 0, first), 0);
            TengineCase minimum("tengine.ArgMin");
            minimum.input(input).attr("axis", axis).attr("keepdims", keep);
            expect_close(minimum.run_one(), reduce(input, {(axis + 3) % 3}, keep != 0, least), 0);
        }
    }
    TengineCase list("tengine.ArgMax");
    expect_close(list.input({{3}, {1, 3, 2}}).attr("keepdims", 0).run_one(), {{1}, {1}}, 0);
    TengineCase wrong("tengine.ArgMax");
    wrong.input(input).attr("axis", 3).expect_failure(TENGINE_ERANGE, "3");
}

TEST(TengineTopk, LargestFirst)
{
    const Array input = make_array({3, 7}, 4);
    for (const int k : {0, 1, 4, 7}) {
        TengineCase op("tengine.Topkv2", 0, 2);
        const std::vector<Array> results = op.input(input).attr("k", k).run();
        ASSERT_EQ(results.size(), 2u);
        EXPECT_EQ(results[0].dims, (Dims{3, k}));
        EXPECT_EQ(results[1].data_type, TENGINE_DT_INT32);
        for (int row = 0; row < 3; ++row) {
            Values sorted(input.values.begin() + row * 7, input.values.begin() + row * 7 + 7);
            const Values given = sorted;
            std::sort(sorted.begin(), sorted.end(), std::greater<>());
            for (int i = 0; i < k; ++i) {
                const size_t place = static_cast<size_t>(row * k + i);
                EXPECT_EQ(results[0].values[place], sorted[static_cast<size_t>(i)]);
                EXPECT_EQ(given[static_cast<size_t>(results[1].values[place])],
                          results[0].values[place]);
            }
        }
    }
    for (const int k : {8, -1}) {
        TengineCase op("tengine.Topkv2", 0, 2);
        op.input(input).attr("k", k);
        op.expect_failure(TENGINE_ERANGE, "K is " + std::to_string(k));
    }
}

TEST(TengineTopk, NotRaised)
{
    const Array input = make_array({3, 7}, 4);
    const auto refuse = [&](const char* name, int value, const char* reason) {
        TengineCase op("TopK", 0, 2);
        op.input(input).constant(integers({3})).attr(name, value).expect_refusal(reason);
    };
    refuse("axis", 0, "its axis is 0, Tengine's Topkv2 takes the last, 1");
    refuse("largest", 0, "it takes the smallest");
    refuse("axis", -1, "its positions are used as int64");
    TengineCase computed("TopK", 0, 2);
    computed.input(input).input(integers({3}));
    computed.expect_refusal("its K is not a constant");
}

TEST(TengineArg, NotRaised)
{
    TengineCase wide("ArgMax");
    wide.input(make_array({3, 7})).expect_refusal("its positions are used as int64");
    TengineCase last("ArgMin");
    last.input(make_array({3, 7})).attr("select_last_index", 1);
    last.expect_refusal("it takes the last");
}

GraphPointer raise(const IrBuilder& builder)
{
    GraphPointer made;
    EXPECT_EQ(copy_to_execution_graph(*const_cast<IrBuilder&>(builder).get(), &made), TENGINE_OK);
    EXPECT_EQ(infer_graph(*made), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(raise_graph(*made), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(tidy_graph(*made), TENGINE_OK);
    return made;
}

TEST(TengineTopk, RaisedWhenNobodyReadsItsPositions)
{
    IrBuilder builder;
    builder.input("x", {2, 5});
    builder.ints("k", {3});
    builder.add("TopK", {"x", "k"}, {"y", "at"});
    builder.outputs({"y"});
    const auto made = raise(builder);
    ASSERT_EQ(made->node_num, 1);
    const node* topk = made->node_list[0];
    EXPECT_STREQ(get_ir_node_op(topk), "Topkv2");
    EXPECT_EQ(get_ir_node_int(topk, "k", 9), 3);
    EXPECT_EQ(get_ir_node_int(topk, "sorted", 9), 1);
    EXPECT_EQ(topk->output_num, 2);
    EXPECT_EQ(get_ir_node_output(topk, 1)->data_type, TENGINE_DT_INT32);
}

// Positions may also be int32 if only a Cast reads them.
TEST(TengineArg, RaisedBeforeACast)
{
    for (const char* op : {"ArgMax", "ArgMin"}) {
        IrBuilder builder;
        builder.input("x", {2, 5});
        set_node_int(builder.add(op, {"x"}, {"at"}), "axis", -1);
        set_node_int(builder.add("Cast", {"at"}, {"y"}), "to", 1);
        builder.outputs({"y"});
        const auto made = raise(builder);
        ASSERT_EQ(made->node_num, 2);
        const node* arg = made->node_list[0];
        const node* cast = made->node_list[1];
        EXPECT_STREQ(get_ir_node_op(arg), op);
        EXPECT_STREQ(get_ir_node_domain(arg), "tengine");
        EXPECT_EQ(get_ir_node_int(arg, "axis", 9), 1);
        EXPECT_EQ(get_ir_node_output(arg, 0)->data_type, TENGINE_DT_INT32);
        EXPECT_STREQ(get_ir_node_domain(cast), "tengine");
        EXPECT_EQ(get_ir_node_int(cast, "type_from", 9), TENGINE_DT_INT32);
    }
}

TEST(TengineAccuracy, ShareOfRightAnswers)
{
    const Array scores = {{4, 3}, {1, 2, 3, 3, 2, 1, 0, 5, 1, 9, 0, 0}};
    for (const Array& labels : {Array{{4}, {2, 0, 2, 0}}, Array{{4, 1}, {2, 0, 2, 0}},
                                Array{{4}, {2, 0, 2, 0}, TENGINE_DT_INT32}}) {
        TengineCase op("tengine.Accuracy");
        expect_close(op.input(scores).input(labels).run_one(), {{1}, {0.75}});
    }
    TengineCase wrong("tengine.Accuracy");
    wrong.input(scores).input(make_array({3}));
    wrong.expect_failure(TENGINE_EINVAL, "3 labels for 12 scores");
}

}  // namespace
}  // namespace tengine::test
