// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "base/half.h"
#include "cases/operand_values.h"
#include "device/acl/attributes.h"
#include "operator/infer.h"
#include "operator/param.h"

namespace tengine::acl {

namespace {

tools::Operand list_of(std::vector<double> values)
{
    tools::Operand made = tools::fed({static_cast<int>(values.size())});
    made.values = std::move(values);
    return made;
}

}  // namespace

tools::Operand fed_list(std::vector<double> values)
{
    return list_of(std::move(values));
}

tools::Operand constant_list(std::vector<double> values)
{
    tools::Operand made = list_of(std::move(values));
    made.is_constant = true;
    return made;
}

namespace {

// The values' bytes in a type.
std::vector<uint8_t> encode(const std::vector<double>& values, int data_type)
{
    const auto size = static_cast<size_t>(get_data_type_size(data_type));
    std::vector<uint8_t> bytes(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
        const auto single = static_cast<float>(values[i]);
        const uint16_t half = fp32_to_fp16(single);
        switch (data_type) {
            case TENGINE_DT_FP32:
                std::memcpy(&bytes[i * size], &single, size);
                break;
            case TENGINE_DT_FP16:
                std::memcpy(&bytes[i * size], &half, size);
                break;
            default:
                bytes[i] = static_cast<uint8_t>(static_cast<int>(values[i]));
        }
    }
    return bytes;
}

std::vector<double> values_of(const NodeCase& node_case, size_t index, int data_type)
{
    std::mt19937_64 engine(index);
    return tools::make_values(node_case.of.inputs[index], node_case.of, data_type, &engine);
}

std::string input_name(size_t index)
{
    return "i" + std::to_string(index);
}

void build_node(test::IrBuilder& builder, const NodeCase& node_case, int data_type)
{
    const tools::Case& of = node_case.of;
    std::vector<std::string> inputs, outputs;
    for (size_t i = 0; i < of.inputs.size(); ++i) {
        const tools::Operand& operand = of.inputs[i];
        inputs.push_back(operand.is_absent ? "" : input_name(i));
        if (operand.is_absent) continue;
        if (operand.data_type == TENGINE_DT_INT64)
            builder.ints(inputs.back(), {operand.values.begin(), operand.values.end()});
        else if (operand.is_constant)
            builder.constant(inputs.back(), operand.dims,
                             encode(values_of(node_case, i, data_type), data_type), data_type);
        else
            builder.input(inputs.back(), operand.dims, data_type);
    }
    for (size_t i = 0; i < of.outputs.size(); ++i)
        outputs.push_back("o" + std::to_string(i));
    node* made = builder.add(of.op, inputs, outputs);
    set_attributes(made, of.lists, of.ints, of.floats);
    for (const auto& [key, value] : of.texts)
        EXPECT_EQ(set_node_text(made, key.c_str(), value.c_str(), value.size()), TENGINE_OK);
    std::vector<int32_t> tensors;
    for (const std::string& name : outputs)
        tensors.push_back(builder.find(name)->index);
    EXPECT_EQ(
        set_ir_graph_output_tensor(builder.get(), tensors.data(), static_cast<int>(tensors.size())),
        TENGINE_OK);
}

// The roundings of the node that has most of them: those that an optimiser may have added move
// elements.
int64_t count_roundings(const graph& execution)
{
    int64_t number = 0;
    for (int i = 0; i < execution.node_num; ++i)
        number = std::max(number, acl::count_roundings(*execution.node_list[i]));
    return number;
}

void feed(AclRun& run, const NodeCase& node_case, int data_type)
{
    for (size_t i = 0; i < node_case.of.inputs.size(); ++i) {
        const tools::Operand& operand = node_case.of.inputs[i];
        if (operand.is_constant || operand.is_absent) continue;
        const std::vector<uint8_t> bytes = encode(values_of(node_case, i, data_type), data_type);
        run.feed(input_name(i), bytes.data(), bytes.size());
    }
}

// Smaller values count as 0.
constexpr double kSmallest = 1e-30;

double find_largest(const std::vector<float>& values)
{
    double largest = kSmallest;
    for (const float value : values)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(double{value}));
    return largest;
}

void find_error(const NodeCase& of, const std::vector<float>& got, const std::vector<float>& wanted,
                double largest, double units, Agreement* agreement)
{
    agreement->error = got.size() == wanted.size() ? 0 : HUGE_VAL;
    agreement->bound = units + of.relative;
    for (size_t i = 0; agreement->error < HUGE_VAL && i < got.size(); ++i) {
        if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
        double size = largest, difference = std::fabs(double{got[i]} - wanted[i]);
        if (of.pointwise) {
            size = std::max(std::fabs(double{wanted[i]}), kSmallest);
            difference = std::max(difference - of.absolute, 0.0);
        }
        const double relative = difference / size;
        agreement->error =
            std::isfinite(relative) ? std::max(agreement->error, relative) : HUGE_VAL;
    }
}

}  // namespace

bool moves_elements(const std::string& op)
{
    static const std::set<std::string> names = {
        "Concat", "DepthToSpace", "Flatten", "Identity", "Pad",       "Reshape",
        "Slice",  "SpaceToDepth", "Split",   "Squeeze",  "Transpose", "Unsqueeze"};
    return names.count(op) != 0;
}

