// SPDX-License-Identifier: Apache-2.0
// What pre_run makes of a part: a list of steps over one arena. run() only walks it. In order:
// pick a kernel for every node (kernel_list.cc), let it prepare and pack its weights (its own
// prepare), plan the memory of everything inside the part (arena.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "device/cpu/kernel_list.h"
#include "graph/graph_pool.h"

namespace tengine::cpu {

// One kernel with its node. Owns what the kernel keeps.
struct Step
{
    const Kernel* kernel = nullptr;  // null until run time for a dynamic step
    KernelContext context;
    // Shapes depend on data: inferred, kernel picked and outputs allocated at each run.
    bool dynamic = false;

    Step() = default;
    Step(Step&& other) noexcept;
    Step& operator=(Step&&) = delete;
    ~Step() { release_state(); }
    void release_state();
};

class Plan : public Allocated
{
  public:
    // Compiles a part: picks kernels, lets them prepare, plans memory.
    static int create(const KernelList& kernels, subgraph& part, std::unique_ptr<Plan>* out_plan);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    int run();
    // Time of each step in the last run, in ns and in the order of the part's nodes; -1 without
    // run_options.profile or before a run.
    void copy_times(int64_t* out_ns) const;

    size_t arena_bytes() const { return arena_bytes_; }
    // What it holds besides: steps and what their kernels keep.
    size_t compiled_bytes() const;

  private:
    explicit Plan(const KernelList& kernels) : kernels_(kernels) {}

    int add_steps(subgraph& part);
    int prepare_step(Step& step);
    int plan_arena(const subgraph& part);
    int run_step(Step& step);
    int run_dynamic(Step& step);
    int run_profiled();

    const KernelList& kernels_;
    Vector<Step> steps_;
    Vector<int64_t> times_;    // one for each step with run_options.profile, else empty
    Vector<tensor*> planned_;  // tensors whose data lies in the arena
    GraphPool pool_;
    char* arena_ = nullptr;
    size_t arena_bytes_ = 0;
};

// The arena of a part (arena.cc): offset of every tensor that lives and dies inside it.
struct ArenaPlan
{
    struct Entry
    {
        tensor* value;
        size_t offset;
    };
    Vector<Entry> entries;
    size_t bytes = 0;
};

// Lifetimes are step numbers; a step's output takes over its input's memory where the kernel allows
// it and nothing else reads that input later.
int plan_tensors(const subgraph& part, const Vector<Step>& steps, ArenaPlan* out_plan);

}  // namespace tengine::cpu
