// SPDX-License-Identifier: Apache-2.0
// Trees, linear models and support vectors of ai.onnx.ml: scores and labels equal to ONNX
// Runtime's, and inconsistent trees.
#include <cmath>
#include <cstring>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Texts = std::vector<const char*>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void set_floats(node* made, const char* name, const Floats& values)
{
    ASSERT_EQ(set_node_floats(made, name, values.data(), static_cast<int>(values.size())), 0);
}

void set_ints(node* made, const char* name, const Ints& values)
{
    ASSERT_EQ(set_node_ints(made, name, values.data(), static_cast<int>(values.size())), 0);
}

void set_text(node* made, const char* name, const char* value)
{
    ASSERT_EQ(set_node_text(made, name, value, std::strlen(value)), 0);
}

// Two stumps: tree 0 tests x[0] <= 1, tree 1 tests x[1] < 2. Leaves are 1 (yes) and 2 (no).
struct Stumps
{
    Ints trees = {0, 0, 0, 1, 1, 1};
    Ints numbers = {0, 1, 2, 0, 1, 2};
    Ints features = {0, 0, 0, 1, 0, 0};
    Texts modes = {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"};
    Floats values = {1, 0, 0, 2, 0, 0};
    Ints yes = {1, 0, 0, 1, 0, 0};
    Ints no = {2, 0, 0, 2, 0, 0};
    Ints weight_trees = {0, 0, 1, 1};
    Ints weight_numbers = {1, 2, 1, 2};
    Ints weight_ids = {0, 0, 0, 0};
    Floats weights = {1, 2, 10, 20};

    void set(node* made, const std::string& kind) const
    {
        set_ints(made, "nodes_treeids", trees);
        set_ints(made, "nodes_nodeids", numbers);
        set_ints(made, "nodes_featureids", features);
        ASSERT_EQ(set_node_texts(made, "nodes_modes", modes.data(), static_cast<int>(modes.size())),
                  0);
        set_floats(made, "nodes_values", values);
        set_ints(made, "nodes_truenodeids", yes);
        set_ints(made, "nodes_falsenodeids", no);
        set_ints(made, (kind + "_treeids").c_str(), weight_trees);
        set_ints(made, (kind + "_nodeids").c_str(), weight_numbers);
        set_ints(made, (kind + "_ids").c_str(), weight_ids);
        set_floats(made, (kind + "_weights").c_str(), weights);
    }
};

Floats regress(const Stumps& stumps, const char* aggregate, const Ints& missing = {})
{
    ConstantGraph graph;
    graph.input<float>("x", {4, 2}, {1, 2, 2, 1, 1, 1, kNan, kNan});
    node* made = graph.add("ai.onnx.ml.TreeEnsembleRegressor", {"x"});
    stumps.set(made, "target");
    set_text(made, "aggregate_function", aggregate);
    set_floats(made, "base_values", {100});
    set_ints(made, "nodes_missing_value_tracks_true", missing);
    return values_of<float>(graph.evaluate());
}

// The base value is added after the aggregation.
TEST(MlTreeRegressor, Aggregates)
{
    EXPECT_EQ(regress({}, "SUM"), (Floats{121, 112, 111, 122}));
    EXPECT_EQ(regress({}, "AVERAGE"), (Floats{110.5f, 106, 105.5f, 111}));
    EXPECT_EQ(regress({}, "MIN"), (Floats{101, 102, 101, 102}));
    EXPECT_EQ(regress({}, "MAX"), (Floats{120, 110, 110, 120}));
}

TEST(MlTreeRegressor, MissingValuesGoWhereTheNodeSays)
{
    EXPECT_EQ(regress({}, "SUM", {1, 0, 0, 0, 0, 0})[3], 121);
}

void expect_refusal(const Stumps& stumps, int code, const char* part)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2}, {1, 2});
    stumps.set(graph.add("ai.onnx.ml.TreeEnsembleRegressor", {"x"}), "target");
    graph.expect_failure(code, part);
}

