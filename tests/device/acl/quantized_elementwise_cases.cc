// SPDX-License-Identifier: Apache-2.0
#include "device/acl/quantized_case.h"

namespace tengine::acl {
namespace {

const char* rounding_refusal()
{
    return sizeof(void*) > 4 ? "" : "truncates results instead of rounding";
}

void add_pair(std::vector<QuantizedCase>& cases, const std::string& op, const QuantizedInput& a,
              const QuantizedInput& b, std::vector<int> zeros = {117, 131, 140}, float y_scale = 0)
{
    const bool is_product = op == "com.microsoft.QLinearMul";
    if (y_scale == 0) y_scale = is_product ? 0.31F : 0.093F;
    QuantizedCase made = {op,
                          {a, scales({0.043F}), zero_points({zeros[0]}), b, scales({0.061F}),
                           zero_points({zeros[1]}), scales({y_scale}), zero_points({zeros[2]})}};
    made.refusal = rounding_refusal();
    cases.push_back(made);
}

void add_pairs(std::vector<QuantizedCase>& cases, const std::string& op)
{
    for (const int size : {1, 7, 13, 17, 33, 1000})
        add_pair(cases, op, fed_bytes({size}), fed_bytes({size}));
    add_pair(cases, op, fed_bytes({2, 5, 7, 9}), fed_bytes({2, 5, 7, 9}));
    add_pair(cases, op, fed_bytes({2, 5, 7, 9}), constant_bytes({5, 1, 1}));
    add_pair(cases, op, constant_bytes({5, 1, 1}), fed_bytes({2, 5, 7, 9}));
    add_pair(cases, op, fed_bytes({7, 33}), constant_bytes({1}));
    add_pair(cases, op, fed_bytes({2, 3, 17}), fed_bytes({17}));
    add_pair(cases, op, fed_bytes({1, 8, 13, 13}), fed_bytes({1, 8, 1, 1}));
    for (const int zero : {0, 255}) {
        add_pair(cases, op, fed_bytes({7, 33}), fed_bytes({7, 33}), {zero, 131, 140});
        add_pair(cases, op, fed_bytes({7, 33}), fed_bytes({7, 33}), {117, zero, 140});
        add_pair(cases, op, fed_bytes({7, 33}), fed_bytes({7, 33}), {117, 131, zero});
    }
    add_pair(cases, op, fed_bytes({7, 33}), fed_bytes({7, 33}), {117, 131, 140}, 0.0113F);
    add_pair(cases, op, fed_bytes({7, 33}), fed_bytes({7, 33}), {117, 131, 140}, 3.7F);
}

void add_clamps(std::vector<QuantizedCase>& cases)
{
    for (const std::vector<int>& dims :
         std::vector<std::vector<int>>{{1}, {7}, {2, 5, 7, 9}, {1000}}) {
        // Bounds of Clip: bytes as they are.
        for (const auto& [low, high] : {std::pair{0, 255}, {50, 160}, {128, 200}, {90, 91}})
            cases.push_back({"Clip", {fed_bytes(dims), zero_points({low}), zero_points({high})}});
        cases.push_back({"Clip", {fed_bytes(dims), none(), zero_points({100})}});
        cases.push_back({"Relu", {fed_bytes(dims, TENGINE_DT_INT8)}});
        cases.push_back({"tengine.Lookup", {fed_bytes(dims), constant_bytes({256})}});
    }
    cases.push_back(
        {"tengine.Lookup", {fed_bytes({3, 13, 17}), constant_bytes({256}, TENGINE_DT_INT8)}});
    cases.push_back(
        {"tengine.Lookup", {fed_bytes({3, 13, 17}), constant_bytes({256}, TENGINE_DT_UINT8)}});
}

}  // namespace

void add_quantized_elementwise_cases(std::vector<QuantizedCase>& cases)
{
    add_pairs(cases, "com.microsoft.QLinearAdd");
    add_pairs(cases, "com.microsoft.QLinearMul");
    for (const std::vector<int>& dims :
         std::vector<std::vector<int>>{{1}, {7}, {17}, {2, 5, 7, 9}, {1000}}) {
        for (const int zero : {0, 128, 255}) {
            cases.push_back(
                {"QuantizeLinear", {fed_floats(dims), scales({0.0237F}), zero_points({zero})}});
            cases.back().refusal = rounding_refusal();
            cases.push_back(
                {"DequantizeLinear", {fed_bytes(dims), scales({0.0237F}), zero_points({zero})}});
        }
    }
    cases.push_back({"DequantizeLinear",
                     {fed_bytes({2, 3, 5}), scales({0.1F, 0.2F, 0.3F}), zero_points({1, 2, 3})}});
    cases.back().refusal = "has several scales";
    cases.push_back(
        {"QuantizeLinear", {fed_floats({7}), scales({0.01F}), zero_points({1}, TENGINE_DT_INT16)}});
    cases.back().refusal = "int16, which the device does not support";
    add_clamps(cases);
}

}  // namespace tengine::acl
