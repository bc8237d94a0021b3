// SPDX-License-Identifier: Apache-2.0
// The steps of a plan, and what pre_run does with them, a file each in this order:
//     fuse.cc    steps take over the nodes after them that they can compute on the way
//     fuse_attention.cc  the nodes of an attention become a step
//     layout.cc  which tensors have their channels last, and the copies where that changes
//     choose.cc  the kernel of every step; timing.cc, another one that is faster
//     join.cc    results that a Concat would copy are written where it has them
//     micro_batch.cc  ranges of steps that run for a few pictures of a batch at a time
//     pack.cc    kernels prepare: they pack weights and say how much scratch they need
//     arena.cc   memory of everything that lives and dies inside the part; tiers.cc, in several
//                memories, with what stays there
// run.cc walks them; dynamic.cc does those whose shapes depend on data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/containers.hpp"
#include "base/memory_plan.h"
#include "base/minimal.h"
#include "device/cpu/kernel/attention/attention.h"
#include "device/cpu/kernel_list.h"
#include "device/cpu/plan/tensor_table.h"
#include "tengine/device.h"

namespace tengine::cpu {

// The time of a run of a kernel, one of those that were timed for a step.
struct KernelTime
{
    const Kernel* kernel;
    uint64_t ns;
};
using KernelTimes = Vector<KernelTime>;

// One kernel with its node. Owns the state of the kernel.
struct Step
{
    const Kernel* kernel = nullptr;  // null until run time for a dynamic step
    KernelContext context;
    // Shapes depend on data: runs infer them, choose the kernel and allocate outputs (dynamic.cc).
    bool dynamic = false;
    int position = 0;  // in the part, of the node that the time counts for
    // The tensors that it reads and writes. Null: absent.
    Vector<tensor*> inputs;
    Vector<tensor*> outputs;
    Layout layout = Layout::kPlanar;
    // The descriptions of tensors for an elementwise kernel in NHWC: dimensions are in their order
    // in memory.
    Vector<tensor> views;
#ifndef TENGINE_MINIMAL
    Vector<Attention> attention;    // of the context, or none
    KernelTimes times;              // by which the kernel was chosen; empty: not timed
    const char* untimed = nullptr;  // the reason, if there was a choice
    // For a dynamic step (dynamic.cc): whether shapes depend on the values of inputs, and not on
    // their shapes alone; the shapes that the kernel was prepared for, or empty: every run prepares
    // it; the bytes of the outputs in the last run.
    bool is_by_values = false;
    Vector<int> prepared_for;
    Vector<size_t> result_bytes;
#endif

    Step() = default;
    Step(Step&& other) noexcept;
    Step& operator=(Step&&) = delete;
    ~Step();
    void release_state();
    size_t state_bytes() const;
    // Sets the lists of the context; they must not change afterwards.
    void bind();
    // Sets the addresses of views to those of their tensors.
    void refresh_views();

