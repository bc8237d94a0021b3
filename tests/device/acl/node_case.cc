// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "base/half.h"
#include "operator/param.h"

namespace tengine::acl {

Operand fed(std::vector<int> dims)
{
    return {std::move(dims)};
}
Operand constant(std::vector<int> dims)
{
    return {std::move(dims), true};
}
Operand fed_list(std::vector<float> values)
{
    Operand made = list(std::move(values));
    made.constant = false;
    return made;
}
Operand ints(std::vector<int64_t> values)
{
    Operand made;
    made.ints = std::move(values);
    made.constant = true;
    return made;
}
Operand list(std::vector<float> values)
{
    Operand made = constant({static_cast<int>(values.size())});
    made.floats = std::move(values);
    return made;
}
Operand scalar(float value)
{
    Operand made = constant({});
    made.floats = {value};
    return made;
}
Operand absent()
{
    Operand made;
    made.absent = true;
    return made;
}

namespace {

// The values' bytes in a type.
std::vector<uint8_t> encode(const std::vector<float>& values, int data_type)
{
    const auto size = static_cast<size_t>(get_data_type_size(data_type));
    std::vector<uint8_t> bytes(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t half = fp32_to_fp16(values[i]);
        const auto steps = static_cast<uint8_t>(std::lround(100 * values[i]));
        switch (data_type) {
            case TENGINE_DT_FP32:
                std::memcpy(&bytes[i * size], &values[i], size);
                break;
            case TENGINE_DT_FP16:
                std::memcpy(&bytes[i * size], &half, size);
                break;
            default:
                bytes[i] = steps;
        }
    }
    return bytes;
}

void add_constant(test::IrBuilder& builder, const std::string& name, const Operand& operand,
                  const NodeCase& of, int data_type, unsigned seed)
{
    std::vector<float> values = operand.floats;
    if (values.empty()) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> range(of.low, of.high);
        values.resize(count(operand.dims));
        for (float& value : values)
            value = range(random);
    }
    builder.constant(name, operand.dims, encode(values, data_type), data_type);
}

void build_node(test::IrBuilder& builder, const NodeCase& of, int data_type)
{
    std::vector<std::string> inputs, outputs;
    for (size_t i = 0; i < of.inputs.size(); ++i) {
        const Operand& operand = of.inputs[i];
        inputs.push_back(operand.absent ? "" : "i" + std::to_string(i));
        if (operand.absent) continue;
        if (!operand.ints.empty())
            builder.ints(inputs.back(), operand.ints);
        else if (operand.constant)
            add_constant(builder, inputs.back(), operand, of, data_type, static_cast<unsigned>(i));
        else
            builder.input(inputs.back(), operand.dims, data_type);
    }
    for (int i = 0; i < of.outputs; ++i)
        outputs.push_back("o" + std::to_string(i));
    node* made = builder.add(of.op, inputs, outputs);
    set_attributes(made, of.lists, of.integers, of.floats);
    for (const auto& [key, value] : of.texts)
        EXPECT_EQ(set_node_text(made, key.c_str(), value.c_str(), value.size()), TENGINE_OK);
    std::vector<int32_t> tensors;
    for (const std::string& name : outputs)
        tensors.push_back(builder.find(name)->index);
    EXPECT_EQ(
        set_ir_graph_output_tensor(builder.get(), tensors.data(), static_cast<int>(tensors.size())),
        TENGINE_OK);
}

// The units of the node that has most of them: those that an optimiser may have added move
// elements.
int64_t error_units(const graph& execution)
{
    int64_t units = 0;
    for (int i = 0; i < execution.node_num; ++i)
        units = std::max(units, acl::error_units(*execution.node_list[i]));
    return units;
}

// Inputs whose values are given.
void feed_lists(AclRun& run, const NodeCase& of, int data_type)
{
    for (size_t i = 0; i < of.inputs.size(); ++i) {
        const Operand& operand = of.inputs[i];
        if (operand.constant || operand.floats.empty()) continue;
        const std::string name = "i" + std::to_string(i);
        const std::vector<uint8_t> bytes = encode(operand.floats, data_type);
        run.feed(name, bytes.data(), bytes.size());
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
                double units, Agreement* agreement)
{
    agreement->error = got.size() == wanted.size() ? 0 : HUGE_VAL;
    const double largest = find_largest(wanted);
    agreement->bound = units + (of.pointwise ? 0 : of.absolute / largest);
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

namespace {

bool is_exact(const std::string& op)
{
    static const std::set<std::string> names = {
        "Abs", "Add", "Clip",  "GlobalMaxPool", "LeakyRelu", "Max",  "MaxPool", "Min",
        "Mul", "Neg", "PRelu", "ReduceMax",     "ReduceMin", "Relu", "Round",   "Sub"};
    return moves_elements(op) || names.count(op) != 0;
}

}  // namespace

int64_t error_units(const node& node)
{
    if (is_exact(get_ir_node_op(&node))) return 0;
    const int64_t results = get_ir_node_output(&node, 0)->elem_num;
    if (results == 0) return 0;
    const int64_t products = get_ir_node_macs(&node) / results;
    return 4 + std::max({int64_t{1}, products, get_ir_node_input(&node, 0)->elem_num / results});
}

std::string NodeCase::name() const
{
    std::string text = op;
    for (const Operand& input : inputs) {
        if (input.absent) {
            text += " -";
        } else if (!input.ints.empty()) {
            text += " [" + join(input.ints, ',') + "]";
        } else {
            text += (input.constant ? " #" : " ") + join(input.dims, 'x');
        }
    }
    text += describe_attributes(lists, integers, floats);
    for (const auto& [key, value] : texts)
        text += " " + key + "=" + value;
    for (const auto& [key, value] : options)
        text += " ACL." + key + "=" + value;
    return text;
}

Agreement compare(const NodeCase& node_case, int data_type, int threads)
{
    const Build build = [&](test::IrBuilder& builder) {
        build_node(builder, node_case, data_type);
    };
    RunSettings on_acl;
    on_acl.options = node_case.options;
    on_acl.threads = threads;
    AclRun ours(on_acl, build), reference({{}}, build);
    for (AclRun* run : {&ours, &reference}) {
        EXPECT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        feed_lists(*run, node_case, data_type);
        run->feed_all(77, node_case.low, node_case.high);
        EXPECT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    Agreement agreement;
    agreement.on_acl = ours.nodes_on("CPU") == 0;
    agreement.refusals = ours.refusals();
    EXPECT_EQ(ours.redone(), 0);
    // Bytes are moved, not computed with.
    const double unit = data_type == TENGINE_DT_FP32   ? std::ldexp(1, -23)
                        : data_type == TENGINE_DT_FP16 ? std::ldexp(1, -10)
                                                       : 0;
    const double units =
        node_case.ulps > 0 ? node_case.ulps : static_cast<double>(error_units(*ours.execution()));
    find_error(node_case, ours.outputs(), reference.outputs(), units * unit, &agreement);
    return agreement;
}

std::vector<NodeCase> list_cases()
{
    std::vector<NodeCase> cases;
    add_conv_cases(cases);
    add_matrix_cases(cases);
    add_pool_cases(cases);
    add_elementwise_cases(cases);
    add_normalization_cases(cases);
    add_movement_cases(cases);
    return cases;
}

}  // namespace tengine::acl