bool moves_elements(const tools::Case& of)
{
    if (of.op.compare(0, 6, "Reduce") != 0 || of.op == "ReduceSumSquare" || of.inputs.size() < 2)
        return moves_elements(of.op);
    const std::vector<double>& axes = of.inputs[1].values;
    return std::all_of(axes.begin(), axes.end(), [&](double axis) {
        return of.inputs[0].dims.at(static_cast<size_t>(axis)) == 1;
    });
}

namespace {

bool is_exact(const std::string& op)
{
    static const std::set<std::string> names = {
        "Abs", "Add", "Clip",  "GlobalMaxPool", "LeakyRelu", "Max",  "MaxPool", "Min",
        "Mul", "Neg", "PRelu", "ReduceMax",     "ReduceMin", "Relu", "Round",   "Sub"};
    return moves_elements(op) || names.count(op) != 0;
}

// Sums of terms whose signs may differ.
bool may_cancel(const std::string& op)
{
    static const std::set<std::string> names = {"AveragePool", "Conv",     "ConvTranspose",
                                                "Gemm",        "MatMul",   "GlobalAveragePool",
                                                "ReduceMean",  "ReduceSum"};
    return names.count(op) != 0;
}

// ACL adds along one axis after the other.
int64_t reduced_lengths(const node& node)
{
    const tensor* input = get_ir_node_input(&node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM] = {};
    int number = 0;
    EXPECT_EQ(read_int_input(&node, 1, axes, MAX_SHAPE_DIM_NUM, &number), TENGINE_OK);
    if (number == 0) return input->elem_num;
    int64_t lengths = 0;
    for (int i = 0; i < number; ++i)
        lengths += input->dims[axes[i]];
    return lengths;
}

}  // namespace

int64_t count_roundings(const node& node)
{
    const std::string op = get_ir_node_op(&node);
    const int64_t results = get_ir_node_output(&node, 0)->elem_num;
    if (is_exact(op) || results == 0) return 0;
    if (op == "ReduceSum" || op == "ReduceMean" || op == "ReduceSumSquare")
        return reduced_lengths(node);
    const int64_t products = get_ir_node_macs(&node) / results;
    return std::max({int64_t{1}, products, get_ir_node_input(&node, 0)->elem_num / results});
}

namespace {

constexpr int64_t kLastUnits = 4;

}  // namespace

int64_t error_units(const node& node)
{
    const int64_t roundings = count_roundings(node);
    return roundings == 0 ? 0 : kLastUnits + roundings;
}

std::string NodeCase::name() const
{
    std::string text = of.name();
    for (const auto& [key, value] : options)
        text += " ACL." + key + "=" + value;
    return text;
}

namespace {

void run(AclRun& run, const NodeCase& node_case, int data_type)
{
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    feed(run, node_case, data_type);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
}

std::vector<float> compute_plainly(const NodeCase& node_case, int data_type)
{
    const RunSettings plain = {{"CPU"}, {{"kernels", "reference"}}};
    AclRun reference(plain,
                     [&](test::IrBuilder& builder) { build_node(builder, node_case, data_type); });
    run(reference, node_case, data_type);
    return reference.outputs();
}

// The largest sum of the magnitudes of the terms of a result.
double find_largest_sum(const NodeCase& node_case, int data_type)
{
    NodeCase positive = node_case;
    for (size_t i = 0; i < positive.of.inputs.size(); ++i) {
        tools::Operand& operand = positive.of.inputs[i];
        if (operand.is_absent || operand.data_type != tools::kCaseType) continue;
        operand.values = values_of(node_case, i, data_type);
        for (double& value : operand.values)
            value = std::fabs(value);
    }
    return find_largest(compute_plainly(positive, data_type));
}

// In the last place of 1. Bytes are moved, not computed with.
double unit_of(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
            return std::ldexp(1, -23);
        case TENGINE_DT_FP16:
            return std::ldexp(1, -10);
        default:
            return 0;
    }
}

double find_units(const NodeCase& node_case, const graph& execution)
{
    if (node_case.ulps > 0) return node_case.ulps;
    const int64_t roundings = count_roundings(execution);
    return roundings == 0 ? 0 : kLastUnits + static_cast<double>(roundings) / 2;
}

}  // namespace

Agreement compare(const NodeCase& node_case, int data_type)
{
    RunSettings on_acl;
    on_acl.options = node_case.options;
    AclRun ours(on_acl,
                [&](test::IrBuilder& builder) { build_node(builder, node_case, data_type); });
    run(ours, node_case, data_type);
    EXPECT_EQ(ours.redone(), 0);
    Agreement agreement;
    agreement.on_acl = ours.nodes_on("CPU") == 0;
    agreement.refusals = ours.refusals();
    if (!agreement.on_acl) return agreement;
    const std::vector<float> wanted = compute_plainly(node_case, data_type);
    const double largest =
        may_cancel(node_case.of.op) ? find_largest_sum(node_case, data_type) : find_largest(wanted);
    find_error(node_case, ours.outputs(), wanted, largest,
               find_units(node_case, *ours.execution()) * unit_of(data_type), &agreement);
    return agreement;
}

}  // namespace tengine::acl
