// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: modes, weights, lengths, empty inputs and inconsistent pools.
#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

// The pool has the values 2 and 3 and the pairs 5, 6 and 7, 8.
struct Vectorizer
{
    const char* mode = "TF";
    int min_length = 1;
    int max_length = 2;
    int max_skip = 0;
    Ints counts = {0, 2};
    Ints indexes = {0, 1, 2, 3};
    Ints pool = {2, 3, 5, 6, 7, 8};
    Floats weights = {};
};

void set_ints(node* made, const char* name, const Ints& values)
{
    ASSERT_EQ(set_node_ints(made, name, values.data(), static_cast<int>(values.size())), 0);
}

// Reads tensor "x".
node* add_vectorizer(ConstantGraph& graph, const Vectorizer& vectorizer)
{
    node* made = graph.add("TfIdfVectorizer", {"x"});
    const std::string mode = vectorizer.mode;
    EXPECT_EQ(set_node_text(made, "mode", mode.data(), mode.size()), 0);
    EXPECT_EQ(set_node_int(made, "min_gram_length", vectorizer.min_length), 0);
    EXPECT_EQ(set_node_int(made, "max_gram_length", vectorizer.max_length), 0);
    EXPECT_EQ(set_node_int(made, "max_skip_count", vectorizer.max_skip), 0);
    set_ints(made, "ngram_counts", vectorizer.counts);
    set_ints(made, "ngram_indexes", vectorizer.indexes);
    set_ints(made, "pool_int64s", vectorizer.pool);
    const Floats& weights = vectorizer.weights;
    EXPECT_EQ(set_node_floats(made, "weights", weights.data(), static_cast<int>(weights.size())),
              0);
    return made;
}

Floats vectorize(const Vectorizer& vectorizer, const Ints& values)
{
    ConstantGraph graph;
    graph.builder().ints("x", values);
    add_vectorizer(graph, vectorizer);
    return numbers_of(graph.evaluate());
}

void expect_refusal(const Vectorizer& vectorizer, int code, const char* part)
{
    ConstantGraph graph;
    graph.builder().ints("x", {2, 3});
    add_vectorizer(graph, vectorizer);
    graph.expect_failure(code, part);
}

TEST(TfIdfVectorizer, ModesAndWeights)
{
    const Ints values = {3, 5, 6, 3, 5, 6, 3, 5, 6, 2};
    Vectorizer vectorizer;
    EXPECT_EQ(vectorize(vectorizer, values), (Floats{1, 3, 3, 0}));
    vectorizer.weights = {0.5f, 2, 3, 4};
    EXPECT_EQ(vectorize(vectorizer, values), (Floats{1, 3, 3, 0}));
    vectorizer.mode = "IDF";
    EXPECT_EQ(vectorize(vectorizer, values), (Floats{0.5f, 2, 3, 0}));
    vectorizer.mode = "TFIDF";
    EXPECT_EQ(vectorize(vectorizer, values), (Floats{0.5f, 6, 9, 0}));
    vectorizer.weights = {};
    EXPECT_EQ(vectorize(vectorizer, values), (Floats{1, 3, 3, 0}));
}

// Weights belong to the n-grams of the pool, regardless of their index in the output.
TEST(TfIdfVectorizer, IndexesPlaceTheNgrams)
{
    Vectorizer vectorizer;
    vectorizer.mode = "TFIDF";
    vectorizer.indexes = {5, 0, 2, 2};
    vectorizer.weights = {1, 2, 3, 4};
    EXPECT_EQ(vectorize(vectorizer, {2, 3, 5, 6, 7, 8}), (Floats{2, 0, 7, 0, 0, 1}));
}

TEST(TfIdfVectorizer, SkipsWiderThanTheSequence)
{
    Vectorizer vectorizer;
    vectorizer.max_skip = INT32_MAX;
    EXPECT_EQ(vectorize(vectorizer, {5, 7, 6, 8}), (Floats{0, 0, 1, 1}));
    EXPECT_EQ(vectorize(vectorizer, {2, 2, 5}), (Floats{2, 0, 0, 0}));
}

TEST(TfIdfVectorizer, OnlyTheLengthsAskedFor)
{
    Vectorizer vectorizer;
    vectorizer.min_length = 2;
    EXPECT_EQ(vectorize(vectorizer, {2, 5, 6}), (Floats{0, 0, 1, 0}));
    vectorizer.min_length = 1;
    vectorizer.max_length = 1;
    EXPECT_EQ(vectorize(vectorizer, {2, 5, 6}), (Floats{1, 0, 0, 0}));
}