  private:
    Vector<tensor*> shown_;  // inputs, then outputs, as the kernel gets them
};

// Whether it is this operator of ONNX's.
bool is_operator(const Step& step, const char* op);

// Keeps the steps that are not marked as gone.
void drop_steps(const Vector<bool>& is_gone, Vector<Step>& steps);

// Tensors that only the plan has: copies in another layout.
using Copies = Vector<std::unique_ptr<tensor, void (*)(tensor*)>>;

// layout.cc: the kernel of the step for NHWC; null if there is none.
const Kernel* find_kernel_of_pixels(const KernelList& kernels, const Step& step);

// fuse.cc: steps that are computed by others are gone afterwards.
void fuse_steps(const KernelList& kernels, const subgraph& part, Vector<Step>& steps);

// fuse_attention.cc: the same where the scores of queries and keys are all that a Softmax has,
// which need no memory then. Transposes and similar nodes before and after it become steps from an
// element to the next.
void fuse_attention(const subgraph& part, Vector<Step>& steps);

// layout.cc: a layout for each step, and steps that copy where layouts meet, which come before the
// first step that needs the copy.
void choose_layouts(const KernelList& kernels, const subgraph& part, Vector<Step>& steps,
                    Copies& copies);

// Whether there is anything to compute. Kernels walk over the dimensions that are not 0 and have
// tables for them, and a hostile shape may have 2^43 of them beside its 0.
bool has_elements(const node& node);

// Whether the kernel of a dynamic step finds the shapes of its outputs and allocates them.
bool allocates_outputs(const node& node);

// choose.cc: the first kernel for its layout that accepts the step's node, unless it is a copy,
// which has one. EDTYPE when none does.
int choose_kernel(const KernelList& kernels, Step& step);

// choose.cc: the step's kernel, and others that compute the same in its layout, except for the
// reference; empty where there is no choice between kernels.
Vector<const Kernel*> list_alternatives(const KernelList& kernels, const Step& step);

// Where a tensor is some of the channels of a larger one, or its own whole.
struct Placement
{
    tensor* whole = nullptr;
    int64_t first = 0;  // channel
};
struct Joins
{
    TensorTable<Placement> placements;
    Vector<int64_t> pixel_steps;  // those of all steps that have KernelContext::pixel_steps
};

// join.cc: with channels last, the inputs of a Concat of channels lie in its result where their
// writers and all their readers can do with that; and its result in that of a later one.
void join_channels(const subgraph& part, Vector<Step>& steps, Joins* out_joins);

// Steps from `begin` to before `end`, which run `count` times, each time for as many pictures of a
// batch.
struct MicroBatches
{
    // A tensor that has the pictures.
    struct Part
    {
        tensor* value;
        // From the pictures of a run to those of the next; 0: the steps alone use the tensor, and
        // its memory has the pictures of one run.
        size_t bytes;
    };
    size_t begin, end;
    int count;
    Vector<Part> parts;
};
// Minimal builds have none.
using MicroBatchList =
    std::conditional_t<IS_MINIMAL, std::array<MicroBatches, 0>, Vector<MicroBatches>>;

// micro_batch.cc: the ranges, in order, that do not overlap.
void divide_batch(const subgraph& part, const Vector<Step>& steps, const Joins& joins,
                  MicroBatchList* out_batches);

// While an instance lives, tensors have the shapes of one micro-batch: first those of the first.
class MicroBatch
{
  public:
    explicit MicroBatch(const MicroBatches& batches);
    ~MicroBatch();
    MicroBatch(const MicroBatch&) = delete;
    MicroBatch& operator=(const MicroBatch&) = delete;
    // Moves on to the memory of micro-batch `index`.
    void move_to(int index);

  private:
    const MicroBatches& batches_;
    int index_ = 0;
};

// run.cc: the kernel's run, where there is anything to compute.
int run_kernel(Step& step);

// pack.cc: calls the kernel's prepare(); the kernel's former state is freed.
int pack_weights(Step& step);

// Memory and offset of every tensor that lives and dies inside a part, and of the scratch of steps.
struct ArenaPlan
{
    struct Entry
    {
        tensor* value;
        int32_t memory;        // of the device's
        size_t offset, bytes;  // in it
        // Tensors that share memory on purpose have the same block.
        int32_t block;
        int32_t first;  // the step that writes it, and the last that reads it
        int32_t last;
        uint64_t moved;  // bytes that a run writes and reads
    };
    // The scratch of a step, if steps do not share one: with several memories.
    struct Scratch
    {
        int32_t memory;
        size_t offset, bytes;
    };
    // The packed weights of a step that have a copy in a faster memory than the last.
    struct Kept
    {
        size_t step;
        int32_t memory;
        size_t offset, bytes;  // in the memory that the part keeps there
        uint64_t moved;        // bytes that a run reads
    };
    Vector<Entry> entries;
    Vector<Scratch> scratch;    // for each step, or none
    size_t scratch_offset = 0;  // else of that which all steps share
    size_t sizes[IR_MOST_MEMORIES] = {};
    size_t bytes = 0;  // the sum
    Vector<Kept> kept;
    size_t kept_sizes[IR_MOST_MEMORIES] = {};
    size_t taken[IR_MOST_MEMORIES] = {};  // by these, and left for boundary tensors
};

// arena.cc: lifetimes are step numbers; a step's output takes over its input's memory where the
// kernel allows it and nothing else reads that input later. With several memories, tensors, the
// scratch of steps and packed weights are placed so that moving their bytes takes little time
// (tiers.cc). ELIMIT when it takes more memory than there are addresses.
int plan_arena(const subgraph& part, const Vector<Step>& steps, const Joins& joins,
               const MicroBatchList& batches, const Vector<memory_tier_t>& tiers,
               ArenaPlan* out_plan);

// arena.cc: the same with the offsets that the model's file has (core->planned_blocks), after a
// check. ENOENT: these are for other blocks. EFORMAT: they are no plan. *out_plan is undefined
// then.
int take_arena(const subgraph& part, const Vector<Step>& steps, const Joins& joins,
               const MicroBatchList& batches, const Vector<memory_tier_t>& tiers,
               ArenaPlan* out_plan);

}  // namespace tengine::cpu
