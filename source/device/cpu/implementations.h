// SPDX-License-Identifier: Apache-2.0
// Which implementation of an operator is asked first.
#pragma once

#include <cstddef>

namespace tengine::cpu {

// An operator with several implementations: their names (Kernel::name), best first. For a node the
// first that accepts it runs, so one for a special case comes before the general one, and the
// reference, which accepts everything, last.
struct Implementations
{
    static constexpr int kMost = 12;
    const char* op;            // as Kernel::op
    const char* names[kMost];  // null beyond the last; a build may lack some
};

struct ImplementationList
{
    const Implementations* begin() const { return rows; }
    const Implementations* end() const { return rows + row_num; }

    const Implementations* rows;
    size_t row_num;
};

// All operators of the build with more than one.
extern const ImplementationList implementations;

}  // namespace tengine::cpu
