// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "cases/quantized.h"

namespace tengine::tools {
namespace {

struct Product
{
    std::vector<int> a;
    int k, n;
    bool is_per_channel = false, is_transposed = false;
    double a_zero = 117, b_zero = 128, y_zero = 140;
    int weight_type = kCaseType;
    std::vector<int> addend = {};
    double gain = 1;
    float alpha = 1;
};

std::vector<Operand> make_operands(const Product& product)
{
    const double scale = product.gain * weight_scale(product.k);
    const int scale_number = product.is_per_channel ? product.n : 1;
    const std::vector<double> zeros(static_cast<size_t>(scale_number), product.b_zero);
    const std::vector<int> dims = product.is_transposed ? std::vector<int>{product.n, product.k}
                                                        : std::vector<int>{product.k, product.n};
    return {fed_bytes(product.a),
            scales({0.043}),
            zero_points({product.a_zero}),
            constant_bytes(dims, product.weight_type),
            scales(spread(scale, scale_number)),
            zero_points(zeros, product.weight_type)};
}

Case make_matmul(const Product& product)
{
    Case made = {"QLinearMatMul", make_operands(product)};
    made.inputs.push_back(scales({0.057}));
    made.inputs.push_back(zero_points({product.y_zero}));
    made.types = byte_types();
    return made;
}

Case make_gemm(const Product& product)
{
    Case made = {"com.microsoft.QGemm", make_operands(product)};
    made.inputs.push_back(product.addend.empty() ? absent() : sums(product.addend));
    made.inputs.push_back(scales({0.057}));
    made.inputs.push_back(zero_points({product.y_zero}));
    made.ints = {{"transB", product.is_transposed}};
    made.floats = {{"alpha", product.alpha}};
    made.types = byte_types();
    return made;
}

std::vector<Product> list_products()
{
    return {{{1, 1}, 1, 1},    {{1, 7}, 7, 13},      {{7, 13}, 13, 17},  {{17, 1}, 1, 7},
            {{13, 17}, 17, 1}, {{33, 100}, 100, 65}, {{1, 784}, 784, 10}};
}

// Stacks of matrices, with constant weights and computed ones, whole numbers of vectors and others.
void add_stacks(std::vector<Case>* cases)
{
    for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{
             {1, 64, 10}, {3, 5, 33}, {17, 130, 70}, {40, 768, 64}, {2, 2, 1}}) {
        Case made = make_matmul({{2, m, k}, k, n});
        cases->push_back(made);
        made.inputs[3] = fed_bytes({2, k, n});
        cases->push_back(made);
        Case plain = {"MatMulInteger",
                      {fed_bytes({2, m, k}), constant_bytes({k, n}), zero_points({117}),
                       zero_points(std::vector<double>(static_cast<size_t>(n), 77))}};
        plain.inputs[3].dims = {n};
        plain.types = byte_types();
        plain.outputs = {TENGINE_DT_INT32};
        cases->push_back(plain);
    }
}

void add_matmuls(std::vector<Case>* cases)
{
    for (Product product : list_products()) {
        product.b_zero = 77;
        cases->push_back(make_matmul(product));
        product.is_per_channel = true;
        product.b_zero = 128;
        product.weight_type = TENGINE_DT_INT8;
        cases->push_back(make_matmul(product));
    }
    const Product middle = {{7, 13}, 13, 17};
    cases->push_back(make_matmul(middle));
    cases->push_back(make_matmul({{13, 17}, 17, 1}));
    for (const std::vector<int>& a : std::vector<std::vector<int>>{{17}, {2, 7, 17}, {3, 1, 5, 17}})
        cases->push_back(make_matmul({a, 17, 13}));
    Case by_row = make_matmul(middle);
    by_row.inputs[1] = scales({0.04, 0.05, 0.04, 0.05, 0.04, 0.05, 0.06});
    by_row.inputs[2] = zero_points({1, 2, 3, 4, 5, 6, 7});
    cases->push_back(by_row);
    Case stack = make_matmul(middle);
    stack.inputs[0].dims = {2, 7, 13};
    stack.inputs[3].dims = {2, 13, 17};
    cases->push_back(stack);
    Case computed = make_matmul(middle);
    computed.inputs[3] = fed_bytes({13, 17});
    cases->push_back(computed);
}

void add_gemms(std::vector<Case>* cases)
{
    for (Product product : list_products())
        for (const bool is_transposed : {false, true})
            for (const int weight_type : {kCaseType, int{TENGINE_DT_INT8}, int{TENGINE_DT_UINT8}}) {
                product.is_transposed = is_transposed;
                product.weight_type = weight_type;
                product.addend = {product.n};
                product.b_zero = 101;
                product.is_per_channel = false;
                cases->push_back(make_gemm(product));
                product.b_zero = 128;
                product.is_per_channel = true;
                cases->push_back(make_gemm(product));
            }
}

// Zero points and results at both ends.
void add_extremes(const Product& middle, std::vector<Case>* cases)
{
    for (const double zero : {0, 255}) {
        Product product = middle;
        product.a_zero = product.y_zero = zero;
        cases->push_back(make_gemm(product));
        product.b_zero = zero;
        product.gain = 0.5;
        cases->push_back(make_gemm(product));
    }
    for (const double gain : {0.02, 7.0, 400.0}) {
        Product product = middle;
        product.gain = gain;
        product.alpha = 0.7F;
        product.addend = {1, 17};
        cases->push_back(make_gemm(product));
        product.addend = {1};
        product.n = 7;  // so few that the name has all scales
        product.is_per_channel = true;
        cases->push_back(make_gemm(product));
    }
}

// Addends for each element and for each row, and a transposed matrix.
void add_others(const Product& middle, std::vector<Case>* cases)
{
    for (const std::vector<int>& addend : std::vector<std::vector<int>>{{7, 17}, {7, 1}}) {
        Product product = middle;
        product.addend = addend;
        cases->push_back(make_gemm(product));
    }
    Product square = {{13, 13}, 13, 13};
    Case transposed = make_gemm(square);
    transposed.ints.push_back({"transA", 1});
    cases->push_back(transposed);
    square.addend = {13, 1};
    cases->push_back(make_gemm(square));
}

}  // namespace

void add_more_quantized_products(std::vector<Case>* cases)
{
    const Product middle = {{7, 13}, 13, 17};
    add_gemms(cases);
    add_extremes(middle, cases);
    add_others(middle, cases);
    add_matmuls(cases);
    add_stacks(cases);
}

}  // namespace tengine::tools