TEST(TfIdfVectorizer, LongValuesAreNotCutToInt32)
{
    ConstantGraph graph;
    graph.input<int32_t>("x", {2}, {2, 3});
    Vectorizer vectorizer;
    vectorizer.pool[0] = (int64_t{1} << 32) + 2;
    add_vectorizer(graph, vectorizer);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{0, 1, 0, 0}));
}

TEST(TfIdfVectorizer, EmptyInputs)
{
    EXPECT_EQ(vectorize({}, {}), Floats(4));

    ConstantGraph rows;
    rows.input<int32_t>("x", {2, 0}, {});
    add_vectorizer(rows, {});
    EXPECT_EQ(numbers_of(rows.evaluate()), Floats(8));

    ConstantGraph none;
    none.input<int32_t>("x", {0, 3}, {});
    add_vectorizer(none, {});
    EXPECT_EQ(dims_of(none.evaluate()), (Dims{0, 4}));
}

TEST(TfIdfVectorizer, RefusesAnEmptyPool)
{
    Vectorizer vectorizer;
    vectorizer.counts = {0, 0};
    vectorizer.indexes = {};
    vectorizer.pool = {};
    expect_refusal(vectorizer, TENGINE_EGRAPH, "ngram_indexes");
}

TEST(TfIdfVectorizer, RefusesPools)
{
    for (const Ints& counts :
         {Ints{0, 1}, Ints{0, 7}, Ints{0, -2}, Ints{0, INT64_MAX}, Ints{0, 4, 2}}) {
        Vectorizer vectorizer;
        vectorizer.counts = counts;
        expect_refusal(vectorizer, TENGINE_EINVAL, "in a pool of 6 values");
    }
    Vectorizer start;
    start.counts = {1, 2};
    expect_refusal(start, TENGINE_EINVAL, "begins with 1");
    Vectorizer fewer;
    fewer.indexes = {0, 1, 2};
    expect_refusal(fewer, TENGINE_EINVAL, "the pool has 4 n-grams, ngram_indexes has 3");
    Vectorizer weights;
    weights.weights = {1, 2};
    expect_refusal(weights, TENGINE_EINVAL, "2 weights for 4 n-grams");
}

TEST(TfIdfVectorizer, RefusesIndexes)
{
    for (int64_t index : {int64_t{-1}, int64_t{INT32_MAX}, INT64_MAX, INT64_MIN}) {
        Vectorizer vectorizer;
        vectorizer.indexes[2] = index;
        expect_refusal(vectorizer, TENGINE_ERANGE, "ngram_indexes[2] is");
    }
}

TEST(TfIdfVectorizer, RefusesLengths)
{
    Vectorizer longer;
    longer.max_length = 3;
    expect_refusal(longer, TENGINE_EINVAL, "length 1 to 3");
    Vectorizer reversed;
    reversed.min_length = 2;
    reversed.max_length = 1;
    expect_refusal(reversed, TENGINE_EINVAL, "length 2 to 1");
}

TEST(TfIdfVectorizer, RefusesShapesAndTypes)
{
    for (const Dims& dims : {Dims{}, Dims{1, 1, 1}}) {
        ConstantGraph graph;
        graph.input<int32_t>("x", dims, {1});
        add_vectorizer(graph, {});
        graph.expect_failure(TENGINE_EINVAL, "expected 1 or 2");
    }
    ConstantGraph type;
    type.input<float>("x", {1}, {1});
    add_vectorizer(type, {});
    type.expect_failure(TENGINE_EDTYPE, "fp32");
}

TEST(TfIdfVectorizer, CountsStrings)
{
    ConstantGraph graph;
    graph.texts("x", {5}, {"b", "a", "b", "?", "b"});
    node* made = graph.add("TfIdfVectorizer", {"x"});
    // The words "a" and "b", and the pair "a b".
    const char* const words[] = {"a", "b", "a", "b"};
    const int64_t counts[] = {0, 2};
    const int64_t indexes[] = {0, 1, 2};
    ASSERT_EQ(set_node_texts(made, "pool_strings", words, 4), 0);
    ASSERT_EQ(set_node_ints(made, "ngram_counts", counts, 2), 0);
    ASSERT_EQ(set_node_ints(made, "ngram_indexes", indexes, 3), 0);
    ASSERT_EQ(set_node_int(made, "min_gram_length", 1), 0);
    ASSERT_EQ(set_node_int(made, "max_gram_length", 2), 0);
    ASSERT_EQ(set_node_text(made, "mode", "TF", 2), 0);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{1, 3, 1}));
}

}  // namespace
}  // namespace tengine::test
