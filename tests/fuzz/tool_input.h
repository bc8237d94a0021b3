// SPDX-License-Identifier: Apache-2.0
// Inputs of the programs' readers, which throw where the library returns a status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/refusal.h"
#include "tensor_file/failure.h"

namespace tengine::test {

// Calls use(content); a Failure is a refusal.
template <class Use>
void feed_tool(const uint8_t* data, size_t size, const Use& use)
{
    bool is_accepted = true;
    try {
        use(std::string(reinterpret_cast<const char*>(data), size));
    } catch (const tools::Failure& failure) {
        is_accepted = false;
        tengine_error_set(TENGINE_EFORMAT, "%s", failure.what());
    }
    note_input(is_accepted);
}

}  // namespace tengine::test