TEST(MlTreeRegressor, TreesThatContradictThemselvesAreRefused)
{
    Stumps circle;
    circle.modes[1] = "BRANCH_LEQ";
    circle.yes[1] = 0;
    circle.no[1] = 2;
    expect_refusal(circle, TENGINE_EINVAL, "the nodes form a cycle");
    Stumps itself;
    itself.yes[0] = 0;
    expect_refusal(itself, TENGINE_EINVAL, "node 0 of the lists leads back to node 0");
    Stumps absent;
    absent.no[3] = 9;
    expect_refusal(absent, TENGINE_EINVAL, "nodes_falsenodeids[3] is 9, which tree 1");
    Stumps feature;
    feature.features[3] = 2;
    expect_refusal(feature, TENGINE_ERANGE, "nodes_featureids[3] is 2, expected 0 to 1");
    Stumps twice;
    twice.numbers[2] = 1;
    expect_refusal(twice, TENGINE_EINVAL, "tree 0 has node 1 twice");
    Stumps mode;
    mode.modes[0] = "BRANCH_LIKE";
    expect_refusal(mode, TENGINE_EINVAL, "BRANCH_LIKE");
    Stumps target;
    target.weight_ids[2] = 1;
    expect_refusal(target, TENGINE_ERANGE, "weight[2] is 1, expected 0 to 0");
    Stumps weight;
    weight.weight_numbers[1] = 5;
    expect_refusal(weight, TENGINE_EINVAL, "weight 1 is for node 5 of tree 0");
    Stumps values;
    values.values.pop_back();
    expect_refusal(values, TENGINE_EINVAL, "nodes_values has 5 values, expected 6");
    Stumps weights;
    weights.weights.push_back(1);
    expect_refusal(weights, TENGINE_EINVAL, "target_weights has 5 values, expected 4");
    Stumps yes;
    yes.yes.pop_back();
    expect_refusal(yes, TENGINE_EINVAL, "nodes_truenodeids has 5 values, expected 6");
}

struct Classes
{
    Ints labels;
    Floats scores;
};

// The rows lead to leaves 1 and 4, 2 and 4, 2 and 5.
Classes classify(const Stumps& stumps, const Ints& labels, const char* transform)
{
    ConstantGraph graph;
    graph.input<float>("x", {3, 2}, {1, 1, 2, 1, 2, 2});
    node* made = graph.add("ai.onnx.ml.TreeEnsembleClassifier", {"x"}, {"y", "scores"});
    stumps.set(made, "class");
    set_ints(made, "classlabels_int64s", labels);
    set_text(made, "post_transform", transform);
    Classes classes;
    classes.labels = values_of<int64_t>(graph.evaluate());
    classes.scores = values_of<float>(graph.evaluate("scores"));
    return classes;
}

TEST(MlTreeClassifier, OneClassOfTwo)
{
    Stumps shares;
    shares.weights = {0.125f, 0.25f, 0.25f, 0.5f};
    const Classes positive = classify(shares, {7, 8}, "NONE");
    EXPECT_EQ(positive.labels, (Ints{7, 7, 8}));
    EXPECT_EQ(positive.scores, (Floats{0.625f, 0.375f, 0.5f, 0.5f, 0.25f, 0.75f}));

    shares.weights = {-1, 0.5f, 0.5f, 1};
    const Classes mixed = classify(shares, {7, 8}, "NONE");
    EXPECT_EQ(mixed.labels, (Ints{7, 8, 8}));
    EXPECT_EQ(mixed.scores, (Floats{0.5f, -0.5f, -1, 1, -1.5f, 1.5f}));

    const Classes logistic = classify(shares, {7, 8}, "LOGISTIC");
    EXPECT_EQ(logistic.labels, mixed.labels);
    EXPECT_FLOAT_EQ(logistic.scores[2], 1 / (1 + std::exp(1.0f)));
    EXPECT_FLOAT_EQ(logistic.scores[3], 1 / (1 + std::exp(-1.0f)));
}

// If each of two classes has a score, only that of the second determines the label. ONNX Runtime
// 1.30 has other labels here, 1 and 0 regardless of classlabels_int64s, and other scores for the
// first row, in which only the first class has one.
TEST(MlTreeClassifier, TwoClasses)
{
    Stumps both;
    both.weight_ids = {0, 1, 0, 0};
    both.weights = {1, 2, 10, 20};
    const Classes classes = classify(both, {7, 8}, "NONE");
    EXPECT_EQ(classes.scores, (Floats{11, 0, 10, 2, 20, 2}));
    EXPECT_EQ(classes.labels, (Ints{7, 8, 8}));
}

