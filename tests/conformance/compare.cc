// SPDX-License-Identifier: Apache-2.0
// Compares tensors. The contract is in compare.h.
#include "conformance/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "tengine/inspect.h"
#include "tensor_file/small_element.h"

namespace tengine::conformance {
namespace {

using tools::Tensor;

struct Tolerance
{
    double relative;
    double absolute;
};

Tolerance tolerance_of(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP64:
            return {1e-7, 1e-14};
        case TENGINE_DT_BF16:
            return {1e-2, 1e-7};
        default:
            return {1e-3, 1e-7};
    }
}

bool is_close(double actual, double expected, Tolerance tolerance)
{
    if (std::isnan(actual) || std::isnan(expected))
        return std::isnan(actual) && std::isnan(expected);
    if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
    return std::fabs(actual - expected) <=
           tolerance.absolute + tolerance.relative * std::fabs(expected);
}

bool is_same_element(const Tensor& actual, const Tensor& expected, size_t index)
{
    if (expected.data_type == TENGINE_DT_STRING)
        return actual.texts[index] == expected.texts[index];
    if (tools::is_small(expected.data_type))
        return tools::get_code(actual, index) == tools::get_code(expected, index);
    if (tools::is_floating(expected.data_type))
        return is_close(tools::get_element(actual, index), tools::get_element(expected, index),
                        tolerance_of(expected.data_type));
    const size_t size = static_cast<size_t>(tengine_data_type_get_size(expected.data_type));
    return std::memcmp(actual.bytes.data() + index * size, expected.bytes.data() + index * size,
                       size) == 0;
}

std::string position_text(size_t index, const std::vector<int>& shape)
{
    std::string text;
    for (size_t i = shape.size(); i-- > 0;) {
        const size_t extent = static_cast<size_t>(shape[i]);
        text = std::to_string(index % extent) + (text.empty() ? "" : ",") + text;
        index /= extent;
    }
    return "[" + text + "]";
}

std::string element_text(const Tensor& tensor, size_t index)
{
    if (tensor.data_type == TENGINE_DT_STRING) return "'" + tensor.texts[index] + "'";
    char value[32];
    std::snprintf(value, sizeof value, "%.9g", tools::get_element(tensor, index));
    return value;
}

std::string differences_text(const Tensor& actual, const Tensor& expected, size_t first,
                             size_t number)
{
    return "element " + position_text(first, expected.shape) + " is " +
           element_text(actual, first) + ", expected is " + element_text(expected, first) + "; " +
           std::to_string(number) + " of " + std::to_string(expected.element_number()) +
           " elements differ";
}

}  // namespace

std::string compare_form(const Tensor& actual, const Tensor& expected)
{
    if (actual.data_type != expected.data_type)
        return std::string("type is ") + tengine_data_type_get_name(actual.data_type) +
               ", expected is " + tengine_data_type_get_name(expected.data_type);
    if (actual.shape != expected.shape)
        return "shape is " + tools::shape_text(actual.shape) + ", expected is " +
               tools::shape_text(expected.shape);
    return "";
}

std::string compare(const Tensor& actual, const Tensor& expected)
{
    const std::string form = compare_form(actual, expected);
    if (!form.empty()) return form;
    size_t first = 0;
    size_t number = 0;
    for (size_t i = expected.element_number(); i-- > 0;) {
        if (is_same_element(actual, expected, i)) continue;
        first = i;
        ++number;
    }
    return number == 0 ? "" : differences_text(actual, expected, first, number);
}

}  // namespace tengine::conformance
