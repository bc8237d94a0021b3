// SPDX-License-Identifier: Apache-2.0
// The CPU device: it compiles parts as other devices do, and runs every operator. Kernels live in
// kernel/ and reference/, the meaning of shapes and parameters in source/operator/.
//
// A part as pre_run makes it: a list of steps over one arena (step.h). run() only walks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "base/trace.h"
#include "device/cpu/plan/aligned_constants.h"
#include "device/cpu/plan/step.h"
#include "graph/graph_pool.h"
#include "tengine/device.h"

namespace tengine::cpu {

class Plan : public Allocated
{
  public:
    // Compiles a part in two steps: the first chooses kernels, which the caller may replace; the
    // second packs weights and plans memory.
    static int choose(const KernelList& kernels, subgraph& part, std::unique_ptr<Plan>* out_plan);
    // `tiers`: the memories that the part has.
    int prepare(subgraph& part, const Vector<memory_tier_t>& tiers);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    // In the arenas that the core lends, for as many bytes as prepare() has asked for.
    int run(const subgraph& part);
    // Time of each step in the last run, in ns and in the order of the part's nodes; -1 without
    // run_options.profile or before a run.
    void copy_times(int64_t* out_ns) const;

    // The kernel of the node at `position` in the part, and the reason; nothing if another node's
    // kernel computes it, or each run chooses one.
    void explain(int position, ir_node_kernel_t* out_kernel) const;

    // Appends the blocks of the arena and the positions of the steps' nodes, as interface.plan.
    // Throws std::bad_alloc.
    void list_blocks(const subgraph& part, struct vector* out_blocks,
                     struct vector* out_steps) const;

    // For each of these blocks its memory and the reason, as interface.place. Throws
    // std::bad_alloc.
    void list_places(struct vector* out_places) const;

    // Leaves the tensors after the last run, since the part's graph may end before the plan.
    void leave_part();

    Vector<Step>& steps() { return steps_; }
    // The memory of the plan, without the arena: steps and the state of their kernels.
    size_t compiled_bytes() const;

  private:
    explicit Plan(const KernelList& kernels) : kernels_(kernels) {}

    void add_steps(const subgraph& part);
    // Calls work(step) for those whose shapes are known, until it fails.
    template <class Work>
    int for_each_known(const Work& work);
    // Prepares kernels for the shapes of their steps, those of a micro-batch where there are some.
    int prepare_steps();
    int take_tensors(const subgraph& part, const Vector<memory_tier_t>& tiers, ArenaPlan* out_plan,
                     bool* out_taken);
    int place_tensors(const subgraph& part, const Vector<memory_tier_t>& tiers,
                      ArenaPlan* out_plan);
    int reserve_arenas(subgraph& part, const Vector<memory_tier_t>& tiers);
    // keep.cc: copies of packed weights in fast memories.
    int keep_weights(subgraph& part);
    void reserve_kept(subgraph& part);
    int move_weights(const ArenaPlan::Kept& kept);
    void free_kept();
    void use_arenas(const subgraph& part);
    int run_steps(size_t begin, size_t end);
    int run_step(Step& step);
    int run_dynamic(Step& step);
#ifndef TENGINE_MINIMAL
    int plan_dynamic(Step& step);
    int choose_and_pack(Step& step);
    int reserve_scratch(const Step& step);
#endif
    int run_timed(trace_track_t* track, size_t begin, size_t end);

    const KernelList& kernels_;
    Copies copies_;
    AlignedConstants constants_;
    Vector<Step> steps_;
    Joins joins_;
    MicroBatchList batches_;
    Vector<int64_t> times_;  // one for each step with run_options.profile, else empty
    ArenaPlan planned_;      // tensors whose data lies in the arenas, and scratch
    Vector<memory_tier_t> tiers_;
    GraphPool pool_;
#ifndef TENGINE_MINIMAL
    // The arena of steps whose shapes depend on data, which run one after the other; it only grows.
    std::unique_ptr<void, void (*)(void*)> dynamic_scratch_{nullptr, free_memory};
    uint64_t dynamic_scratch_bytes_ = 0;
#endif
    char* arenas_[IR_MOST_MEMORIES] = {};  // of the last run
    // The blocks of copies of weights, and the kernels' states with the originals.
    void* kept_memory_[IR_MOST_MEMORIES] = {};
    struct State
    {
        void* state;
        void (*free)(void*);
        size_t bytes;
        size_t (*count)(const void*);  // in place of `bytes`, if it is not null
    };
    Vector<State> originals_;
    size_t node_num_ = 0;  // of the part
};

}  // namespace tengine::cpu