TEST(MlTreeClassifier, ThreeClassesAndSoftmax)
{
    Stumps three;
    three.weight_ids = {0, 1, 2, 1};
    three.weights = {1, 3, 1, 1};
    const Classes classes = classify(three, {5, 6, 7}, "SOFTMAX");
    EXPECT_EQ(classes.labels, (Ints{5, 6, 6}));
    const float sum = 2 * std::exp(1.0f) + 1;
    EXPECT_FLOAT_EQ(classes.scores[0], std::exp(1.0f) / sum);
    EXPECT_FLOAT_EQ(classes.scores[1], 1 / sum);
}

TEST(MlTreeClassifier, LabelsMayBeStrings)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2}, {1, 2});
    node* made = graph.add("ai.onnx.ml.TreeEnsembleClassifier", {"x"}, {"y", "scores"});
    Stumps().set(made, "class");
    const char* const labels[] = {"a", "b"};
    ASSERT_EQ(set_node_texts(made, "classlabels_strings", labels, 2), 0);
    EXPECT_EQ(texts_of(graph.evaluate()), std::vector<std::string>{"b"});
}

// ---- linear ----

TEST(MlLinear, Regressor)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, {1, 2, 3, 4});
    node* made = graph.add("ai.onnx.ml.LinearRegressor", {"x"});
    set_floats(made, "coefficients", {1, 1, 1, -1});
    set_floats(made, "intercepts", {0, 10});
    ASSERT_EQ(set_node_int(made, "targets", 2), 0);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{3, 9, 7, 9}));
}

Classes classify_linear(const Floats& coefficients, const Ints& labels)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, {1, 2, 3, 1});
    node* made = graph.add("ai.onnx.ml.LinearClassifier", {"x"}, {"y", "scores"});
    set_floats(made, "coefficients", coefficients);
    set_ints(made, "classlabels_ints", labels);
    return {values_of<int64_t>(graph.evaluate()), values_of<float>(graph.evaluate("scores"))};
}

TEST(MlLinear, Classifier)
{
    const Classes single = classify_linear({1, -1}, {4, 5});
    EXPECT_EQ(single.labels, (Ints{4, 5}));
    EXPECT_EQ(single.scores, (Floats{2, -1, -1, 2}));
    const Classes rows = classify_linear({1, 0, 0, 1, 0, 0}, {4, 5, 6});
    EXPECT_EQ(rows.labels, (Ints{5, 4}));
    EXPECT_EQ(rows.scores, (Floats{1, 2, 0, 3, 1, 0}));
}

TEST(MlSvm, Regressor)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2}, {1, 2});
    node* made = graph.add("ai.onnx.ml.SVMRegressor", {"x"});
    set_text(made, "kernel_type", "POLY");
    set_floats(made, "kernel_params", {2, 1, 2});
    set_floats(made, "support_vectors", {1, 0, 0, 1});
    set_floats(made, "coefficients", {1, -1});
    set_floats(made, "rho", {0.5f});
    ASSERT_EQ(set_node_int(made, "n_supports", 2), 0);
    // (2 * 1 + 1)^2 - (2 * 2 + 1)^2 + 0.5
    EXPECT_FLOAT_EQ(values_of<float>(graph.evaluate())[0], -15.5f);
}

// A positive score of two classes means the first.
TEST(MlSvm, ClassifierOfTwo)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 1}, {3, -3});
    node* made = graph.add("ai.onnx.ml.SVMClassifier", {"x"}, {"y", "scores"});
    set_floats(made, "support_vectors", {1, -1});
    set_floats(made, "coefficients", {1, -1});
    set_ints(made, "vectors_per_class", {1, 1});
    set_floats(made, "rho", {1});
    set_ints(made, "classlabels_ints", {4, 5});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Ints{4, 5}));
    EXPECT_EQ(values_of<float>(graph.evaluate("scores")), (Floats{-7, 7, 5, -5}));
}

