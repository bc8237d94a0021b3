// SPDX-License-Identifier: Apache-2.0
#include "verify/case_inputs.h"

#include <random>

#include "cases/operand_values.h"

namespace tengine::tools {
namespace {

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
    const int type = type_of(operand, case_type);
    const bool is_rounded = type == case_type && value_type != case_type;
    Tensor made = make_tensor(type, {operand.dims.begin(), operand.dims.end()});
    const std::vector<double> values = make_values(operand, of, case_type, engine);
    for (size_t i = 0; i < values.size(); ++i)
        set_element(&made, i, is_rounded ? rounded(values[i], value_type) : values[i]);
    return made;
}

}  // namespace

std::vector<Tensor> make_inputs(const Case& of, int data_type, int value_type, uint64_t seed)
{
    std::mt19937_64 engine(seed);
    std::vector<Tensor> inputs;
    for (const Operand& operand : of.inputs)
        inputs.push_back(
            operand.is_absent ? Tensor() : make_input(operand, of, data_type, value_type, &engine));
    return inputs;
}

}  // namespace tengine::tools
