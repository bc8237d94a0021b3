// SPDX-License-Identifier: Apache-2.0
// The steps of a plan, and what pre_run does with them, a file each in this order:
//     choose.cc  the kernel of every node
//     pack.cc    kernels prepare: they pack weights and say how much scratch they need
//     arena.cc   memory of everything that lives and dies inside the part
// run.cc walks them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/containers.hpp"
#include "device/cpu/kernel_list.h"

namespace tengine::cpu {

// One kernel with its node. Owns what the kernel keeps.
struct Step
{
    const Kernel* kernel = nullptr;  // null until run time for a dynamic step
    KernelContext context;
    // Shapes depend on data: inferred, kernel chosen and outputs allocated at each run.
    bool dynamic = false;

    Step() = default;
    Step(Step&& other) noexcept;
    Step& operator=(Step&&) = delete;
    ~Step() { release_state(); }
    void release_state();
    size_t state_bytes() const;
};

// Whether there is anything to compute. Kernels walk over the dimensions that are not 0 and have
// tables for them, and a hostile shape may have 2^43 of them beside its 0.
bool has_elements(const node& node);

// Whether the kernel of a dynamic step finds the shapes of its outputs and allocates them.
bool allocates_outputs(const node& node);

// choose.cc: the first kernel that accepts the step's node. EDTYPE when none does.
int choose_kernel(const KernelList& kernels, Step& step);

// pack.cc: what the kernel keeps, as its prepare() leaves it; what it kept before is freed.
int pack_weights(Step& step);

// Offset of every tensor that lives and dies inside a part, and of the scratch that all steps
// share.
struct ArenaPlan
{
    struct Entry
    {
        tensor* value;
        size_t offset;
    };
    Vector<Entry> entries;
    size_t scratch_offset = 0;
    size_t bytes = 0;
};

// arena.cc: lifetimes are step numbers; a step's output takes over its input's memory where the
// kernel allows it and nothing else reads that input later. ELIMIT when it takes more memory than
// there are addresses.
int plan_arena(const subgraph& part, const Vector<Step>& steps, ArenaPlan* out_plan);

}  // namespace tengine::cpu