// With vectors, and without.
TEST(MlSvm, LabelsMayBeStrings)
{
    ConstantGraph graph;
    graph.input<float>("x", {3, 1}, {3, -3, 0.5f});
    node* made = graph.add("ai.onnx.ml.SVMClassifier", {"x"}, {"y", "scores"});
    set_floats(made, "support_vectors", {1, -1});
    set_floats(made, "coefficients", {1, -1});
    set_ints(made, "vectors_per_class", {1, 1});
    set_floats(made, "rho", {1});
    const char* const labels[] = {"a", "b"};
    ASSERT_EQ(set_node_texts(made, "classlabels_strings", labels, 2), 0);
    EXPECT_EQ(texts_of(graph.evaluate()), (std::vector<std::string>{"a", "b", "a"}));
    EXPECT_EQ(values_of<float>(graph.evaluate("scores")), (Floats{-7, 7, 5, -5, -2, 2}));
    set_floats(made, "prob_a", {-0.5f});
    set_floats(made, "prob_b", {0.25f});
    EXPECT_EQ(texts_of(graph.evaluate()), (std::vector<std::string>{"a", "b", "a"}));

    ConstantGraph linear;
    linear.input<float>("x", {2, 2}, {1, 2, 3, 1});
    made = linear.add("ai.onnx.ml.SVMClassifier", {"x"}, {"y", "scores"});
    set_floats(made, "coefficients", {1, 0, 0, 1});
    set_floats(made, "rho", {0.5f});
    ASSERT_EQ(set_node_texts(made, "classlabels_strings", labels, 1), 0);
    linear.expect_failure(TENGINE_EINVAL, "has 1 values, expected 2 or more");
    ASSERT_EQ(set_node_texts(made, "classlabels_strings", labels, 2), 0);
    EXPECT_EQ(texts_of(linear.evaluate()), (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(values_of<float>(linear.evaluate("scores")), (Floats{1.5f, 2.5f, 3.5f, 1.5f}));
}

// ONNX Runtime 1.30's numbers, which it computes in float.
void expect_probabilities(const Floats& given, const Floats& expected)
{
    ASSERT_EQ(given.size(), expected.size());
    for (size_t i = 0; i < given.size(); ++i)
        EXPECT_NEAR(given[i], expected[i], 1e-5) << i;
}

TEST(MlSvm, ProbabilitiesOfTwo)
{
    ConstantGraph graph;
    graph.input<float>("x", {3, 1}, {3, -3, 0.5f});
    node* made = graph.add("ai.onnx.ml.SVMClassifier", {"x"}, {"y", "scores"});
    set_floats(made, "support_vectors", {1, -1});
    set_floats(made, "coefficients", {1, -1});
    set_ints(made, "vectors_per_class", {1, 1});
    set_floats(made, "rho", {1});
    set_floats(made, "prob_a", {-0.5f});
    set_floats(made, "prob_b", {0.25f});
    set_ints(made, "classlabels_ints", {4, 5});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Ints{4, 5, 4}));
    expect_probabilities(values_of<float>(graph.evaluate("scores")),
                         {0.9614922f, 0.0385078f, 0.0600040f, 0.9399959f, 0.6791787f, 0.3208213f});
}

TEST(MlSvm, ProbabilitiesOfPairsAreCoupled)
{
    ConstantGraph graph;
    graph.input<float>("x", {3, 2}, {1, 2, -1, 0.5f, 0.25f, -2});
    node* made = graph.add("ai.onnx.ml.SVMClassifier", {"x"}, {"y", "scores"});
    set_text(made, "kernel_type", "RBF");
    set_floats(made, "kernel_params", {0.5f, 0, 3});
    set_floats(made, "support_vectors", {1, 0, 0, 1, -1, 0.5f, 0.5f, -1});
    set_floats(made, "coefficients", {0.5f, 0.25f, -1, 0.75f, -0.5f, 1, -0.25f, 0.5f});
    set_ints(made, "vectors_per_class", {2, 1, 1});
    set_floats(made, "rho", {0.1f, -0.2f, 0.3f});
    set_floats(made, "prob_a", {-1.5f, -2, -0.75f});
    set_ints(made, "classlabels_ints", {4, 5, 6});
    graph.expect_failure(TENGINE_EINVAL, "prob_b has 0 values, expected 3");
    set_floats(made, "prob_b", {0.1f, -0.3f, 0.2f});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Ints{4, 5, 4}));
    expect_probabilities(values_of<float>(graph.evaluate("scores")),
                         {0.4180348f, 0.3099679f, 0.2719972f, 0.2705116f, 0.4579319f, 0.2715564f,
                          0.4187078f, 0.3458460f, 0.2354463f});
}

}  // namespace
}  // namespace tengine::test
