// SPDX-License-Identifier: Apache-2.0
// See instruction_set.h, for a build without vectors; and for a minimal build, which would
// otherwise contain all int8 tiles.
#include "device/cpu/kernel/vector/instruction_set.h"
#include "device/cpu/kernel/vector/vector_target.h"

namespace tengine::cpu {

const char* get_instruction_set_text()
{
    const char* vectors = get_vector_target_name(0);
    return vectors ? vectors : "plain C++";
}

}  // namespace tengine::cpu
