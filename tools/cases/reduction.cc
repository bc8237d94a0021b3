// SPDX-License-Identifier: Apache-2.0
#include "cases/case.h"

namespace tengine::tools {
namespace {

struct Reduction
{
    std::vector<int> shape;
    std::vector<int64_t> axes;
    int keeps = 1;
};

std::vector<Reduction> list_reductions()
{
    return {{{33}, {0}},
            {{1, 7, 13, 17}, {2, 3}},
            {{2, 5, 7, 9}, {0}},
            {{2, 5, 7, 9}, {1}, 0},
            {{2, 5, 7, 9}, {2}},
            {{2, 5, 7, 9}, {3}},
            {{2, 5, 7, 9}, {2, 3}, 0},
            {{2, 5, 7, 9}, {0, 2}, 0},
            {{1, 64, 9, 9}, {2, 3}},
            {{3, 768}, {1}},
            {{1, 1}, {1}}};
}

std::vector<Reduction> list_large_reductions()
{
    return {{{2, 67, 3, 70}, {1}},
            {{2, 67, 3, 70}, {2, 3}},
            {{2, 67, 3, 70}, {3}},
            {{2, 67, 3, 70}, {0, 1, 2, 3}}};
}

void add_reductions(const char* op, const Types& types, double low, double high,
                    std::vector<Case>* cases)
{
    const auto add = [&](const Reduction& reduction, const Types& in) {
        const std::vector<double> axes(reduction.axes.begin(), reduction.axes.end());
        Case made = {op, {fed(reduction.shape), int64_list(axes)}};
        made.ints = {{"keepdims", reduction.keeps}};
        made.types = in;
        made.low = low;
        made.high = high;
        cases->push_back(made);
    };
    for (const Reduction& reduction : list_reductions())
        add(reduction, types);
    for (const Reduction& reduction : list_large_reductions())
        add(reduction, few_types(types));
}

void add_extremes(std::vector<Case>* cases)
{
    for (const char* op : {"ArgMax", "ArgMin"})
        for (const Reduction& reduction : list_reductions()) {
            if (reduction.axes.size() > 1) continue;
            Case made = {op, {fed(reduction.shape)}};
            made.ints = {{"axis", static_cast<int>(reduction.axes[0])},
                         {"keepdims", reduction.keeps}};
            made.types = number_types();
            made.outputs = {TENGINE_DT_INT64};
            cases->push_back(made);
        }
    for (const int largest : {0, 1})
        for (const auto& [shape, count] : std::vector<std::pair<std::vector<int>, double>>{
                 {{33}, 5}, {{3, 17}, 17}, {{2, 5, 7}, 1}}) {
            Case made = {"TopK", {fed(shape), int64_list({count})}};
            made.ints = {{"largest", largest}};
            made.types = number_types();
            made.outputs = {kCaseType, TENGINE_DT_INT64};
            cases->push_back(made);
        }
}

}  // namespace

void add_reduction_cases(std::vector<Case>* cases)
{
    Types sums = float_types();
    for (const int type :
         {TENGINE_DT_INT32, TENGINE_DT_INT64, TENGINE_DT_UINT32, TENGINE_DT_UINT64})
        sums.push_back(type);
    Types extremes = sums;
    extremes.insert(extremes.end(), byte_types().begin(), byte_types().end());
    for (const char* op : {"ReduceL1", "ReduceSum", "ReduceSumSquare"})
        add_reductions(op, sums, -1, 1, cases);
    for (const char* op : {"ReduceL2", "ReduceMean"})
        add_reductions(op, float_types(), -1, 1, cases);
    for (const char* op : {"ReduceLogSum", "ReduceLogSumExp"})
        add_reductions(op, float_types(), 0.25, 1, cases);
    // Products of many stay within range.
    add_reductions("ReduceProd", float_types(), 0.95, 1.05, cases);
    for (const char* op : {"ReduceMax", "ReduceMin"})
        add_reductions(op, extremes, -1, 1, cases);
    // A scalar has no axes.
    Case scalar = {"ReduceSumSquare", {fed({})}};
    scalar.types = sums;
    cases->push_back(scalar);
    add_extremes(cases);
    for (const double axis : {0, 1}) {
        Operand where = int64_list({axis});
        where.dims = {};
        for (const auto& [exclusive, reverse] : std::vector<std::pair<int, int>>{{0, 0}, {1, 1}}) {
            Case made = {"CumSum", {fed({5, 33}), where}};
            made.ints = {{"exclusive", exclusive}, {"reverse", reverse}};
            made.types = sums;
            cases->push_back(made);
        }
    }
}

}  // namespace tengine::tools
