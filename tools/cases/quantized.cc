// SPDX-License-Identifier: Apache-2.0
#include "cases/quantized.h"

#include <cmath>
#include <tuple>

namespace tengine::tools {
namespace {

constexpr int kSums = TENGINE_DT_INT32;

}  // namespace

Operand sums(std::vector<int> dims)
{
    Operand made = constant(std::move(dims));
    made.data_type = kSums;
    made.low = -5000;
    made.high = 5000;
    return made;
}

std::vector<QuantizedWindow> list_quantized_windows()
{
    return {{{1, 1, 1, 1}, {1, 1, 1, 1}},
            {{1, 19, 7, 7}, {13, 19, 1, 1}},
            {{2, 7, 13, 17}, {5, 7, 1, 1}, {2, 2}},
            {{1, 3, 13, 13}, {7, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{2, 7, 17, 9}, {13, 7, 3, 5}, {2, 1}, {0, 2, 1, 1}},
            {{1, 5, 17, 17}, {17, 5, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
            {{1, 64, 9, 9}, {33, 64, 3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{1, 33, 14, 15}, {17, 33, 3, 3}, {1, 1}, {1, 1, 1, 1}},
            {{2, 7, 33}, {13, 7, 3}, {1}, {1, 1}, {1}},
            {{1, 8, 9, 33}, {8, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 8},
            {{1, 8, 9, 9}, {12, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2}};
}

double weight_scale(int products)
{
    return 1 / (90 * std::sqrt(static_cast<double>(products)));
}

int count_products(const std::vector<int>& weights)
{
    int number = 1;
    for (size_t i = 1; i < weights.size(); ++i)
        number *= weights[i];
    return number;
}

std::vector<double> spread(double scale, int number)
{
    std::vector<double> made;
    for (int i = 0; i < number; ++i)
        made.push_back(scale * (1 + 0.07 * (i % 5)));
    return made;
}

void set_window(const QuantizedWindow& window, Case* of)
{
    of->lists = {
        {"strides", window.strides}, {"pads", window.pads}, {"dilations", window.dilations}};
    of->ints = {{"group", window.group}};
    of->types = byte_types();
}

namespace {

void add_windowed(Case made, const QuantizedWindow& window, std::vector<Case>* cases)
{
    set_window(window, &made);
    cases->push_back(made);
}

void add_convs(std::vector<Case>* cases)
{
    for (const QuantizedWindow& window : list_quantized_windows()) {
        const int outputs = window.weights[0];
        const double scale = weight_scale(count_products(window.weights));
        for (const int w_zero : {128, 119}) {
            Case made = {
                "QLinearConv",
                {fed_bytes(window.input), scales({0.043}), zero_points({117}),
                 constant_bytes(window.weights), scales({scale}), zero_points({w_zero * 1.0}),
                 scales({0.057}), zero_points({140}), sums({outputs})}};
            add_windowed(made, window, cases);
        }
        const std::vector<double> zeros(static_cast<size_t>(outputs), 128);
        Case channels = {
            "QLinearConv",
            {fed_bytes(window.input), scales({0.043}), zero_points({117}),
             constant_bytes(window.weights, TENGINE_DT_INT8), scales(spread(scale, outputs)),
             zero_points(zeros, TENGINE_DT_INT8), scales({0.057}), zero_points({140})}};
        for (Operand* each : {&channels.inputs[4], &channels.inputs[5]})
            each->dims = {outputs};
        add_windowed(channels, window, cases);
        Case plain = {"ConvInteger",
                      {fed_bytes(window.input), constant_bytes(window.weights), zero_points({117}),
                       zero_points({128})}};
        plain.outputs = {kSums};
        add_windowed(plain, window, cases);
    }
}

void add_products(std::vector<Case>* cases)
{
    for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{
             {1, 1, 1}, {1, 7, 13}, {9, 15, 17}, {17, 1, 7}, {33, 100, 65}, {1, 784, 10}}) {
        const std::vector<Operand> operands = {fed_bytes({m, k}),         scales({0.043}),
                                               zero_points({117}),        constant_bytes({k, n}),
                                               scales({weight_scale(k)}), zero_points({128})};
        Case product = {"QLinearMatMul", operands};
        product.inputs.push_back(scales({0.057}));
        product.inputs.push_back(zero_points({140}));
        product.types = byte_types();
        cases->push_back(product);
        product.inputs[3] = fed_bytes({k, n});
        cases->push_back(product);
        Case sum = {"com.microsoft.QGemm", operands};
        sum.inputs.push_back(sums({n}));
        sum.inputs.push_back(scales({0.057}));
        sum.inputs.push_back(zero_points({140}));
        sum.types = byte_types();
        cases->push_back(sum);
        Case plain = {"MatMulInteger", {operands[0], operands[3], operands[2], operands[5]}};
        plain.types = byte_types();
        plain.outputs = {kSums};
        cases->push_back(plain);
    }
}

// Products of int8 or uint8, or of floats that are quantised, with floats as results.
void add_products_to_float(std::vector<Case>* cases)
{
    for (const auto& [m, k, n] :
         std::vector<std::tuple<int, int, int>>{{1, 7, 13}, {9, 64, 17}, {33, 100, 65}}) {
        const Operand weights = constant_bytes({k, n}), weight_zero = zero_points({128});
        Operand bias = constant({n});
        bias.data_type = TENGINE_DT_FP32;
        Case made = {"com.microsoft.MatMulIntegerToFloat",
                     {fed_bytes({m, k}), weights, scales({0.043}), scales(spread(0.011, n)),
                      zero_points({117}), weight_zero, bias}};
        Operand reals = fed({m, k});
        reals.data_type = TENGINE_DT_FP32;
        Case dynamic = {"com.microsoft.DynamicQuantizeMatMul",
                        {reals, weights, scales({0.011}), weight_zero, bias}};
        made.inputs[5].values.assign(static_cast<size_t>(n), 128);
        made.inputs[5].dims = {n};
        for (Case* each : {&made, &dynamic}) {
            each->types = byte_types();
            each->outputs = {TENGINE_DT_FP32};
            cases->push_back(*each);
        }
    }
}

// Weights of four and eight bits in blocks.
void add_products_of_blocks(std::vector<Case>* cases)
{
    constexpr int kDepth = 96, kColumns = 35, kBlock = 32, kBlocks = kDepth / kBlock;
    for (const int bits : {4, 8})
        for (const int rows : {1, 9}) {
            Operand factors = constant({kColumns * kBlocks});
            factors.low = 0.01;
            factors.high = 0.05;
            Case made = {
                "com.microsoft.MatMulNBits",
                {fed({rows, kDepth}),
                 constant_bytes({kColumns, kBlocks, kBlock * bits / 8}, TENGINE_DT_UINT8), factors},
                {},
                {{"K", kDepth}, {"N", kColumns}, {"bits", bits}, {"block_size", kBlock}}};
            made.types = {TENGINE_DT_FP32};
            cases->push_back(made);
        }
}

void add_pairs(std::vector<Case>* cases)
{
    for (const char* op : {"com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"})
        for (const auto& [a, b] : std::vector<std::pair<Operand, Operand>>{
                 {fed_bytes({1}), fed_bytes({1})},
                 {fed_bytes({9}), fed_bytes({9})},
                 {fed_bytes({1000}), fed_bytes({1000})},
                 {fed_bytes({2, 5, 7, 9}), fed_bytes({2, 5, 7, 9})},
                 {fed_bytes({2, 5, 7, 9}), constant_bytes({5, 1, 1})},
                 {fed_bytes({2, 3, 17}), fed_bytes({17})},
                 {fed_bytes({1, 64, 13, 13}), fed_bytes({1, 64, 1, 1})}}) {
            const bool is_product = op[std::string(op).size() - 1] == 'l';
            Case made = {
                op,
                {a, scales({0.043}), zero_points({117}), b, scales({0.061}), zero_points({131}),
                 scales({is_product ? 0.31 : 0.093}), zero_points({140})}};
            made.types = byte_types();
            cases->push_back(made);
        }
}

void add_pools(std::vector<Case>* cases)
{
    for (const std::vector<int>& shape : std::vector<std::vector<int>>{
             {1, 1, 3, 3}, {2, 3, 8, 10}, {1, 5, 17, 33}, {1, 64, 9, 9}}) {
        Case made = {"com.microsoft.QLinearAveragePool",
                     {fed_bytes(shape), scales({0.043}), zero_points({117}), scales({0.029}),
                      zero_points({140})},
                     {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}}};
        made.types = byte_types();
        cases->push_back(made);
        made.op = "com.microsoft.QLinearGlobalAveragePool";
        made.lists = {};
        made.inputs[3] = scales({0.0113});
        cases->push_back(made);
    }
}

// Inputs and results of a row: normalised ones are mostly within 4 deviations.
void add_rows(std::vector<Case>* cases)
{
    for (const std::vector<int>& shape :
         std::vector<std::vector<int>>{{1, 1}, {9, 7}, {3, 5, 64}, {2, 197}, {1, 1000}}) {
        Case softmax = {"com.microsoft.QLinearSoftmax",
                        {fed_bytes(shape), scales({0.043}), zero_points({117}), scales({0.0041}),
                         zero_points({0})},
                        {},
                        {{"axis", -1}, {"opset", 13}}};
        softmax.types = byte_types();
        cases->push_back(softmax);
        const int length = shape.back();
        const std::vector<double> factors = spread(0.7, length), addends = spread(0.11, length);
        Case norm = {"tengine.QLinearLayerNormalization",
                     {fed_bytes(shape), scales({0.043}), zero_points({117}), scales(factors),
                      scales({0.031}), zero_points({120}), scales(addends)}};
        norm.types = byte_types();
        cases->push_back(norm);
    }
}

// With a scale for each channel.
void add_channel_conversions(const Operand& reals, std::vector<Case>* cases)
{
    const Operand factors = scales(spread(0.0237, reals.dims[1]));
    const Operand zeros = zero_points(std::vector<double>(static_cast<size_t>(reals.dims[1]), 121));
    Case there = {"QuantizeLinear", {reals, factors, zeros}, {}, {{"axis", 1}}};
    there.types = byte_types();
    cases->push_back(there);
    Case back = {"DequantizeLinear", {fed_bytes(reals.dims), factors, zeros}, {}, {{"axis", 1}}};
    back.types = byte_types();
    back.outputs = {TENGINE_DT_FP32};
    cases->push_back(back);
}

void add_conversions(std::vector<Case>* cases)
{
    for (const std::vector<int>& shape :
         std::vector<std::vector<int>>{{1}, {9}, {2, 5, 7, 9}, {1000}}) {
        Operand reals = fed(shape);
        reals.data_type = TENGINE_DT_FP32;
        reals.low = -3;
        reals.high = 3;
        for (const double zero : {0.0, 128.0, 255.0}) {
            Case there = {"QuantizeLinear", {reals, scales({0.0237}), zero_points({zero})}};
            there.types = byte_types();
            cases->push_back(there);
            Case back = {"DequantizeLinear",
                         {fed_bytes(shape), scales({0.0237}), zero_points({zero})}};
            back.types = byte_types();
            back.outputs = {TENGINE_DT_FP32};
            cases->push_back(back);
        }
        if (shape.size() == 4) add_channel_conversions(reals, cases);
        Case dynamic = {"DynamicQuantizeLinear", {reals}};
        dynamic.types = {TENGINE_DT_UINT8};
        dynamic.outputs = {kCaseType, TENGINE_DT_FP32, kCaseType};
        cases->push_back(dynamic);
        Case lookup = {"tengine.Lookup", {fed_bytes(shape), constant_bytes({256})}};
        lookup.types = byte_types();
        cases->push_back(lookup);
    }
}

}  // namespace

void add_quantized_cases(std::vector<Case>* cases)
{
    add_convs(cases);
    add_products(cases);
    add_products_to_float(cases);
    add_products_of_blocks(cases);
    add_pairs(cases);
    add_pools(cases);
    add_rows(cases);
    add_conversions(cases);
}

std::vector<Case> list_quantized_cases()
{
    std::vector<Case> cases;
    add_more_quantized_convs(&cases);
    add_more_quantized_products(&cases);
    add_more_quantized_pairs(&cases);
    add_more_quantized_pools(&cases);
    for (Case& each : cases)
        each.shape_class = classify_shape(each);
    return cases;
}

}  // namespace tengine::tools
