// SPDX-License-Identifier: Apache-2.0
// The operators of ai.onnx.ml on features: values, edge cases, attributes that contradict the
// input.
#include <cmath>
#include <cstring>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Dims = std::vector<int>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void set_floats(node* made, const char* name, const Floats& values)
{
    ASSERT_EQ(set_node_floats(made, name, values.data(), static_cast<int>(values.size())), 0);
}

void set_ints(node* made, const char* name, const Ints& values)
{
    ASSERT_EQ(set_node_ints(made, name, values.data(), static_cast<int>(values.size())), 0);
}

TEST(MlScaler, OneValueOrOneForEachFeature)
{
    ConstantGraph graph;
    graph.input<int64_t>("x", {2, 2}, {1, 2, 3, 4});
    node* made = graph.add("ai.onnx.ml.Scaler", {"x"});
    set_floats(made, "offset", {1, 2});
    set_floats(made, "scale", {0.5f});
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{0, 0, 1, 1}));

    ConstantGraph wrong;
    wrong.input<float>("x", {2, 2}, {1, 2, 3, 4});
    set_floats(wrong.add("ai.onnx.ml.Scaler", {"x"}), "offset", {1, 2, 3});
    wrong.expect_failure(TENGINE_EINVAL, "offset has 3 values, expected 1 or 2");
}

Floats normalize(const char* norm)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, {-4, 2, 0, 0});
    node* made = graph.add("ai.onnx.ml.Normalizer", {"x"});
    EXPECT_EQ(set_node_text(made, "norm", norm, std::strlen(norm)), 0);
    return values_of<float>(graph.evaluate());
}

// MAX divides by the largest value, not by the largest magnitude; a division by 0 is skipped.
TEST(MlNormalizer, Norms)
{
    EXPECT_EQ(normalize("MAX"), (Floats{-2, 1, 0, 0}));
    EXPECT_EQ(normalize("L1"), (Floats{-4 / 6.0f, 2 / 6.0f, 0, 0}));
    const float length = std::sqrt(20.0f);
    EXPECT_EQ(normalize("L2"), (Floats{-4 / length, 2 / length, 0, 0}));
}

TEST(MlBinarizer, IsOneAboveTheThreshold)
{
    ConstantGraph graph;
    graph.input<float>("x", {3}, {0.5f, 1, 2});
    EXPECT_EQ(set_node_float(graph.add("ai.onnx.ml.Binarizer", {"x"}), "threshold", 1), 0);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{0, 0, 1}));
}

TEST(MlImputer, ReplacesWhatIsMissing)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, {kNan, 1, 2, kNan});
    node* made = graph.add("ai.onnx.ml.Imputer", {"x"});
    set_floats(made, "imputed_value_floats", {7, 8});
    EXPECT_EQ(set_node_float(made, "replaced_value_float", kNan), 0);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{7, 1, 2, 8}));

    ConstantGraph whole;
    whole.input<int64_t>("x", {3}, {-1, 5, -1});
    made = whole.add("ai.onnx.ml.Imputer", {"x"});
    set_ints(made, "imputed_value_int64s", {9});
    EXPECT_EQ(set_node_int(made, "replaced_value_int64", -1), 0);
    EXPECT_EQ(values_of<int64_t>(whole.evaluate()), (Ints{9, 5, 9}));
}

TEST(MlArrayFeatureExtractor, PicksOnTheLastAxis)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 3}, {0, 1, 2, 3, 4, 5});
    graph.builder().ints("i", {2, 0});
    graph.add("ai.onnx.ml.ArrayFeatureExtractor", {"x", "i"});
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{2, 0, 5, 3}));

    ConstantGraph row;
    row.input<int32_t>("x", {3}, {7, 8, 9});
    row.builder().ints("i", {1});
    row.add("ai.onnx.ml.ArrayFeatureExtractor", {"x", "i"});
    EXPECT_EQ(dims_of(row.evaluate()), (Dims{1, 1}));
    EXPECT_EQ(values_of<int32_t>(row.evaluate()), (std::vector<int32_t>{8}));

    ConstantGraph outside;
    outside.input<float>("x", {1, 3}, {0, 1, 2});
    outside.builder().ints("i", {3});
    outside.add("ai.onnx.ml.ArrayFeatureExtractor", {"x", "i"});
    outside.expect_failure(TENGINE_ERANGE, "index 0 is 3, the input has 3 features");
}

TEST(MlFeatureVectorizer, JoinsColumns)
{
    ConstantGraph graph;
    graph.input<float>("a", {2, 1}, {1, 2});
    graph.input<int64_t>("b", {2, 2}, {3, 4, 5, 6});
    set_ints(graph.add("ai.onnx.ml.FeatureVectorizer", {"a", "b"}), "inputdimensions", {1, 2});
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{1, 3, 4, 2, 5, 6}));

    // Further axes after the rows are features, as in ONNX Runtime.
    ConstantGraph deep;
    deep.input<float>("a", {2, 2, 1}, {1, 2, 3, 4});
    deep.input<float>("b", {2, 1}, {5, 6});
    set_ints(deep.add("ai.onnx.ml.FeatureVectorizer", {"a", "b"}), "inputdimensions", {2, 1});
    EXPECT_EQ(dims_of(deep.evaluate()), (Dims{2, 3}));
    EXPECT_EQ(values_of<float>(deep.evaluate()), (Floats{1, 2, 5, 3, 4, 6}));

    ConstantGraph wrong;
    wrong.input<float>("a", {2, 1}, {1, 2});
    set_ints(wrong.add("ai.onnx.ml.FeatureVectorizer", {"a"}), "inputdimensions", {2});
    wrong.expect_failure(TENGINE_EINVAL, "input 0 has 1 features, inputdimensions 2");
}

