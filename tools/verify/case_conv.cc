// SPDX-License-Identifier: Apache-2.0
// Convolutions in float, at the sizes of the kernels' tests.
#include "benchmark/kernel_case.h"
#include "verify/case.h"

namespace tengine::tools {
namespace {

// Input 0 is fed, the others are constants.
Case from_kernel_case(const KernelCase& of)
{
    Case made;
    made.op = of.op;
    for (const std::vector<int>& dims : of.inputs)
        made.inputs.push_back(made.inputs.empty() ? fed(dims) : constant(dims));
    made.lists = of.lists;
    made.ints = of.ints;
    made.floats = of.floats;
    made.types = float_types();
    return made;
}

}  // namespace

void add_conv_cases(std::vector<Case>* cases)
{
    std::vector<KernelCase> table;
    tengine::add_conv_cases(table);
    add_depthwise_cases(table);
    add_conv_transpose_cases(table);
    for (const KernelCase& each : table)
        cases->push_back(from_kernel_case(each));
}

}  // namespace tengine::tools
