// SPDX-License-Identifier: Apache-2.0
// Element by element: sums and products of two tensors, clamps, tables and conversions.
#include "cases/quantized.h"

namespace tengine::tools {
namespace {

struct Pair
{
    Operand a, b;
    double a_zero = 117, b_zero = 131, y_zero = 140;
    double y_scale = 0;  // 0: results fill the range
};

void add_pair(const std::string& op, const Pair& pair, std::vector<Case>* cases)
{
    const double usual = op == "com.microsoft.QLinearMul" ? 0.31 : 0.093;
    Case made = {op,
                 {pair.a, scales({0.043}), zero_points({pair.a_zero}), pair.b, scales({0.061}),
                  zero_points({pair.b_zero}), scales({pair.y_scale == 0 ? usual : pair.y_scale}),
                  zero_points({pair.y_zero})}};
    made.types = byte_types();
    cases->push_back(made);
}

void add_pairs(const std::string& op, std::vector<Case>* cases)
{
    for (const int size : {7, 13, 17, 33})
        add_pair(op, {fed_bytes({size}), fed_bytes({size})}, cases);
    add_pair(op, {constant_bytes({5, 1, 1}), fed_bytes({2, 5, 7, 9})}, cases);
    add_pair(op, {fed_bytes({7, 33}), constant_bytes({1})}, cases);
    add_pair(op, {fed_bytes({1, 8, 13, 13}), fed_bytes({1, 8, 1, 1})}, cases);
    // All pairs of bytes, several workers' work, factors for channels and columns, both broadcast.
    for (const auto& [a, b] : std::vector<std::pair<std::vector<int>, std::vector<int>>>{
             {{256, 256}, {256, 256}},
             {{3, 7, 13, 17}, {3, 7, 13, 17}},
             {{2, 5, 9, 33}, {2, 1, 1, 33}},
             {{2, 33, 7, 5}, {2, 33, 1, 1}},
             {{19}, {3, 41, 19}},
             {{1}, {7, 65}},
             {{4, 1, 64}, {1, 130, 1}},
             {{}, {}},
             {{0, 3}, {3}}})
        add_pair(op, {fed_bytes(a), fed_bytes(b)}, cases);
    const Operand some = fed_bytes({7, 33});
    for (const double zero : {0, 255}) {
        add_pair(op, {some, some, zero}, cases);
        add_pair(op, {some, some, 117, zero}, cases);
        add_pair(op, {some, some, 117, 131, zero}, cases);
    }
    for (const double scale : {0.0113, 3.7})
        add_pair(op, {some, some, 117, 131, 140, scale}, cases);
}

// Bounds of Clip are bytes as they are.
void add_clamps(std::vector<Case>* cases)
{
    for (const std::vector<int>& dims :
         std::vector<std::vector<int>>{{1}, {7}, {2, 5, 7, 9}, {1000}}) {
        const auto add = [&](const Operand& low, const Operand& high) {
            Case made = {"Clip", {fed_bytes(dims), low, high}};
            made.types = byte_types();
            cases->push_back(made);
        };
        for (const auto& [low, high] :
             std::vector<std::pair<double, double>>{{0, 255}, {50, 160}, {128, 200}, {90, 91}})
            add(zero_points({low}), zero_points({high}));
        add(absent(), zero_points({100}));
    }
}

void add_conversions(std::vector<Case>* cases)
{
    const auto add = [&](const char* op, const Operand& input, const Operand& scale,
                         const Operand& zero, int output) {
        Case made = {op, {input, scale, zero}};
        made.types = byte_types();
        made.outputs = {output};
        cases->push_back(made);
    };
    Operand reals = fed({17});
    reals.data_type = TENGINE_DT_FP32;
    reals.low = -3;
    reals.high = 3;
    for (const double zero : {0, 128, 255}) {
        add("QuantizeLinear", reals, scales({0.0237}), zero_points({zero}), kCaseType);
        add("DequantizeLinear", fed_bytes({17}), scales({0.0237}), zero_points({zero}),
            TENGINE_DT_FP32);
    }
    add("DequantizeLinear", fed_bytes({2, 3, 5}), scales({0.1, 0.2, 0.3}), zero_points({1, 2, 3}),
        TENGINE_DT_FP32);
}

}  // namespace

void add_more_quantized_pairs(std::vector<Case>* cases)
{
    add_pairs("com.microsoft.QLinearAdd", cases);
    add_pairs("com.microsoft.QLinearMul", cases);
    add_conversions(cases);
    add_clamps(cases);
    for (const int type : byte_types()) {
        Case made = {"tengine.Lookup", {fed_bytes({3, 13, 17}), constant_bytes({256}, type)}};
        made.types = byte_types();
        made.outputs = {type};
        cases->push_back(made);
    }
}

}  // namespace tengine::tools
