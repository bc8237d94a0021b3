// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/ml_tree_ops.c for fp32 trees whose nodes all compare by order, and
// whose leaves are added: nodes of 16 bytes, and eight paths from roots to leaves at a time, for
// eight rows in one tree or for one row in eight trees. A step of a path is a comparison without a
// branch, so that none is mispredicted, and eight paths hide the latency of memory. Trees keep
// their order for a block of rows, so that scores are bit-identical to the reference. Limits: some
// ten instructions for a step of a path; all eight take as many steps as the longest.
#include <array>
#include <limits>
#include <new>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/learning/ml_tree_run.h"

namespace tengine::cpu {
namespace {

constexpr int kWays = 8;
constexpr int64_t kRows = 64;  // rows of a block

// The bound that a feature is compared with, and the next nodes if it is larger, and if not. A
// leaf's next node is itself.
struct Branch
{
    float most;
    int feature;
    int next[2];
};

struct Weight
{
    int target;
    float value;
};

struct Blocks
{
    Trees trees;
    Branch* branches;  // has the indices of the table's nodes
    Weight* weights;   // the table's
};

void free_blocks(void* state)
{
    auto* blocks = static_cast<Blocks*>(state);
    release_tree_table(&blocks->trees.table);
    free_memory(blocks->branches);
    free_memory(blocks->weights);
    free_memory(blocks);
}

// A comparison with NaN is false for all values.
Branch make_branch(const tree_node& node, int place)
{
    const float value = static_cast<float>(node.value);
    if (node.mode == TREE_LEAF) return {0, 0, {place, place}};
    if (std::isnan(value)) return {0, node.feature, {node.no, node.no}};
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const bool is_strict = node.mode == TREE_LT || node.mode == TREE_GTE;
    const bool is_swapped = node.mode == TREE_GTE || node.mode == TREE_GT;
    const int larger = is_swapped ? node.yes : node.no, other = is_swapped ? node.no : node.yes;
    // No value is less than -infinity.
    if (is_strict && value == -kInfinity) return {0, node.feature, {larger, larger}};
    return {is_strict ? std::nextafter(value, -kInfinity) : value, node.feature, {larger, other}};
}

int fill(KernelContext& context, Blocks* blocks)
{
    const tree_table& table = blocks->trees.table;
    blocks->branches = static_cast<Branch*>(
        alloc_memory(static_cast<size_t>(std::max(table.node_num, 1)) * sizeof(Branch)));
    blocks->weights = static_cast<Weight*>(
        alloc_memory(static_cast<size_t>(std::max(table.weight_num, 1)) * sizeof(Weight)));
    if (!blocks->branches || !blocks->weights) return fail_memory(context);
    for (int i = 0; i < table.node_num; ++i)
        blocks->branches[i] = make_branch(table.nodes[i], i);
    for (int i = 0; i < table.weight_num; ++i)
        blocks->weights[i] = {table.weights[i].target, static_cast<float>(table.weights[i].value)};
    return TENGINE_OK;
}

// Returns the floats of a worker: a block's rows and their scores, then the marks of one row.
uint64_t count_floats(const KernelContext& context, const Trees& trees)
{
    const auto targets = static_cast<uint64_t>(trees.table.target_num);
    return kRows * (static_cast<uint64_t>(feature_num(context)) + targets) + targets;
}

template <int (*read)(const KernelContext& context, Trees* trees)>
int prepare(KernelContext& context)
{
    void* memory = alloc_memory(sizeof(Blocks));
    if (!memory) return fail_memory(context);
    auto* blocks = new (memory) Blocks();
    context.state = blocks;
    context.free_state = free_blocks;
    TENGINE_RETURN_IF_ERROR(read(context, &blocks->trees));
    TENGINE_RETURN_IF_ERROR(fill(context, blocks));
    const tree_table& table = blocks->trees.table;
    context.state_bytes =
        sizeof(Blocks) +
        static_cast<size_t>(table.node_num) * (sizeof(Branch) + sizeof(tree_node)) +
        static_cast<size_t>(table.weight_num) * (sizeof(Weight) + sizeof(tree_weight));
    context.scratch_size = count_floats(context, blocks->trees) * sizeof(float) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

using Places = std::array<int, kWays>;

// Follows the paths to the leaves; rows[i] is the row of path i.
Places find_leaves(const Branch* branches, const std::array<const float*, kWays>& rows,
                   Places places)
{
    for (int moved = 1; moved != 0;) {
        moved = 0;
        for (size_t i = 0; i < kWays; ++i) {
            const Branch& branch = branches[places[i]];
            const int next = branch.next[rows[i][branch.feature] <= branch.most];
            moved |= next ^ places[i];
            places[i] = next;
        }
    }
    return places;
}

void add_leaf(const Blocks& blocks, int place, float* scores)
{
    const tree_node& leaf = blocks.trees.table.nodes[place];
    for (int i = leaf.first; i < leaf.first + leaf.num; ++i)
        scores[blocks.weights[i].target] += blocks.weights[i].value;
}

// Adds eight rows, one tree after the other.
void add_up_rows(const Blocks& blocks, const float* features, int feature_num, float* scores)
{
    const tree_table& table = blocks.trees.table;
    std::array<const float*, kWays> rows;
    for (int i = 0; i < kWays; ++i)
        rows[static_cast<size_t>(i)] = features + int64_t{i} * feature_num;
    for (int tree = 0; tree < table.root_num; ++tree) {
        Places places;
        places.fill(table.roots[tree]);
        places = find_leaves(blocks.branches, rows, places);
        for (int i = 0; i < kWays; ++i)
            add_leaf(blocks, places[static_cast<size_t>(i)],
                     scores + int64_t{i} * table.target_num);
    }
}

// Adds one row, in eight trees at a time.
void add_up_row(const Blocks& blocks, const float* features, float* scores)
{
    const tree_table& table = blocks.trees.table;
    std::array<const float*, kWays> rows;
    rows.fill(features);
    for (int tree = 0; tree < table.root_num; tree += kWays) {
        const int number = std::min(kWays, table.root_num - tree);
        Places places;
        for (int i = 0; i < kWays; ++i)
            places[static_cast<size_t>(i)] = table.roots[tree + std::min(i, number - 1)];
        places = find_leaves(blocks.branches, rows, places);
        for (int i = 0; i < number; ++i)
            add_leaf(blocks, places[static_cast<size_t>(i)], scores);
    }
}

bool has_nan(const float* row, int features)
{
    return std::any_of(row, row + features, [](float value) { return std::isnan(value); });
}

// Computes the scores of a block; rows with a NaN, which some nodes track, as in the reference.
void add_up_block(const Blocks& blocks, const float* rows, int64_t number, int features,
                  float* scores, float* marks)
{
    const Trees& trees = blocks.trees;
    const int targets = trees.table.target_num;
    std::fill_n(scores, number * targets, 0.0f);
    int64_t i = 0;
    for (; i + kWays <= number && features > 0; i += kWays)
        add_up_rows(blocks, rows + i * features, features, scores + i * targets);
    for (; i < number && features > 0; ++i)
        add_up_row(blocks, rows + i * features, scores + i * targets);
    if (trees.aggregate == TREE_AVERAGE)
        for (int64_t k = 0; k < number * targets; ++k)
            scores[k] /= static_cast<float>(trees.table.root_num);
    for (i = 0; i < number; ++i)
        if (features == 0 || has_nan(rows + i * features, features))
            add_up(trees, rows + i * features, scores + i * targets, marks);
}

// Makes run_regressor() and the others use these trees.
constexpr auto walk = [](const KernelContext& context, const Trees& trees, const auto& finish) {
    const auto& blocks = *static_cast<const Blocks*>(context.state);
    const tensor* input = context.input(0);
    const int features = feature_num(context);
    const int64_t rows = input->dim_num == 1 ? 1 : input->dims[0];
    return dispatch_type(FeatureTypes{}, input->data_type, [&](auto type) {
        using Feature = typename decltype(type)::type;
        const auto* from = static_cast<const Feature*>(input->data);
        const auto work = [&](int64_t begin, int64_t end, int worker) {
            float* const block = static_cast<float*>(context.scratch) +
                                 count_floats(context, trees) * static_cast<uint64_t>(worker);
            float* const scores = block + kRows * features;
            for (; begin < end; begin += kRows) {
                const int64_t number = std::min(kRows, end - begin);
                std::transform(from + begin * features, from + (begin + number) * features, block,
                               [](Feature value) { return static_cast<float>(value); });
                add_up_block(blocks, block, number, features, scores,
                             scores + kRows * trees.table.target_num);
                for (int64_t i = 0; i < number; ++i)
                    finish(begin + i, scores + i * trees.table.target_num);
            }
        };
        parallel_for(context.pool, rows, kRows, work);
        return TENGINE_OK;
    });
};

const Trees& trees_of(const KernelContext& context)
{
    return static_cast<const Blocks*>(context.state)->trees;
}

int run_regressor_blocks(KernelContext& context)
{
    return run_regressor(context, trees_of(context), walk);
}

int run_ensemble_blocks(KernelContext& context)
{
    return run_ensemble(context, trees_of(context), walk);
}

int run_classifier_blocks(KernelContext& context)
{
    return run_classifier(context, trees_of(context), walk);
}

bool is_double(const op_tensor& values)
{
    return values.dim_num >= 0 && values.data_type == TENGINE_DT_FP64;
}

bool accepts_nodes(const node& node)
{
    const auto& param = *static_cast<const tree_param*>(node.op.param_mem);
    const char* const* modes = param.nodes_modes.values;
    return !is_double(param.nodes_values_as_tensor) &&
           std::all_of(modes, modes + param.nodes_modes.num, [](const char* mode) {
               return std::strcmp(mode, "BRANCH_EQ") != 0 && std::strcmp(mode, "BRANCH_NEQ") != 0;
           });
}

bool accepts_regressor(const node& node)
{
    const auto& param = *static_cast<const tree_param*>(node.op.param_mem);
    const tree_aggregate aggregate = find_aggregate(param.aggregate_function);
    return (aggregate == TREE_SUM || aggregate == TREE_AVERAGE) && accepts_nodes(node);
}

bool accepts_ensemble(const node& node)
{
    const auto& param = *static_cast<const tree_ensemble_param*>(node.op.param_mem);
    const auto* modes = static_cast<const uint8_t*>(param.nodes_modes.data);
    return (param.aggregate_function == TREE_SUM || param.aggregate_function == TREE_AVERAGE) &&
           !is_double(param.nodes_splits) &&
           std::all_of(modes, modes + param.nodes_modes.size,
                       [](uint8_t mode) { return mode <= TREE_GT; });
}

constexpr Kernel ml_tree_blocks_rows[] = {
    {"ai.onnx.ml.TreeEnsembleRegressor", "reference.blocks", accepts_regressor,
     run_regressor_blocks, prepare<read_regressor>},
    {"ai.onnx.ml.TreeEnsembleClassifier", "reference.blocks", accepts_nodes, run_classifier_blocks,
     prepare<read_classifier>},
    {"ai.onnx.ml.TreeEnsemble", "reference.blocks", accepts_ensemble, run_ensemble_blocks,
     prepare<read_ensemble>},
};

}  // namespace

extern const KernelTable ml_tree_blocks_reference;
const KernelTable ml_tree_blocks_reference = make_table<ml_tree_blocks_rows>();

}  // namespace tengine::cpu
