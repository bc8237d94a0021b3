// SPDX-License-Identifier: Apache-2.0
#include "cases/kernel_table.h"

namespace tengine::tools {

Case from_kernel_case(const KernelCase& of, const Types& types)
{
    Case made;
    made.op = of.op;
    for (const std::vector<int>& dims : of.inputs)
        made.inputs.push_back(made.inputs.empty() ? fed(dims) : constant(dims));
    made.lists = of.lists;
    made.ints = of.ints;
    made.floats = of.floats;
    made.types = types;
    return made;
}

}  // namespace tengine::tools
