// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees, of ai.onnx.ml.
#include "cases/case.h"

namespace tengine::tools {
namespace {

// Whole binary trees: the nodes below node i are 2 i + 1, where its condition holds, and 2 i + 2.
struct Forest
{
    int rows, features, trees, depth, targets;
};

constexpr const char* kConditions[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"};

// Numbers from -1 to 1 that a few bits hold, so that sums are exact.
float eighths(int seed)
{
    return static_cast<float>(seed * 37 % 17 - 8) / 8;
}

// Weights of leaves are those of "target" or "class".
Case make_forest(const std::string& op, const std::string& weights, const Forest& forest,
                 const char* condition)
{
    std::vector<int64_t> trees, nodes, features, yes, no, leaf_trees, leaf_nodes, leaf_targets;
    std::vector<float> thresholds, leaf_weights;
    std::vector<std::string> modes;
    const int node_num = (2 << forest.depth) - 1, inner_num = node_num / 2;
    for (int tree = 0; tree < forest.trees; ++tree)
        for (int i = 0; i < node_num; ++i) {
            const bool is_leaf = i >= inner_num;
            trees.push_back(tree);
            nodes.push_back(i);
            features.push_back(is_leaf ? 0 : (i + 3 * tree) % forest.features);
            yes.push_back(is_leaf ? 0 : 2 * i + 1);
            no.push_back(is_leaf ? 0 : 2 * i + 2);
            modes.push_back(is_leaf ? "LEAF" : condition);
            thresholds.push_back(is_leaf ? 0 : eighths(i + 5 * tree));
            if (!is_leaf) continue;
            leaf_trees.push_back(tree);
            leaf_nodes.push_back(i);
            leaf_targets.push_back((i + tree) % forest.targets);
            leaf_weights.push_back(eighths(i + 11 * tree));
        }
    Case made = {op, {fed({forest.rows, forest.features})}};
    made.lists = {{"nodes_treeids", trees},           {"nodes_nodeids", nodes},
                  {"nodes_featureids", features},     {"nodes_truenodeids", yes},
                  {"nodes_falsenodeids", no},         {weights + "_treeids", leaf_trees},
                  {weights + "_nodeids", leaf_nodes}, {weights + "_ids", leaf_targets}};
    made.float_lists = {{"nodes_values", thresholds}, {weights + "_weights", leaf_weights}};
    made.text_lists = {{"nodes_modes", modes}};
    made.types = {TENGINE_DT_FP32};
    return made;
}

}  // namespace

// Each condition has one more row, by which the names of its cases differ from the others'.
void add_tree_cases(std::vector<Case>* cases)
{
    for (Forest forest : {Forest{1, 1, 1, 1, 1}, {13, 7, 5, 3, 2}, {65, 17, 33, 5, 3}})
        for (const char* condition : kConditions) {
            cases->push_back(
                make_forest("ai.onnx.ml.TreeEnsembleRegressor", "target", forest, condition));
            cases->back().ints = {{"n_targets", forest.targets}};
            if (forest.targets > 1) {
                cases->push_back(
                    make_forest("ai.onnx.ml.TreeEnsembleClassifier", "class", forest, condition));
                std::vector<int64_t> labels;
                for (int i = 0; i < forest.targets; ++i)
                    labels.push_back(10 * i);
                cases->back().lists.emplace_back("classlabels_int64s", labels);
                cases->back().outputs = {TENGINE_DT_INT64, TENGINE_DT_FP32};
            }
            ++forest.rows;
        }
}

}  // namespace tengine::tools
