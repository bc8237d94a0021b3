// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/wide_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "optimizer/pass.h"

namespace tengine {
namespace {

constexpr float kLargestHalf = 65504;

// Operators that a constant can make large results of.
constexpr const char* kScaling[] = {"Add", "Div", "Mul", "Sub", "Where"};

// Operators whose results are about as large as their inputs.
constexpr const char* kCarrying[] = {
    "Abs",       "Add",        "Clip",      "Concat",    "Div",       "Expand",  "Identity",
    "Max",       "Mean",       "Min",       "Mul",       "Neg",       "PRelu",   "Relu",
    "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "LeakyRelu", "Reshape", "Slice",
    "Squeeze",   "Sub",        "Sum",       "Transpose", "Unsqueeze", "Where"};

// Operators whose results are small for any input.
constexpr const char* kEnding[] = {"Log",     "LogSoftmax", "Reciprocal", "Sigmoid", "Sign",
                                   "Softmax", "Softsign",   "Sqrt",       "Tanh"};

bool is_wide_constant(const tensor& value)
{
    if (value.tensor_type != TENSOR_TYPE_CONST || value.data_type != TENGINE_DT_FP32 || !value.data)
        return false;
    for (int64_t i = 0; i < value.elem_num; ++i) {
        float each;  // files do not align their values
        std::memcpy(&each, static_cast<const char*>(value.data) + i * int64_t{sizeof each},
                    sizeof each);
        if (std::isfinite(each) && std::fabs(each) > kLargestHalf) return true;
    }
    return false;
}

bool reads_wide_constant(const node& node)
{
    for (int i = 0; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        if (input && is_wide_constant(*input)) return true;
    }
    return false;
}

}  // namespace

bool WideValues::reads_wide(const node& node) const
{
    for (int i = 0; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        if (input && tensors_.count(input->index) != 0) return true;
    }
    return false;
}

bool WideValues::has(const node& node)
{
    const bool carries = is_one_of(node, kCarrying);
    const bool is_wide = (reads_wide(node) && (carries || is_one_of(node, kEnding))) ||
                         (is_one_of(node, kScaling) && reads_wide_constant(node));
    for (int i = 0; is_wide && carries && i < node.output_num; ++i) {
        const tensor* output = get_ir_node_output(&node, i);
        if (output) tensors_.insert(output->index);
    }
    return is_wide;
}

}  // namespace tengine
