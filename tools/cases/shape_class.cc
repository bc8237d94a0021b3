// SPDX-License-Identifier: Apache-2.0
// Shape classes, read off a case, so that every table has them.
#include <algorithm>

#include "cases/case.h"

namespace tengine::tools {
namespace {

constexpr int kVector = 16;  // elements of a vector of 512 bits
constexpr int kManyChannels = 64;

const std::vector<int64_t>* find_list(const Case& of, const std::string& name)
{
    for (const auto& [key, values] : of.lists)
        if (key == name) return &values;
    return nullptr;
}

bool any_above(const std::vector<int64_t>* values, int64_t limit)
{
    return values && std::any_of(values->begin(), values->end(),
                                 [limit](int64_t value) { return value > limit; });
}

int group_of(const Case& of)
{
    for (const auto& [key, value] : of.ints)
        if (key == "group") return value;
    return 1;
}

int64_t element_number(const std::vector<int>& dims)
{
    int64_t number = 1;
    for (const int dim : dims)
        number *= dim;
    return number;
}

// The operands that are present and have no values of their own.
std::vector<const Operand*> list_operands(const Case& of)
{
    std::vector<const Operand*> operands;
    for (const Operand& operand : of.inputs)
        if (!operand.is_absent && operand.values.empty()) operands.push_back(&operand);
    return operands;
}

bool is_windowed(const Case& of)
{
    return of.op.find("Conv") != std::string::npos || of.op.find("Pool") != std::string::npos;
}

std::string window_class(const Case& of)
{
    const std::vector<int>& dims = of.inputs[0].dims;
    const int group = group_of(of);
    const std::vector<int64_t>* pads = find_list(of, "pads");
    if (any_above(find_list(of, "dilations"), 1)) return "dilated";
    if (group > 1) return group == dims[1] ? "depthwise" : "grouped";
    if (any_above(find_list(of, "strides"), 1)) return "strided";
    if (pads && !std::equal(pads->begin(), pads->begin() + static_cast<long>(pads->size() / 2),
                            pads->begin() + static_cast<long>(pads->size() / 2)))
        return "one-sided padding";
    return "";
}

bool is_broadcast(const std::vector<const Operand*>& operands)
{
    return operands.size() > 1 &&
           std::any_of(operands.begin(), operands.end(),
                       [&](const Operand* operand) { return operand->dims != operands[0]->dims; });
}

// The class of the first operand's sizes.
std::string size_class(const std::vector<int>& dims)
{
    if (dims.size() == 1 || dims.size() == 3) {
        if (dims.back() < kVector) return "shorter than a vector";
    }
    if (dims.size() == 4 && dims[1] >= kManyChannels) return "many channels";
    if (dims.size() == 4 && dims[0] > 1) return "batch";
    if (!dims.empty() && dims.back() < kVector) return "narrower than a vector";
    if (!dims.empty() && dims.back() % kVector != 0) return "odd sizes";
    return "plain";
}

}  // namespace

std::string classify_shape(const Case& of)
{
    const std::vector<const Operand*> operands = list_operands(of);
    if (operands.empty()) return "no operands";
    for (const Operand* operand : operands)
        if (element_number(operand->dims) == 0) return "zero-sized";
    if (element_number(operands[0]->dims) == 1) return "one element";
    if (is_windowed(of)) {
        if (const std::string window = window_class(of); !window.empty()) return window;
        const size_t rank = of.inputs[0].dims.size();
        if (rank != 4) return std::to_string(rank - 2) + " axes";
    } else if (is_broadcast(operands)) {
        return "broadcast";
    }
    return size_class(operands[0]->dims);
}

}  // namespace tengine::tools
