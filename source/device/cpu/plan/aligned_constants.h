// SPDX-License-Identifier: Apache-2.0
// Copies of constants that lie in a file at an address that is not a multiple of their element's
// size, and of late ones (graph/late_constant.h). All preparations of a graph share them.
#pragma once

#include <cstddef>

#include "base/containers.hpp"
#include "device/cpu/plan/step.h"
#include "graph/graph_pool.h"

namespace tengine::cpu {

class AlignedConstants
{
  public:
    AlignedConstants() = default;
    AlignedConstants(const AlignedConstants&) = delete;
    AlignedConstants& operator=(const AlignedConstants&) = delete;
    ~AlignedConstants();

    // Lets the step read copies of such constants, unless its kernel takes any address. ENOMEM.
    TENGINE_MUST_USE int align(Step& step);
    // For a step whose kernel is chosen in each run: shapes may depend on values that are read from
    // the node's own tensors, so these are replaced by copies, except those that kernels may pack.
    // align() follows in the runs.
    TENGINE_MUST_USE static int align_dynamic(const KernelList& kernels, const Step& step);
    size_t bytes() const;

  private:
    struct Entry
    {
        const tensor* original;
        tensor* copy;
        graph_pool* shared;
    };

    int find(const node& node, tensor** constant);
    int add(const node& node, tensor** constant);

    Vector<Entry> entries_;
};

}  // namespace tengine::cpu
