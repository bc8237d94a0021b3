// SPDX-License-Identifier: Apache-2.0
#include "cases/operand_values.h"

#include <algorithm>
#include <cmath>

namespace tengine::tools {
namespace {

bool is_float(int data_type)
{
    const Types& types = float_types();
    return std::find(types.begin(), types.end(), data_type) != types.end();
}

bool is_unsigned(int data_type)
{
    return data_type == TENGINE_DT_UINT8 || data_type == TENGINE_DT_UINT16 ||
           data_type == TENGINE_DT_UINT32 || data_type == TENGINE_DT_UINT64;
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

// A number of the range that the type holds.
double random_value(std::mt19937_64* engine, double low, double high, int data_type)
{
    // 2^-53: numbers between have no more digits in a double.
    const double share = std::ldexp(static_cast<double>((*engine)() >> 11), -53);
    if (is_float(data_type)) return low + share * (high - low);
    if (data_type == TENGINE_DT_BOOL) return share < 0.5 ? 0 : 1;
    low = std::ceil(is_unsigned(data_type) ? std::max(low, 0.0) : low);
    return std::min(std::floor(low + share * (high - low + 1)), high);
}

constexpr double kIntegerFactor = 8;

size_t count_elements(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

}  // namespace

int type_of(const Operand& operand, int case_type)
{
    return operand.data_type == kCaseType ? case_type : operand.data_type;
}

std::vector<double> make_values(const Operand& operand, const Case& of, int case_type,
                                std::mt19937_64* engine)
{
    const int type = type_of(operand, case_type);
    const bool has_range = operand.low != operand.high;
    const double factor = is_float(type) ? 1 : kIntegerFactor;
    const double low = has_range ? operand.low : of.low * factor;
    const double high = has_range ? operand.high : of.high * factor;
    const double offset = operand.counts_from_lowest ? lowest_value(type) : 0;
    std::vector<double> values(count_elements(operand.dims));
    for (size_t i = 0; i < values.size(); ++i) {
        if (!operand.values.empty())
            values[i] = operand.values[i % operand.values.size()] + offset;
        else if (operand.counts_from_lowest)
            values[i] = offset + std::floor(random_value(engine, low, high + 1, TENGINE_DT_FP64));
        else
            values[i] = random_value(engine, low, high, type);
    }
    return values;
}

}  // namespace tengine::tools
