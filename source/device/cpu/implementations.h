// SPDX-License-Identifier: Apache-2.0
// The order of the implementations of an operator.
#pragma once

#include <cstddef>

namespace tengine::cpu {

// An operator with several implementations: their names (Kernel::name), best first. The first that
// accepts a node runs it, so one for a special case precedes the general one, and the reference,
// which accepts every node, is last.
struct Implementations
{
    static constexpr int kMost = 12;
    const char* op;            // of Kernel::op
    const char* names[kMost];  // null beyond the last; a build may lack some
};

struct ImplementationList
{
    const Implementations* begin() const { return rows; }
    const Implementations* end() const { return rows + row_num; }

    const Implementations* rows;
    size_t row_num;
};

// All operators of the build with more than one implementation.
extern const ImplementationList implementations;

}  // namespace tengine::cpu
