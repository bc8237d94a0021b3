// SPDX-License-Identifier: Apache-2.0
#include "verify/reference.h"

#include <algorithm>
#include <cmath>

#include "tensor_file/failure.h"
#include "verify/graph_of_case.h"

namespace tengine::tools {
namespace {

Tensor convert(const Tensor& tensor, int data_type)
{
    if (!is_floating(tensor.data_type) || tensor.data_type == data_type) return tensor;
    Tensor made = make_tensor(data_type, {tensor.shape.begin(), tensor.shape.end()});
    for (size_t i = 0; i < tensor.element_number(); ++i)
        set_element(&made, i, get_element(tensor, i));
    return made;
}

std::vector<Tensor> convert(const std::vector<Tensor>& tensors, const Case& of, int data_type)
{
    std::vector<Tensor> made;
    for (size_t i = 0; i < tensors.size(); ++i) {
        // Others, such as scales, have a fixed type.
        const bool follows = of.inputs[i].data_type == kCaseType && !of.inputs[i].is_absent;
        made.push_back(follows ? convert(tensors[i], data_type) : tensors[i]);
    }
    return made;
}

std::vector<Tensor> compute(const Case& of, int data_type, const std::vector<Tensor>& inputs)
{
    CaseGraph graph(of, data_type, inputs, reference_target());
    graph.prepare();
    graph.feed(inputs);
    graph.run();
    return graph.outputs();
}

// Changes the elements of a float.
template <class Change>
Tensor changed(Tensor tensor, const Change& change)
{
    if (!is_floating(tensor.data_type)) return tensor;
    for (size_t i = 0; i < tensor.element_number(); ++i)
        set_element(&tensor, i, change(get_element(tensor, i)));
    return tensor;
}

std::vector<Tensor> compute_magnitudes(const Case& of, int data_type, std::vector<Tensor> inputs)
{
    for (Tensor& input : inputs)
        input = changed(input, [](double value) { return std::fabs(value); });
    return compute(of, data_type, inputs);
}

// Inputs are off by this share of themselves.
constexpr double kShare = 1.0 / (1 << 20);

// The sum of the changes by each input, for a change as large as itself.
std::vector<Tensor> compute_conditions(const Case& of, int data_type,
                                       const std::vector<Tensor>& inputs,
                                       const std::vector<Tensor>& outputs)
{
    std::vector<Tensor> sums;
    for (const Tensor& output : outputs)
        sums.push_back(make_tensor(TENGINE_DT_FP64, {output.shape.begin(), output.shape.end()}));
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (of.inputs[k].is_absent || !is_floating(inputs[k].data_type)) continue;
        std::vector<Tensor> near = inputs;
        near[k] = changed(near[k], [](double value) { return value * (1 + kShare); });
        const std::vector<Tensor> changed_outputs = compute(of, data_type, near);
        for (size_t o = 0; o < outputs.size(); ++o)
            for (size_t i = 0; i < outputs[o].element_number(); ++i) {
                const double change =
                    get_element(changed_outputs[o], i) - get_element(outputs[o], i);
                if (!std::isfinite(change)) continue;
                set_element(&sums[o], i, get_element(sums[o], i) + std::fabs(change) / kShare);
            }
    }
    return sums;
}

// A number near 1, or near the argument, may lose two units in a subtraction: an eighth of the
// bound for functions.
void add_minuend(const Tensor& input, Tensor* conditions)
{
    for (size_t i = 0; i < input.element_number(); ++i) {
        const double minuend = std::max(1.0, std::fabs(get_element(input, i)));
        set_element(conditions, i, get_element(*conditions, i) + minuend / 8);
    }
}

Expected compute_all(const Case& of, int data_type, const std::vector<Tensor>& inputs)
{
    Expected expected;
    expected.outputs = compute(of, data_type, inputs);
    const Rule rule = rule_of(of.op);
    if (rule == Rule::kSum) expected.magnitudes = compute_magnitudes(of, data_type, inputs);
    if (rule == Rule::kFunction)
        expected.conditions = compute_conditions(of, data_type, inputs, expected.outputs);
    if (is_difference(of.op)) add_minuend(inputs[0], &expected.conditions[0]);
    return expected;
}

}  // namespace

Expected compute_reference(const Case& of, int data_type, const std::vector<Tensor>& inputs)
{
    for (const int type : {TENGINE_DT_FP64, TENGINE_DT_FP32}) {
        if (!is_floating(data_type)) break;
        try {
            return compute_all(of, type, convert(inputs, of, type));
        } catch (const Failure&) {
            // Not in this type.
        }
    }
    return compute_all(of, data_type, inputs);
}

}  // namespace tengine::tools
