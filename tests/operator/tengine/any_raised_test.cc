// SPDX-License-Identifier: Apache-2.0
// Every ONNX operator that is raised to Tengine's, with random inputs and attributes: the graph is
// converted to Tengine's dialect, and gives the same results. random_case.h documents how to run
// more cases.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <sstream>

#include "graph/graph.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "random_case.h"
#include "scheduler/scheduler.h"
#include "support/run_cost.h"

namespace tengine::test {
namespace {

constexpr int64_t kLargestRun = 4 << 20;

struct GraphEnd
{
    void operator()(graph* graph) const
    {
        postrun_ir_graph(graph);
        destroy_ir_graph(graph);
    }
};

struct Counts
{
    int prepared = 0;
    int raised = 0;
    int compared = 0;
};

std::set<std::string> list_raised_operators()
{
    std::set<std::string> names;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method& row = *find_op_method_via_index(i);
        if (!row.raised_from) continue;
        std::stringstream list(row.raised_from);
        for (std::string name; std::getline(list, name, '|');)
            names.insert(name);
    }
    return names;
}

bool has_tengine(const graph* graph)
{
    for (int i = 0; i < graph->node_num; ++i) {
        const node* node = graph->node_list[i];
        if (node->op.method->tengine && node->input_num > 0) return true;
    }
    return false;
}

bool is_close(double result, double expected, double tolerance)
{
    if (std::isnan(expected)) return std::isnan(result);
    if (result == expected) return true;
    return std::fabs(result - expected) <= tolerance * (1 + std::fabs(expected));
}

// Operators that only move elements keep their bits.
bool is_movement(const std::string& op)
{
    static const std::set<std::string> ops = {
        "Concat",  "DepthToSpace", "Expand", "Flatten", "Gather",       "Identity", "Max",
        "MaxPool", "Pad",          "Min",    "Reshape", "SpaceToDepth", "Slice",    "Split",
        "Squeeze", "Tile",         "TopK",   "Where",   "Transpose",    "Unsqueeze"};
    return ops.count(op) > 0;
}

double get_tolerance(const std::string& op, int data_type)
{
    if (is_movement(op)) return 0;
    return data_type == TENGINE_DT_FP16 ? 4e-3 : 2e-5;
}

void expect_same_results(graph* raised, graph* plain, const method& row, bool has_sane_data,
                         const std::string& what)
{
    ASSERT_EQ(raised->output_tensor_num, plain->output_tensor_num) << what;
    for (int i = 0; i < plain->output_tensor_num; ++i) {
        const tensor* result = raised->tensor_list[raised->output_tensors[i]];
        const tensor* expected = plain->tensor_list[plain->output_tensors[i]];
        EXPECT_EQ(std::vector<int>(result->dims, result->dims + result->dim_num),
                  std::vector<int>(expected->dims, expected->dims + expected->dim_num))
            << what;
        if (result->elem_num != expected->elem_num) continue;
        // Sums of values that overflow or are NaN may differ.
        if (!has_sane_data && !is_movement(row.name)) continue;
        const double tolerance = get_tolerance(row.name, expected->data_type);
        const std::vector<double> values = read_tensor(result);
        const std::vector<double> wanted = read_tensor(expected);
        for (size_t k = 0; k < values.size(); ++k)
            if (!is_close(values[k], wanted[k], tolerance)) {
                ADD_FAILURE() << what << "\n  output " << i << '[' << k << "]: " << values[k]
                              << " instead of " << wanted[k];
                break;
            }
    }
}

void try_case(const method& row, uint64_t seed, bool is_wild, Counts* counts)
{
    RandomCase subject(row, seed, is_wild);
    log_case(subject);
    tengine_error_clear();
    const int64_t cost = measure_run(subject.get());
    if (cost < 0 || cost > kLargestRun) return;
    ++counts->prepared;
    graph* saved = nullptr;
    tengine_error_clear();
    const int status = create_saved_graph(subject.get(), "tengine", &saved);
    const std::unique_ptr<graph, GraphEnd> owner(saved);
    EXPECT_EQ(status, TENGINE_OK) << subject.describe() << "\n  " << tengine_error_message();
    if (!saved || !has_tengine(saved)) return;
    ++counts->raised;
    if (run_once(subject.get(), seed, is_wild) < 0) return;
    const int raised_status = run_once(saved, seed, is_wild);
    EXPECT_EQ(raised_status, TENGINE_OK) << subject.describe() << "\n  " << tengine_error_message();
    if (raised_status < 0) return;
    ++counts->compared;
    expect_same_results(saved, subject.get(), row, !is_wild, subject.describe());
}

void try_operator(const std::string& name, int usual, bool is_wild, Counts* sum)
{
    const method* row = find_op_method(get_op_type_by_name(name.c_str()), 0);
    ASSERT_NE(row, nullptr) << name;
    const CaseRange range = get_case_range(usual);
    Counts counts;
    for (uint64_t seed = range.first; seed < range.end; ++seed)
        try_case(*row, seed, is_wild, &counts);
    if (std::getenv("TENGINE_RANDOM_CASES"))
        std::printf("%s: %d prepared, %d raised, %d compared\n", name.c_str(), counts.prepared,
                    counts.raised, counts.compared);
    sum->prepared += counts.prepared;
    sum->raised += counts.raised;
    sum->compared += counts.compared;
}

void try_all(int usual, bool is_wild)
{
    const IrBuilder registered;
    const QuietLog quiet;
    Counts sum;
    for (const std::string& name : list_raised_operators())
        if (is_operator_wanted(name)) try_operator(name, usual, is_wild, &sum);
    std::printf("%d prepared, %d raised, %d compared\n", sum.prepared, sum.raised, sum.compared);
    EXPECT_GT(sum.compared, 0);
}

TEST(AnyRaised, ComputesTheSame)
{
    try_all(80, false);
}

TEST(AnyRaised, WildOnesComputeTheSame)
{
    try_all(60, true);
}

}  // namespace
}  // namespace tengine::test
