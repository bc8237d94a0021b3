// SPDX-License-Identifier: Apache-2.0
// The common part of assembler and disassembler, besides the functions of program.h.
#pragma once

#include <string>

#include "device/tpu/program/program.h"
#include "tengine/defines.h"

namespace tengine::tpu {

struct TypeName
{
    int data_type;
    const char* name;
};

constexpr int kTypeNameNum = 3;
extern const TypeName kTypeNames[kTypeNameNum];

// Returns the instructions alone, without the directives before them.
std::string disassemble_code(const Program& program);

}  // namespace tengine::tpu
