// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

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

template <class T>
std::string join(const std::vector<T>& values, char separator)
{
    std::string text;
    for (const T& value : values)
        text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(value);
    return text.empty() ? "scalar" : text;
}

int64_t count(const std::vector<int>& dims)
{
    int64_t number = 1;
    for (const int dim : dims)
        number *= dim;
    return number;
}

void add_constant(test::IrBuilder& builder, const std::string& name, const Operand& operand,
                  const NodeCase& of, int data_type, unsigned seed)
{
    std::vector<float> values = operand.floats;
    if (values.empty()) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> range(of.low, of.high);
        values.resize(static_cast<size_t>(count(operand.dims)));
        for (float& value : values)
            value = range(random);
    }
    if (data_type == TENGINE_DT_FP32) {
        builder.floats(name, operand.dims, values);
        return;
    }
    std::vector<uint16_t> halves;
    for (const float value : values)
        halves.push_back(fp32_to_fp16(value));
    builder.constant(name, operand.dims, halves, data_type);
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
    for (const auto& [key, values] : of.lists)
        EXPECT_EQ(set_node_ints(made, key.c_str(), values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    for (const auto& [key, value] : of.integers)
        EXPECT_EQ(set_node_int(made, key.c_str(), value), TENGINE_OK);
    for (const auto& [key, value] : of.floats)
        EXPECT_EQ(set_node_float(made, key.c_str(), value), TENGINE_OK);
    for (const auto& [key, value] : of.texts)
        EXPECT_EQ(set_node_text(made, key.c_str(), value.c_str(), value.size()), TENGINE_OK);
    std::vector<int32_t> tensors;
    for (const std::string& name : outputs)
        tensors.push_back(builder.find(name)->index);
    EXPECT_EQ(
        set_ir_graph_output_tensor(builder.get(), tensors.data(), static_cast<int>(tensors.size())),
        TENGINE_OK);
}

// Values that a sum of a result runs over: products of a weight or matrix, or what a reduction
// makes one of.
int64_t sum_length(const graph& execution)
{
    int64_t length = 1;
    for (int i = 0; i < execution.node_num; ++i) {
        const node& node = *execution.node_list[i];
        const int64_t results = get_ir_node_output(&node, 0)->elem_num;
        if (results == 0) continue;
        length = std::max(length, get_ir_node_macs(&node) / results);
        length = std::max(length, get_ir_node_input(&node, 0)->elem_num / results);
    }
    return length;
}

// Sums of n products in another order differ by n units of the last place of the sum of their
// sizes at most; four more are for what comes behind the sum.
double error_bound(const NodeCase& of, const graph& execution, int data_type)
{
    const double unit = data_type == TENGINE_DT_FP32 ? std::ldexp(1, -23) : std::ldexp(1, -10);
    if (of.ulps > 0) return of.ulps * unit;
    return (4 + static_cast<double>(sum_length(execution))) * unit;
}

// Inputs whose values are given.
void feed_lists(AclRun& run, const NodeCase& of, int data_type)
{
    for (size_t i = 0; i < of.inputs.size(); ++i) {
        const Operand& operand = of.inputs[i];
        if (operand.constant || operand.floats.empty()) continue;
        const std::string name = "i" + std::to_string(i);
        std::vector<uint16_t> halves;
        for (const float value : operand.floats)
            halves.push_back(fp32_to_fp16(value));
        if (data_type == TENGINE_DT_FP32)
            run.feed(name, operand.floats.data(), operand.floats.size() * sizeof(float));
        else
            run.feed(name, halves.data(), halves.size() * sizeof(uint16_t));
    }
}

// What is smaller than this counts as 0.
constexpr double kSmallest = 1e-30;

double find_error(const std::vector<float>& got, const std::vector<float>& wanted, bool pointwise)
{
    if (got.size() != wanted.size()) return HUGE_VAL;
    double largest = kSmallest, error = 0;
    for (const float value : wanted)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(double{value}));
    for (size_t i = 0; i < got.size(); ++i) {
        if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
        const double size = pointwise ? std::max(std::fabs(double{wanted[i]}), kSmallest) : largest;
        const double relative = std::fabs(double{got[i]} - wanted[i]) / size;
        if (!std::isfinite(relative)) return HUGE_VAL;
        error = std::max(error, relative);
    }
    return error;
}

}  // namespace

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
    for (const auto& [key, values] : lists)
        text += " " + key + "=" + join(values, ',');
    for (const auto& [key, value] : integers)
        text += " " + key + "=" + std::to_string(value);
    for (const auto& [key, value] : floats)
        text += " " + key + "=" + std::to_string(value);
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
    agreement.bound = error_bound(node_case, *ours.execution(), data_type);
    agreement.error = find_error(ours.outputs(), reference.outputs(), node_case.pointwise);
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
