// SPDX-License-Identifier: Apache-2.0
#include "cases/case.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace tengine::tools {

Operand fed(std::vector<int> dims)
{
    Operand made;
    made.dims = std::move(dims);
    return made;
}

Operand constant(std::vector<int> dims)
{
    Operand made = fed(std::move(dims));
    made.is_constant = true;
    return made;
}

Operand absent()
{
    Operand made;
    made.is_absent = true;
    return made;
}

namespace {

Operand constant_values(std::vector<int> dims, std::vector<double> values, int data_type)
{
    Operand made = constant(std::move(dims));
    made.values = std::move(values);
    made.data_type = data_type;
    return made;
}

// One value is a scalar, as scales and zero points are written.
std::vector<int> dims_of(const std::vector<double>& values)
{
    return values.size() == 1 ? std::vector<int>{}
                              : std::vector<int>{static_cast<int>(values.size())};
}

}  // namespace

Operand int64_list(std::vector<double> values)
{
    const int number = static_cast<int>(values.size());
    return constant_values({number}, std::move(values), TENGINE_DT_INT64);
}

Operand number(double value)
{
    return constant_values({}, {value}, kCaseType);
}

Operand scales(std::vector<double> values)
{
    std::vector<int> dims = dims_of(values);
    return constant_values(std::move(dims), std::move(values), TENGINE_DT_FP32);
}

Operand fed_bytes(std::vector<int> dims, int data_type)
{
    Operand made = fed(std::move(dims));
    made.data_type = data_type;
    made.low = 0;
    made.high = 255;
    made.counts_from_lowest = true;
    return made;
}

Operand constant_bytes(std::vector<int> dims, int data_type)
{
    Operand made = fed_bytes(std::move(dims), data_type);
    made.is_constant = true;
    return made;
}

Operand zero_points(std::vector<double> steps, int data_type)
{
    std::vector<int> dims = dims_of(steps);
    Operand made = constant_values(std::move(dims), std::move(steps), data_type);
    made.counts_from_lowest = true;
    return made;
}

const Types& float_types()
{
    static const Types types = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16, TENGINE_DT_FP64};
    return types;
}

namespace {

Types joined(const Types& first, const Types& second)
{
    Types types = first;
    types.insert(types.end(), second.begin(), second.end());
    return types;
}

}  // namespace

const Types& integer_types()
{
    static const Types types = {TENGINE_DT_INT8,   TENGINE_DT_UINT8, TENGINE_DT_INT16,
                                TENGINE_DT_INT32,  TENGINE_DT_INT64, TENGINE_DT_UINT16,
                                TENGINE_DT_UINT32, TENGINE_DT_UINT64};
    return types;
}

const Types& number_types()
{
    static const Types types = joined(float_types(), integer_types());
    return types;
}

const Types& all_types()
{
    static const Types types = joined(number_types(), {TENGINE_DT_BOOL});
    return types;
}

const Types& byte_types()
{
    static const Types types = {TENGINE_DT_INT8, TENGINE_DT_UINT8};
    return types;
}

Types few_types(const Types& types)
{
    Types few;
    std::copy_if(types.begin(), types.end(), std::back_inserter(few),
                 [](int type) { return type == TENGINE_DT_FP32 || type == TENGINE_DT_FP16; });
    return few;
}

namespace {

constexpr size_t kMostShown = 8;

template <class Value>
std::string join(const std::vector<Value>& values, char separator)
{
    std::ostringstream text;
    for (size_t i = 0; i < values.size(); ++i) {
        if (i > 0) text << separator;
        text << values[i];
    }
    return text.str();
}

// "1,2,3", "#9" of nine.
template <class Value>
std::string list_text(const std::vector<Value>& values)
{
    if (values.size() > kMostShown) return '#' + std::to_string(values.size());
    return join(values, ',');
}

// ":int8" of a quantised operand that has it whatever the case's type.
const char* type_text(const Operand& operand)
{
    if (!operand.counts_from_lowest) return "";
    switch (operand.data_type) {
        case TENGINE_DT_INT8:
            return ":int8";
        case TENGINE_DT_UINT8:
            return ":uint8";
        default:
            return "";
    }
}

// "[1,2,3]" of values, "#1x3" of a constant, "1x3" of a fed operand.
std::string operand_text(const Operand& operand)
{
    if (operand.is_absent) return "-";
    if (operand.values.empty() || operand.values.size() > kMostShown)
        return (operand.is_constant ? "#" : "") +
               (operand.dims.empty() ? "scalar" : join(operand.dims, 'x')) + type_text(operand);
    return '[' + list_text(operand.values) + ']' + type_text(operand);
}

}  // namespace

std::string Case::name() const
{
    std::ostringstream text;
    text << op;
    for (const Operand& input : inputs)
        text << ' ' << operand_text(input);
    for (const auto& [key, values] : lists)
        text << ' ' << key << '=' << list_text(values);
    for (const auto& [key, values] : float_lists)
        text << ' ' << key << '=' << list_text(values);
    for (const auto& [key, values] : text_lists)
        text << ' ' << key << '=' << list_text(values);
    for (const auto& [key, value] : ints)
        text << ' ' << key << '=' << value;
    for (const auto& [key, value] : floats)
        text << ' ' << key << '=' << value;
    for (const auto& [key, value] : texts)
        text << ' ' << key << '=' << value;
    return text.str() + (is_behind_conv ? " behind=Conv" : "");
}

std::vector<Case> list_cases()
{
    std::vector<Case> cases;
    add_conv_cases(&cases);
    add_product_cases(&cases);
    add_elementwise_cases(&cases);
    add_pair_cases(&cases);
    add_pool_cases(&cases);
    add_normalization_cases(&cases);
    add_reduction_cases(&cases);
    add_movement_cases(&cases);
    add_index_cases(&cases);
    add_quantized_cases(&cases);
    add_recurrent_cases(&cases);
    add_tree_cases(&cases);
    add_other_cases(&cases);
    add_cases_behind_conv(&cases);
    for (Case& each : cases)
        if (each.shape_class.empty()) each.shape_class = classify_shape(each);
    return cases;
}

}  // namespace tengine::tools
