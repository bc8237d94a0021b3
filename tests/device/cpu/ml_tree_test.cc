// SPDX-License-Identifier: Apache-2.0
// Trees whose rows are computed in blocks, against trees that are computed row by row: bit by bit.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "device/cpu/byte_node.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

constexpr int kFeatures = 5;

// The attributes of random trees. Thresholds and features have few different values, so that they
// are often equal.
class Forest
{
  public:
    Forest(std::mt19937& random, int trees, int deepest, int targets)
        : random_(random), targets_(targets)
    {
        for (tree_ = 0; tree_ < trees; ++tree_) {
            number_ = 0;
            grow(deepest);
        }
    }

    void set(ByteNode& node, const std::string& kind) const
    {
        node.set("nodes_treeids", ids_);
        node.set("nodes_nodeids", numbers_);
        node.set("nodes_featureids", features_);
        node.set("nodes_truenodeids", yes_);
        node.set("nodes_falsenodeids", no_);
        node.set("nodes_missing_value_tracks_true", missing_);
        node.set(kind + "_treeids", weight_trees_);
        node.set(kind + "_nodeids", weight_numbers_);
        node.set(kind + "_ids", weight_targets_);
        const auto set_floats = [&](const std::string& name, const std::vector<float>& values) {
            EXPECT_EQ(set_node_floats(node.node(), name.c_str(), values.data(),
                                      static_cast<int>(values.size())),
                      TENGINE_OK);
        };
        set_floats("nodes_values", values_);
        set_floats(kind + "_weights", weights_);
        EXPECT_EQ(set_node_texts(node.node(), "nodes_modes", modes_.data(),
                                 static_cast<int>(modes_.size())),
                  TENGINE_OK);
    }

    static float pick_value(std::mt19937& random, bool has_nan)
    {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        const float values[] = {0, -0.0f, 1, 1.5f, -1, -2.5f, kInfinity, -kInfinity, NAN};
        return values[random() % (has_nan ? 9 : 8)];
    }

  private:
    // Returns the number of a new node, which has others below it.
    int64_t grow(int deepest)
    {
        const char* const modes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"};
        const size_t place = modes_.size();
        const int64_t number = number_++;
        const bool is_leaf = deepest == 0 || random_() % 8 == 0;
        ids_.push_back(tree_);
        numbers_.push_back(number);
        features_.push_back(is_leaf ? 0 : random_() % kFeatures);
        modes_.push_back(is_leaf ? "LEAF" : modes[random_() % 4]);
        values_.push_back(pick_value(random_, random_() % 8 == 0));
        missing_.push_back(random_() % 2);
        yes_.push_back(0);
        no_.push_back(0);
        if (is_leaf) {
            add_weights(number);
        } else {
            yes_[place] = grow(deepest - 1);
            no_[place] = grow(deepest - 1);
        }
        return number;
    }
    void add_weights(int64_t number)
    {
        for (int target = 0; target < targets_; ++target) {
            if (random_() % 4 == 0) continue;
            weight_trees_.push_back(tree_);
            weight_numbers_.push_back(number);
            weight_targets_.push_back(target);
            weights_.push_back(static_cast<float>(random_() % 1000) / 999);
        }
    }

    std::mt19937& random_;
    int targets_;
    int64_t tree_ = 0, number_ = 0;
    std::vector<int64_t> ids_, numbers_, features_, yes_, no_, missing_;
    std::vector<int64_t> weight_trees_, weight_numbers_, weight_targets_;
    std::vector<float> values_, weights_;
    std::vector<const char*> modes_;
};

void add_rows(ByteNode& node, int rows)
{
    std::vector<float> values(static_cast<size_t>(rows * kFeatures));
    for (float& value : values)
        value = Forest::pick_value(node.random(), node.random()() % 16 == 0);
    node.floats("x", {rows, kFeatures}, values);
}

// Full and partial blocks and paths, and a forest without trees.
constexpr int kRows[] = {1, 7, 8, 75, 130};

void set_text(ByteNode& node, const char* name, const std::string& value)
{
    EXPECT_EQ(set_node_text(node.node(), name, value.c_str(), value.size()), TENGINE_OK);
}

TEST(MlTreeBlocks, RegressorHasTheBitsOfTheReference)
{
    for (const char* aggregate : {"SUM", "AVERAGE"})
        for (const int rows : kRows) {
            ByteNode node;
            add_rows(node, rows);
            node.make("ai.onnx.ml.TreeEnsembleRegressor", {"x"});
            Forest(node.random(), 13, 6, 2).set(node, "target");
            node.set("n_targets", 2);
            set_text(node, "aggregate_function", aggregate);
            node.infer();
            node.compare("reference.blocks", {1, 3});
        }
}

TEST(MlTreeBlocks, ClassifierHasTheBitsOfTheReference)
{
    for (const int classes : {2, 3})
        for (const int rows : kRows) {
            ByteNode node;
            add_rows(node, rows);
            node.make("ai.onnx.ml.TreeEnsembleClassifier", {"x"}, {"y", "scores"});
            Forest(node.random(), 21, 4, classes).set(node, "class");
            node.set("classlabels_int64s",
                     classes == 2 ? std::vector<int64_t>{4, 9} : std::vector<int64_t>{1, 0, 7});
            set_text(node, "post_transform", "SOFTMAX");
            node.infer();
            node.compare("reference.blocks", {1, 3});
        }
}

TEST(MlTreeBlocks, IntegersAreFeatures)
{
    ByteNode node;
    node.builder().constant("x", {3, kFeatures},
                            std::vector<int64_t>{0, 1, 2, -3, 4, 1, 1, 1, 1, 1, 0, -1, 0, -2, 9},
                            TENGINE_DT_INT64);
    node.make("ai.onnx.ml.TreeEnsembleRegressor", {"x"});
    Forest(node.random(), 5, 5, 1).set(node, "target");
    node.infer();
    node.compare("reference.blocks", {1});
}

}  // namespace
}  // namespace tengine::test
