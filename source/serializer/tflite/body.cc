// SPDX-License-Identifier: Apache-2.0
// Subgraphs that are functions of two values: those of reductions, sorting and scattering.
#include "operator/tflite/body.h"

#include "operator/infer.h"
#include "serializer/tflite/option_fields.h"

namespace tengine::tflite {
namespace {

struct Function
{
    int code;
    int body;  // enum tfl_body
};

constexpr Function kFunctions[] = {
    {0, TFL_BODY_ADD},        {163, TFL_BODY_ADD},     {18, TFL_BODY_MULTIPLY},
    {165, TFL_BODY_MULTIPLY}, {55, TFL_BODY_MAXIMUM},  {166, TFL_BODY_MAXIMUM},
    {57, TFL_BODY_MINIMUM},   {181, TFL_BODY_MINIMUM}, {86, TFL_BODY_AND},
    {176, TFL_BODY_AND},      {84, TFL_BODY_OR},       {183, TFL_BODY_OR},
    {58, TFL_BODY_LESS},      {63, TFL_BODY_LESS},     {61, TFL_BODY_GREATER},
    {62, TFL_BODY_GREATER}};

constexpr int kCompare = 191;
constexpr int32_t kLeastGreater = 2, kLeastLess = 4, kMostDirections = 5;

// The direction is the first field of the options.
int find_comparison(const Reading& reading, const file::Operator& record)
{
    int32_t direction = 0;
    if (!OptionFields(*reading.image, record.options_2()).read_number(0, 0, &direction)) return 0;
    if (direction < kLeastGreater || direction > kMostDirections) return 0;
    return direction < kLeastLess ? TFL_BODY_GREATER : TFL_BODY_LESS;
}

int find_function(const Reading& reading, const file::Operator& record)
{
    const int code = find_code(reading, record);
    if (code == kCompare) return find_comparison(reading, record);
    for (const Function& function : kFunctions)
        if (function.code == code) return function.body;
    return 0;
}

int swap_operands(int body)
{
    return body == TFL_BODY_LESS      ? TFL_BODY_GREATER
           : body == TFL_BODY_GREATER ? TFL_BODY_LESS
                                      : body;
}

// 0: the subgraph is another function.
int find_body_of(const Reading& reading, const file::Subgraph& subgraph)
{
    // A body for two operands has two values of each.
    if (count(subgraph.inputs()) < 2 || count(subgraph.outputs()) != 1) return 0;
    const int32_t first = subgraph.inputs()->Get(0), second = subgraph.inputs()->Get(1);
    const int32_t result = subgraph.outputs()->Get(0);
    const uint32_t operators = count(subgraph.operators());
    if (operators == 0) return result == second ? TFL_BODY_SECOND : 0;
    const file::Operator& record = *subgraph.operators()->Get(0);
    if (operators != 1 || count(record.inputs()) != 2 || count(record.outputs()) != 1 ||
        record.outputs()->Get(0) != result)
        return 0;
    const int32_t left = record.inputs()->Get(0), right = record.inputs()->Get(1);
    const int body = find_function(reading, record);
    if (left == first && right == second) return body;
    return left == second && right == first ? swap_operands(body) : 0;
}

}  // namespace

int find_body(const Reading& reading, const struct node* node, int32_t number, int* out_body)
{
    const auto* subgraphs = reading.model->subgraphs();
    if (number < 0 || static_cast<uint32_t>(number) >= count(subgraphs))
        return fail_node(node, TENGINE_EFORMAT, "its body is subgraph %d, the model has %u", number,
                         count(subgraphs));
    *out_body = find_body_of(reading, *subgraphs->Get(static_cast<uint32_t>(number)));
    if (*out_body != 0) return TENGINE_OK;
    return fail_node(node, TENGINE_ENOTSUP,
                     "its body, subgraph %d, is not one operator of both values: a sum, a product, "
                     "a maximum, a minimum or a comparison",
                     number);
}

}  // namespace tengine::tflite
