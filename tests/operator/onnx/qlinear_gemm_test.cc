// SPDX-License-Identifier: Apache-2.0
// QGemm against its definition, sums beyond int32, and refusals of shape inference.
#include "operator/param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

constexpr const char* kGemm = "com.microsoft.QGemm";

struct GemmCase
{
    int m, k, n;
    bool transposed_a, transposed_b, per_column, with_addend;
    float alpha;
};

// Returns the index of element (row, column) of a matrix of `columns`, or of its transpose, which
// has `rows` columns.
size_t element(int row, int column, int rows, int columns, bool transposed)
{
    return static_cast<size_t>(transposed ? column * rows + row : row * columns + column);
}

template <class A, class B, class Y>
void check_gemm(const GemmCase& c)
{
    SCOPED_TRACE(testing::Message() << c.m << "x" << c.k << "x" << c.n << " " << c.transposed_a
                                    << c.transposed_b << c.per_column << c.with_addend);
    const auto a = random_bytes<A>(static_cast<size_t>(c.m * c.k), 1);
    const auto b = random_bytes<B>(static_cast<size_t>(c.k * c.n), 2);
    const int scale_num = c.per_column ? c.n : 1;
    std::vector<float> b_scale(static_cast<size_t>(scale_num));
    std::vector<B> b_zero(static_cast<size_t>(scale_num));
    for (int j = 0; j < scale_num; ++j) {
        b_scale[static_cast<size_t>(j)] = 0.01f + 0.0007f * static_cast<float>(j);
        b_zero[static_cast<size_t>(j)] = static_cast<B>(j - 5);
    }
    std::vector<int32_t> addend(static_cast<size_t>(c.n));
    for (int j = 0; j < c.n; ++j)
        addend[static_cast<size_t>(j)] = 997 * (j - 3);

    ConstantGraph graph;
    add_tensor<A>(&graph, "a", c.transposed_a ? std::vector{c.k, c.m} : std::vector{c.m, c.k}, a,
                  0.03f, 17);
    graph.input<B>("b", c.transposed_b ? std::vector{c.n, c.k} : std::vector{c.k, c.n}, b);
    graph.input<float>("b_scale", {scale_num}, b_scale);
    graph.input<B>("b_zero", {scale_num}, b_zero);
    graph.input<int32_t>("c", {c.n}, addend);
    add_result<Y>(&graph, 0.9f, 4);
    node* node = graph.add(kGemm, {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero",
                                   c.with_addend ? "c" : "", "y_scale", "y_zero"});
    set_node_int(node, "transA", c.transposed_a);
    set_node_int(node, "transB", c.transposed_b);
    set_node_float(node, "alpha", c.alpha);
    const tensor* y = graph.evaluate();
    ASSERT_EQ(dims_of(y), (std::vector<int>{c.m, c.n}));
    const auto values = values_of<Y>(y);
    for (int i = 0; i < c.m; ++i)
        for (int j = 0; j < c.n; ++j) {
            const size_t slice = static_cast<size_t>(c.per_column ? j : 0);
            int64_t sum = c.with_addend ? addend[static_cast<size_t>(j)] : 0;
            for (int k = 0; k < c.k; ++k)
                sum += (a[element(i, k, c.m, c.k, c.transposed_a)] - 17) *
                       (b[element(k, j, c.k, c.n, c.transposed_b)] - b_zero[slice]);
            const long double real = static_cast<long double>(c.alpha) * 0.03f * b_scale[slice];
            ASSERT_EQ(values[static_cast<size_t>(i * c.n + j)],
                      quantize<Y>(static_cast<long double>(sum) * real / 0.9f, 4));
        }
}

template <class A, class B>
void check_gemms()
{
    check_gemm<A, B, int8_t>({1, 1, 1, false, false, false, false, 1});
    check_gemm<A, B, uint8_t>({5, 13, 7, false, false, true, true, 1});
    check_gemm<A, B, int8_t>({3, 40, 130, true, false, true, true, 1});
    check_gemm<A, B, uint8_t>({4, 17, 9, false, true, true, false, 0.5f});
    check_gemm<A, B, int8_t>({2, 9, 11, true, true, false, true, 2});
}

TEST(QGemm, IsItsDefinition)
{
    check_gemms<int8_t, int8_t>();
    check_gemms<int8_t, uint8_t>();
    check_gemms<uint8_t, int8_t>();
    check_gemms<uint8_t, uint8_t>();
}

// More products than int32 certainly holds: a sum of 40000 * 255 * 255 and its saturation.
TEST(QGemm, SumsBeyondThirtyTwoBits)
{
    constexpr int kDepth = 40000;
    ConstantGraph graph;
    add_tensor<uint8_t>(&graph, "a", {1, kDepth}, std::vector<uint8_t>(kDepth, 255), 1, 0);
    std::vector<uint8_t> b(2 * kDepth, 255);
    std::fill_n(b.begin(), kDepth, uint8_t{1});
    add_tensor<uint8_t>(&graph, "b", {2, kDepth}, b, 1, 0);
    add_result<uint8_t>(&graph, 102000, 0);
    set_node_int(graph.add(kGemm, {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "",
                                   "y_scale", "y_zero"}),
                 "transB", 1);
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{100, 255}));
}

TEST(QGemm, RefusesWhatDoesNotFit)
{
    const auto refuse = [](size_t index, const char* name, float alpha, int code,
                           const char* part) {
        ConstantGraph graph;
        add_tensor<uint8_t>(&graph, "a", {1, 2}, {1, 2}, 1, 0);
        add_tensor<uint8_t>(&graph, "b", {2, 3}, {1, 2, 3, 4, 5, 6}, 1, 0);
        add_result<uint8_t>(&graph, 1, 0);
        graph.input<float>("two", {2}, {1, 1});
        graph.input<uint8_t>("list", {2}, {1, 2});
        graph.input<int32_t>("c", {2}, {1, 2});
        std::vector<std::string> inputs = {"a",      "a_scale", "a_zero",  "b",     "b_scale",
                                           "b_zero", "",        "y_scale", "y_zero"};
        inputs[index] = name;
        set_node_float(graph.add(kGemm, inputs), "alpha", alpha);
        graph.expect_failure(code, part);
    };
    refuse(7, "", 1, TENGINE_ENOTSUP, "y_scale is missing: a float result is not supported");
    refuse(7, "y_scale", -1, TENGINE_ERANGE, "alpha is -1, expected a positive number");
    refuse(4, "two", 1, TENGINE_EINVAL, "2 values, expected 1 value or a list of 3");
    refuse(1, "two", 1, TENGINE_EINVAL, "2 values, expected 1 value");
    refuse(0, "list", 1, TENGINE_EINVAL, "A has rank 1 and B rank 2, expected matrices");
    refuse(6, "c", 1, TENGINE_EINVAL, "does not broadcast to 1 x 3");
    refuse(6, "y_scale", 1, TENGINE_EDTYPE, "expected one of: int32");
}

TEST(QGemm, MultiplyAccumulates)
{
    ConstantGraph graph;
    add_tensor<uint8_t>(&graph, "a", {4, 5}, std::vector<uint8_t>(20), 1, 0);
    add_tensor<uint8_t>(&graph, "b", {5, 3}, std::vector<uint8_t>(15), 1, 0);
    add_result<uint8_t>(&graph, 1, 0);
    node* node = graph.add(
        kGemm, {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "", "y_scale", "y_zero"});
    ASSERT_EQ(node->op.infer_shape(node), 0);
    EXPECT_EQ(get_ir_node_macs(node), 4 * 5 * 3);
}

}  // namespace
}  // namespace tengine::test
