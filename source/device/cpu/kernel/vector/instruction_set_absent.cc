// SPDX-License-Identifier: Apache-2.0
// See instruction_set.h, for a build without vectors; and for a minimal one, which would have all
// tiles of int8 because they are named.
#include "device/cpu/kernel/vector/instruction_set.h"
#include "device/cpu/kernel/vector/vector_target.h"

namespace tengine::cpu {

const char* get_instruction_set_text()
{
    const char* vectors = get_vector_target_name(0);
    return vectors ? vectors : "plain C++";
}

}  // namespace tengine::cpu
