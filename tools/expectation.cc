// SPDX-License-Identifier: Apache-2.0
// Compares tensors. The contract is in expectation.h.
#include "expectation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "tengine/c_api.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/small_element.h"
#include "text.h"

namespace tengine::tools {
namespace {

double parse_bound(const std::string& number, const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(value >= 0) || std::isinf(value))
        throw Failure("invalid --tolerance '" + text +
                      "': expected RELATIVE[,ABSOLUTE], numbers of 0 or more, e.g. 0.001,0.00001");
    return value;
}

// "[0,3]"
std::string place_text(const Tensor& tensor, size_t index)
{
    std::string text;
    for (size_t axis = tensor.shape.size(); axis-- > 0;) {
        const size_t extent = static_cast<size_t>(tensor.shape[axis]);
        text = std::to_string(index % extent) + (text.empty() ? "" : ",") + text;
        index /= extent;
    }
    return "[" + text + "]";
}

bool has_same_bytes(const Tensor& a, const Tensor& b, size_t index)
{
    const size_t size = a.bytes.size() / a.element_number();
    return std::memcmp(a.bytes.data() + index * size, b.bytes.data() + index * size, size) == 0;
}

struct Differences
{
    size_t beyond = 0;    // elements that differ by more than the tolerance
    size_t place = 0;     // place of the largest difference
    double largest = -1;  // infinite where only one is NaN or they are different infinities
};

void add_difference(double size, bool is_beyond, size_t index, Differences* differences)
{
    if (is_beyond) ++differences->beyond;
    if (size <= differences->largest) return;
    differences->largest = size;
    differences->place = index;
}

bool is_same(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool is_inexact(int data_type)
{
    return is_floating(data_type) || is_complex(data_type);
}

std::string element_text(const Tensor& tensor, size_t index)
{
    return is_complex(tensor.data_type) ? complex_text(get_complex(tensor, index))
                                        : number_text(get_element(tensor, index));
}

// Doubles do not represent all integers of 64 bits, so tensors of one type that must agree exactly
// are compared by bytes.
Differences find_differences(const Tensor& output, const Tensor& expected,
                             const Tolerance& tolerance)
{
    Differences differences;
    const bool is_same_type = output.data_type == expected.data_type;
    for (size_t i = 0; i < output.element_number(); ++i) {
        const std::complex<double> a = get_complex(output, i);
        const std::complex<double> b = get_complex(expected, i);
        const bool is_equal = is_same(a.real(), b.real()) && is_same(a.imag(), b.imag());
        double size = is_equal ? 0 : std::abs(a - b);
        if (std::isnan(size)) size = HUGE_VAL;
        bool is_beyond =
            !is_equal && !(size <= tolerance.absolute + tolerance.relative * std::abs(b));
        if (std::isinf(size)) is_beyond = true;
        if (is_same_type && !is_inexact(output.data_type) && tolerance.absolute < 1)
            is_beyond = is_beyond || (is_equal && !has_same_bytes(output, expected, i));
        add_difference(size, is_beyond, i, &differences);
    }
    return differences;
}

Match compare_texts(const Tensor& output, const Tensor& expected)
{
    size_t number = 0;
    size_t first = 0;
    for (size_t i = output.texts.size(); i-- > 0;) {
        if (output.texts[i] == expected.texts[i]) continue;
        first = i;
        ++number;
    }
    if (number == 0) return {true, "all strings are equal"};
    return {false, std::to_string(number) + " of " + std::to_string(output.texts.size()) +
                       " strings differ, first at " + place_text(output, first) + ": '" +
                       output.texts[first] + "', expected '" + expected.texts[first] + "'"};
}

std::string tolerance_text(const Tolerance& tolerance)
{
    if (tolerance.relative == 0 && tolerance.absolute == 0) return "exact";
    return "tolerance " + number_text(tolerance.absolute) + " + " +
           number_text(tolerance.relative) + " of the value";
}

}  // namespace

Tolerance usual_tolerance(int data_type, int precision)
{
    if (!is_inexact(data_type) || is_small(data_type)) return {};
    if (precision == TENGINE_MODE_INT8 || precision == TENGINE_MODE_UINT8 ||
        precision == TENGINE_MODE_HYBRID_INT8)
        return {0.1, 0.1};
    if (precision == TENGINE_MODE_BF16 || data_type == TENGINE_DT_BF16) return {0.05, 0.05};
    if (precision == TENGINE_MODE_FP16 || data_type == TENGINE_DT_FP16) return {0.01, 0.01};
    return {1e-3, 1e-5};
}

Tolerance parse_tolerance(const std::string& text)
{
    const size_t comma = text.find(',');
    const double relative = parse_bound(text.substr(0, comma), text);
    if (comma == std::string::npos) return {relative, relative};
    return {relative, parse_bound(text.substr(comma + 1), text)};
}

Match compare(const Tensor& output, const Tensor& expected, const Tolerance& tolerance)
{
    const bool are_alike = (is_floating(output.data_type) && is_floating(expected.data_type)) ||
                           (is_complex(output.data_type) && is_complex(expected.data_type));
    if (!are_alike && output.data_type != expected.data_type)
        return {false, std::string("its type is ") + tengine_data_type_get_name(output.data_type) +
                           ", expected " + tengine_data_type_get_name(expected.data_type)};
    if (output.shape != expected.shape)
        return {false, "its shape is " + shape_text(output.shape) + ", expected " +
                           shape_text(expected.shape)};
    const size_t number = output.element_number();
    if (number == 0) return {true, "both are empty"};
    if (output.data_type == TENGINE_DT_STRING) return compare_texts(output, expected);
    const Differences found = find_differences(output, expected, tolerance);
    const std::string where =
        number_text(found.largest) + " at " + place_text(output, found.place) + ": " +
        element_text(output, found.place) + ", expected " + element_text(expected, found.place);
    const std::string bound = " (" + tolerance_text(tolerance) + ")";
    if (found.beyond == 0)
        return {true, found.largest == 0 ? "no difference" : "largest difference " + where + bound};
    return {false, std::to_string(found.beyond) + " of " + std::to_string(number) +
                       " numbers differ, the largest difference is " + where + bound};
}

}  // namespace tengine::tools
