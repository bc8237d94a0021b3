// SPDX-License-Identifier: Apache-2.0
// The guide's plug-in, compiler.cc, with a list of the operators that it may select.
#include "tengine/compat/litert/litert.hpp"

#undef TENGINE_LITERT_COMPILER
#define TENGINE_LITERT_COMPILER(device_name, sdk_version, byte_code_version)                  \
    TENGINE_LITERT_COMPILER_OF("LISTED", sdk_version, byte_code_version, "Mul", "Sub", "Add", \
                               "RMSNormalization")

#include "compiler.cc"
