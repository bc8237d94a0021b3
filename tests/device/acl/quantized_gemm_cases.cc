// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "device/acl/quantized_case.h"

namespace tengine::acl {
namespace {

struct Gemm
{
    std::vector<int> a;
    int k, n;
    bool per_channel = false, transposed = false, is_gemm = true;
    int a_zero = 117, b_zero = 128, y_zero = 140;
    int weight_type = -1;
    std::vector<int> addend = {};
    float gain = 1, alpha = 1;
    std::string refusal = "";
};

QuantizedCase make_gemm(const Gemm& gemm)
{
    const float scale = gemm.gain / (90 * std::sqrt(static_cast<float>(gemm.k)));
    std::vector<float> b_scales = {scale};
    std::vector<int> b_zeros = {gemm.b_zero};
    for (int i = 1; i < gemm.n && gemm.per_channel; ++i) {
        b_scales.push_back(scale * (1 + 0.07F * static_cast<float>(i % 5)));
        b_zeros.push_back(gemm.b_zero);
    }
    const std::vector<int> dims =
        gemm.transposed ? std::vector<int>{gemm.n, gemm.k} : std::vector<int>{gemm.k, gemm.n};
    QuantizedCase made = {gemm.is_gemm ? "com.microsoft.QGemm" : "QLinearMatMul",
                          {fed_bytes(gemm.a), scales({0.043F}), zero_points({gemm.a_zero}),
                           constant_bytes(dims, gemm.weight_type), scales(b_scales),
                           zero_points(b_zeros, gemm.weight_type)}};
    if (gemm.is_gemm) {
        made.inputs.push_back(gemm.addend.empty() ? none() : sums(gemm.addend));
        made.integers = {{"transB", gemm.transposed}};
        made.floats = {{"alpha", gemm.alpha}};
    }
    made.inputs.push_back(scales({0.057F}));
    made.inputs.push_back(zero_points({gemm.y_zero}));
    made.refusal = gemm.refusal;
    return made;
}

std::vector<Gemm> list_shapes()
{
    return {{{1, 1}, 1, 1},    {{1, 7}, 7, 13},      {{7, 13}, 13, 17},  {{17, 1}, 1, 7},
            {{13, 17}, 17, 1}, {{33, 100}, 100, 65}, {{1, 784}, 784, 10}};
}

void add_matmuls(std::vector<QuantizedCase>& cases)
{
    for (Gemm gemm : list_shapes()) {
        gemm.is_gemm = false;
        cases.push_back(make_gemm(gemm));
        gemm.b_zero = 77;
        cases.push_back(make_gemm(gemm));
        gemm.per_channel = true;
        gemm.b_zero = 128;
        gemm.weight_type = TENGINE_DT_INT8;
        cases.push_back(make_gemm(gemm));
    }
    for (const std::vector<int>& a :
         std::vector<std::vector<int>>{{17}, {2, 7, 17}, {3, 1, 5, 17}}) {
        Gemm gemm = {a, 17, 13};
        gemm.is_gemm = false;
        cases.push_back(make_gemm(gemm));
    }
    // One scale for each row.
    Gemm gemm = {{7, 13}, 13, 17};
    gemm.is_gemm = false;
    QuantizedCase by_row = make_gemm(gemm);
    by_row.inputs[1] = scales({0.04F, 0.05F, 0.04F, 0.05F, 0.04F, 0.05F, 0.06F});
    by_row.inputs[2] = zero_points({1, 2, 3, 4, 5, 6, 7});
    by_row.refusal = "has several scales";
    cases.push_back(by_row);
    QuantizedCase stack = make_gemm(gemm);
    stack.inputs[0].dims = {2, 7, 13};
    stack.inputs[3].dims = {2, 13, 17};
    stack.refusal = "b is a stack of matrices";
    cases.push_back(stack);
    QuantizedCase computed = make_gemm(gemm);
    computed.inputs[3] = fed_bytes({13, 17});
    computed.refusal = "the weights must be constant";
    cases.push_back(computed);
}

}  // namespace

void add_quantized_gemm_cases(std::vector<QuantizedCase>& cases)
{
    for (const Gemm& shape : list_shapes()) {
        for (const bool transposed : {false, true}) {
            for (const int weight_type : {-1, int{TENGINE_DT_INT8}, int{TENGINE_DT_UINT8}}) {
                Gemm gemm = shape;
                gemm.transposed = transposed;
                gemm.weight_type = weight_type;
                gemm.b_zero = 101;
                gemm.addend = {gemm.n};
                cases.push_back(make_gemm(gemm));
                gemm.per_channel = true;
                gemm.b_zero = 128;
                cases.push_back(make_gemm(gemm));
            }
        }
    }
    for (const int zero : {0, 255}) {
        Gemm gemm = {{7, 13}, 13, 17};
        gemm.a_zero = gemm.y_zero = zero;
        cases.push_back(make_gemm(gemm));
        gemm.b_zero = zero;
        gemm.gain = 0.5F;
        cases.push_back(make_gemm(gemm));
    }
    for (const float gain : {0.02F, 7.0F, 400.0F}) {
        Gemm gemm = {{7, 13}, 13, 17};
        gemm.gain = gain;
        gemm.alpha = 0.7F;
        gemm.addend = {1, 17};
        cases.push_back(make_gemm(gemm));
        gemm.addend = {1};
        gemm.per_channel = true;
        cases.push_back(make_gemm(gemm));
    }
    Gemm gemm = {{7, 13}, 13, 17};
    gemm.addend = {7, 17};
    gemm.refusal = "C has a value for each element";
    cases.push_back(make_gemm(gemm));
    gemm.addend = {7, 1};
    gemm.refusal = "expected one for each column";
    cases.push_back(make_gemm(gemm));
    gemm = {{13, 13}, 13, 13};
    gemm.addend = {13, 1};
    gemm.refusal = "C has a value for each row";
    cases.push_back(make_gemm(gemm));
    gemm.addend = {};
    gemm.refusal = "ACL does not support transA 1";
    cases.push_back(make_gemm(gemm));
    cases.back().integers.push_back({"transA", 1});
    add_matmuls(cases);
}

}  // namespace tengine::acl
