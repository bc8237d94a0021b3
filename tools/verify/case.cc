// SPDX-License-Identifier: Apache-2.0
#include "verify/case.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"

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

namespace {

constexpr size_t kMostShown = 8;

// "1,2,3", "#9" of nine.
template <class Value>
std::string list_text(const std::vector<Value>& values)
{
    if (values.size() > kMostShown) return '#' + std::to_string(values.size());
    std::ostringstream text;
    for (size_t i = 0; i < values.size(); ++i)
        text << (i == 0 ? "" : ",") << values[i];
    return text.str();
}

// "[1,2,3]" of values, "#1x3" of a constant, "1x3" of a fed operand.
std::string operand_text(const Operand& operand)
{
    if (operand.is_absent) return "-";
    if (operand.values.empty() || operand.values.size() > kMostShown)
        return (operand.is_constant ? "#" : "") + shape_text(operand.dims);
    return '[' + list_text(operand.values) + ']';
}

double lowest_value(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_INT8:
            return -128;
        case TENGINE_DT_INT16:
            return -32768;
        default:
            return 0;
    }
}

bool is_unsigned(int data_type)
{
    return data_type == TENGINE_DT_UINT8 || data_type == TENGINE_DT_UINT16 ||
           data_type == TENGINE_DT_UINT32 || data_type == TENGINE_DT_UINT64;
}

// A number of the range that the type holds.
double random_value(std::mt19937_64* engine, double low, double high, int data_type)
{
    // 2^-53: numbers between have no more digits in a double.
    const double share = std::ldexp(static_cast<double>((*engine)() >> 11), -53);
    if (is_floating(data_type)) return low + share * (high - low);
    if (data_type == TENGINE_DT_BOOL) return share < 0.5 ? 0 : 1;
    low = std::ceil(is_unsigned(data_type) ? std::max(low, 0.0) : low);
    return std::min(std::floor(low + share * (high - low + 1)), high);
}

constexpr double kIntegerFactor = 8;

// A value rounded to another floating type.
double rounded(double value, int data_type)
{
    Tensor element = make_tensor(data_type, {});
    set_element(&element, 0, value);
    return get_element(element, 0);
}

Tensor make_input(const Operand& operand, const Case& of, int case_type, int value_type,
                  std::mt19937_64* engine)
{
    const int type = operand.data_type == kCaseType ? case_type : operand.data_type;
    Tensor made = make_tensor(type, {operand.dims.begin(), operand.dims.end()});
    const bool has_range = operand.low != operand.high;
    const bool is_rounded = type == case_type && value_type != case_type;
    const double offset = operand.counts_from_lowest ? lowest_value(type) : 0;
    for (size_t i = 0; i < made.element_number(); ++i) {
        const double factor = is_floating(type) ? 1 : kIntegerFactor;
        const double low = has_range ? operand.low : of.low * factor;
        const double high = has_range ? operand.high : of.high * factor;
        const double value =
            !operand.values.empty() ? operand.values[i % operand.values.size()] + offset
            : operand.counts_from_lowest
                ? offset + std::floor(random_value(engine, low, high + 1, TENGINE_DT_FP64))
                : random_value(engine, low, high, type);
        set_element(&made, i, is_rounded ? rounded(value, value_type) : value);
    }
    return made;
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

std::vector<Tensor> make_inputs(const Case& of, int data_type, int value_type, uint64_t seed)
{
    std::mt19937_64 engine(seed);
    std::vector<Tensor> inputs;
    for (const Operand& operand : of.inputs)
        inputs.push_back(
            operand.is_absent ? Tensor() : make_input(operand, of, data_type, value_type, &engine));
    return inputs;
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
