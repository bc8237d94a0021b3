// SPDX-License-Identifier: Apache-2.0
// Which implementation of an operator is asked first.
#pragma once

namespace tengine::cpu {

// An operator with several implementations: their names (Kernel::name), best first. For a node the
// first that accepts it runs, so one for a special case comes before the general one, and the
// reference, which accepts everything, last.
struct Implementations
{
    static constexpr int kMost = 8;
    const char* op;            // as Kernel::op
    const char* names[kMost];  // null beyond the last; a build may lack some
};

// All operators with more than one. The closing row has no operator.
extern const Implementations implementations[];

}  // namespace tengine::cpu
