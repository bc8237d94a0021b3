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
#include "operator/infer.h"
#include "support/case_attributes.h"

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
    const auto put = [&](size_t index, const auto& value) {
        ASSERT_EQ(sizeof value, size) << "type " << data_type;
        std::memcpy(&bytes[index * size], &value, size);
    };
    for (size_t i = 0; i < values.size(); ++i) {
        switch (data_type) {
            case TENGINE_DT_FP32:
                put(i, static_cast<float>(values[i]));
                break;
            case TENGINE_DT_FP16:
                put(i, fp32_to_fp16(static_cast<float>(values[i])));
                break;
            case TENGINE_DT_INT16:
                put(i, static_cast<int16_t>(values[i]));
                break;
            case TENGINE_DT_INT32:
                put(i, static_cast<int32_t>(values[i]));
                break;
            case TENGINE_DT_INT64:
                put(i, static_cast<int64_t>(values[i]));
                break;
            default:
                put(i, static_cast<uint8_t>(static_cast<int>(values[i])));
        }
    }
    return bytes;
}

std::vector<double> values_of(const NodeCase& node_case, size_t index, int data_type)
{
    std::mt19937_64 engine(index);
    return tools::make_values(node_case.of.inputs[index], node_case.of, data_type, &engine);
}

std::vector<uint8_t> bytes_of(const NodeCase& node_case, size_t index, int data_type)
{
    return encode(values_of(node_case, index, data_type),
                  tools::type_of(node_case.of.inputs[index], data_type));
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
        const int type = tools::type_of(operand, data_type);
        if (operand.is_constant)
            builder.constant(inputs.back(), operand.dims, bytes_of(node_case, i, data_type), type);
        else
            builder.input(inputs.back(), operand.dims, type);
    }
    for (size_t i = 0; i < of.outputs.size(); ++i)
        outputs.push_back("o" + std::to_string(i));
    node* made = builder.add(of.op, inputs, outputs);
    test::set_attributes(made, of);
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
        const std::vector<uint8_t> bytes = bytes_of(node_case, i, data_type);
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

bool NodeCase::is_of(int data_type) const
{
    return std::find(of.types.begin(), of.types.end(), data_type) != of.types.end();
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

// Whether ACL takes a case, its reasons if not, and its results if so.
struct OnAcl
{
    bool is_taken = false;
    std::string refusals;
    double units = 0;
    std::vector<float> results;
};

OnAcl run_on_acl(const NodeCase& node_case, int data_type, int threads)
{
    RunSettings settings;
    settings.options = node_case.options;
    settings.threads = threads;
    AclRun ours(settings,
                [&](test::IrBuilder& builder) { build_node(builder, node_case, data_type); });
    run(ours, node_case, data_type);
    EXPECT_EQ(ours.redone(), 0);
    return {ours.nodes_on("CPU") == 0, ours.refusals(), find_units(node_case, *ours.execution()),
            ours.outputs()};
}

}  // namespace

Agreement compare(const NodeCase& node_case, int data_type)
{
    const OnAcl ours = run_on_acl(node_case, data_type, 1);
    Agreement agreement;
    agreement.on_acl = ours.is_taken;
    agreement.refusals = ours.refusals;
    if (!ours.is_taken) return agreement;
    const std::vector<float> wanted = compute_plainly(node_case, data_type);
    const double largest =
        may_cancel(node_case.of.op) ? find_largest_sum(node_case, data_type) : find_largest(wanted);
    find_error(node_case, ours.results, wanted, largest, ours.units * unit_of(data_type),
               &agreement);
    return agreement;
}

Steps compare_steps(const NodeCase& node_case, int data_type, int threads)
{
    const OnAcl ours = run_on_acl(node_case, data_type, threads);
    Steps steps;
    steps.on_acl = ours.is_taken;
    steps.refusals = ours.refusals;
    if (!ours.is_taken) return steps;
    const std::vector<float> wanted = compute_plainly(node_case, data_type);
    EXPECT_EQ(ours.results.size(), wanted.size());
    steps.number = std::min(ours.results.size(), wanted.size());
    for (size_t i = 0; i < steps.number; ++i) {
        const double difference = std::fabs(double{ours.results[i]} - wanted[i]);
        steps.differing += difference != 0;
        steps.largest = std::max(steps.largest, difference);
    }
    return steps;
}

}  // namespace tengine::acl