TEST(MlOneHotEncoder, CategoriesBecomeAnAxis)
{
    ConstantGraph graph;
    graph.input<float>("x", {3}, {2.9f, 7, kNan});
    set_ints(graph.add("ai.onnx.ml.OneHotEncoder", {"x"}), "cats_int64s", {5, 2});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{3, 2}));
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{0, 1, 0, 0, 0, 0}));

    ConstantGraph strict;
    strict.input<int64_t>("x", {1}, {7});
    node* made = strict.add("ai.onnx.ml.OneHotEncoder", {"x"});
    set_ints(made, "cats_int64s", {5, 2});
    EXPECT_EQ(set_node_int(made, "zeros", 0), 0);
    strict.expect_failure(TENGINE_ERANGE, "7 is in no category");
}

// The last of equal keys applies; NaN matches NaN from opset 4 on.
Ints encode(int opset)
{
    ConstantGraph graph;
    graph.opset = opset;
    graph.input<float>("x", {4}, {1, -0.0f, kNan, 3});
    node* made = graph.add("ai.onnx.ml.LabelEncoder", {"x"});
    set_floats(made, "keys_floats", {1, 0, kNan, 1});
    set_ints(made, "values_int64s", {10, 20, 30, 40});
    EXPECT_EQ(set_node_int(made, "default_int64", -7), 0);
    return values_of<int64_t>(graph.evaluate());
}

TEST(MlLabelEncoder, FindsKeys)
{
    EXPECT_EQ(encode(2), (Ints{40, 20, -7, -7}));
    EXPECT_EQ(encode(4), (Ints{40, 20, 30, -7}));
}

TEST(MlLabelEncoder, FindsStringsAndGivesThem)
{
    using Texts = std::vector<std::string>;
    const char* const words[] = {"one", "two"};
    ConstantGraph keys;
    keys.opset = 2;
    keys.texts("x", {3}, {"two", "three", "one"});
    node* made = keys.add("ai.onnx.ml.LabelEncoder", {"x"});
    EXPECT_EQ(set_node_texts(made, "keys_strings", words, 2), 0);
    set_ints(made, "values_int64s", {1, 2});
    EXPECT_EQ(values_of<int64_t>(keys.evaluate()), (Ints{2, -1, 1}));

    ConstantGraph values;
    values.opset = 2;
    values.builder().ints("x", {2, 3, 1});
    made = values.add("ai.onnx.ml.LabelEncoder", {"x"});
    set_ints(made, "keys_int64s", {1, 2});
    EXPECT_EQ(set_node_texts(made, "values_strings", words, 2), 0);
    EXPECT_EQ(texts_of(values.evaluate()), (Texts{"two", "_Unused", "one"}));

    ConstantGraph places;
    places.opset = 1;
    places.texts("x", {2}, {"two", "?"});
    made = places.add("ai.onnx.ml.LabelEncoder", {"x"});
    EXPECT_EQ(set_node_texts(made, "classes_strings", words, 2), 0);
    EXPECT_EQ(values_of<int64_t>(places.evaluate()), (Ints{1, -1}));

    ConstantGraph names;
    names.opset = 1;
    names.builder().ints("x", {1, 2});
    made = names.add("ai.onnx.ml.LabelEncoder", {"x"});
    EXPECT_EQ(set_node_texts(made, "classes_strings", words, 2), 0);
    EXPECT_EQ(texts_of(names.evaluate()), (Texts{"two", "_Unused"}));
}

TEST(MlOneHotEncoder, TakesStrings)
{
    const char* const words[] = {"one", "two"};
    ConstantGraph graph;
    graph.texts("x", {2}, {"two", "?"});
    EXPECT_EQ(
        set_node_texts(graph.add("ai.onnx.ml.OneHotEncoder", {"x"}), "cats_strings", words, 2), 0);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (Floats{0, 1, 0, 0}));

    ConstantGraph strict;
    strict.texts("x", {1}, {"?"});
    node* made = strict.add("ai.onnx.ml.OneHotEncoder", {"x"});
    EXPECT_EQ(set_node_texts(made, "cats_strings", words, 2), 0);
    EXPECT_EQ(set_node_int(made, "zeros", 0), 0);
    strict.expect_failure(TENGINE_ERANGE, "\"?\" is in no category");
}

TEST(MlLabelEncoder, ListsOfTwoLengthsAreRefused)
{
    ConstantGraph lengths;
    lengths.builder().ints("x", {1});
    node* made = lengths.add("ai.onnx.ml.LabelEncoder", {"x"});
    set_ints(made, "keys_int64s", {1, 2});
    set_floats(made, "values_floats", {1});
    lengths.expect_failure(TENGINE_EINVAL, "2 keys and 1 values");
}

}  // namespace
}  // namespace tengine::test
