// SPDX-License-Identifier: Apache-2.0
// Pages and tables that tests make and compare: TENGINE_WRITE_TABLE=1 writes them.
#pragma once

#include <cstdlib>

namespace tengine::test {

inline bool is_table_written()
{
    const char* value = std::getenv("TENGINE_WRITE_TABLE");
    return value && *value == '1';
}

}  // namespace tengine::test
