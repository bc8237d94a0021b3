// SPDX-License-Identifier: Apache-2.0
// Bodies of control flow (graph/body.h) as kernels run them: their inputs and outputs, and values
// that are passed from round to round.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/containers.hpp"
#include "device/cpu/kernel_context.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "graph/preparation.h"
#include "graph/run_state.h"

namespace tengine::cpu {

inline ir_body_t& body_of(const KernelContext& context, int index)
{
    return context.node->core->bodies->list[index];
}

inline int own_input_num(const ir_body_t& body)
{
    return body.input_num - body.capture_num;
}

// Sets the tensors that the body captures from the enclosing graphs, which are the same for all its
// runs.
inline int feed_captured(const KernelContext& context, ir_body_t& body)
{
    for (int i = 0; i < body.capture_num; ++i) {
        const tensor* value = context.input(body.first_capture + i);
        TENGINE_RETURN_IF_ERROR(feed_ir_body(&body, own_input_num(body) + i, value, value->data));
    }
    return TENGINE_OK;
}

// A limit for rounds that would not end: the program cancels the run, or the option run.watchdog_ms
// does. Checked before each round.
class RoundLimit
{
  public:
    explicit RoundLimit(const KernelContext& context)
        : node_(*context.node),
          run_(node_.graph->core->run),
          most_ms_(get_ir_context_number(node_.graph->attribute->context, "run.watchdog_ms")),
          begin_(most_ms_ > 0 ? get_time_ns() : 0)
    {
    }
    int check() const
    {
        TENGINE_RETURN_IF_ERROR(check_ir_run(run_));
        if (most_ms_ == 0 || static_cast<double>(get_time_ns() - begin_) <= most_ms_ * 1e6)
            return TENGINE_OK;
        return fail_node(&node_, TENGINE_EDEVICE,
                         "its rounds have not ended within %.0f ms (run.watchdog_ms)", most_ms_);
    }

  private:
    const node& node_;
    const ir_run_t* const run_;
    const double most_ms_;
    const uint64_t begin_;
};

// Runs the body as a part of the run in flight.
inline int run_body(const KernelContext& context, ir_body_t& body)
{
    body.graph->core->run = context.node->graph->core->run;
    const int status = body.entries->run(body.graph, context.node->graph->run_options);
    body.graph->core->run = nullptr;
    return status;
}

// ---- results ----

// Shapes a result. One whose shape is known only in the run is allocated here; a planned one has
// its memory.
inline int shape_result(const KernelContext& context, tensor& output, const int* dims, int dim_num)
{
    if (!context.node->dynamic_shape) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(&output, dims, dim_num));
    TENGINE_RETURN_IF_ERROR(check_ir_memory(context.node->graph,
                                            static_cast<int64_t>(get_ir_tensor_bytes(&output)),
                                            context.node->name));
    return allocate_ir_tensor(&output);
}

inline int copy_result(const KernelContext& context, const tensor& from, tensor* to)
{
    if (!to) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(shape_result(context, *to, from.dims, from.dim_num));
    if (get_ir_tensor_bytes(to) != get_ir_tensor_bytes(&from))
        return fail_node(context.node, TENGINE_EINVAL,
                         "the body computes %zu bytes for '%s', expected %zu",
                         get_ir_tensor_bytes(&from), to->name, get_ir_tensor_bytes(to));
    if (from.elem_num > 0) std::memcpy(to->data, from.data, get_ir_tensor_bytes(&from));
    return TENGINE_OK;
}

// ---- values that go round ----

struct Freed
{
    void operator()(void* memory) const { free_memory(memory); }
};

// A value with memory of its own, which is kept from run to run and only grows.
struct Kept
{
    tensor value = {};  // shape, type and data
    std::unique_ptr<void, Freed> memory;
    size_t capacity = 0;

    // Makes the memory large enough. `keeps`: the contents are kept.
    int reserve(const KernelContext& context, size_t bytes, bool keeps)
    {
        if (bytes <= capacity) return TENGINE_OK;
        const size_t wanted = keeps ? std::max(bytes, 2 * capacity) : bytes;
        TENGINE_RETURN_IF_ERROR(
            check_ir_memory(context.node->graph, static_cast<int64_t>(wanted), context.node->name));
        std::unique_ptr<void, Freed> grown(alloc_memory(wanted));
        if (!grown)
            return fail_node(context.node, TENGINE_ENOMEM, "out of memory for values of the body");
        if (keeps && capacity > 0) std::memcpy(grown.get(), memory.get(), capacity);
        memory = std::move(grown);
        capacity = wanted;
        return TENGINE_OK;
    }

    int take(const KernelContext& context, const tensor& from)
    {
        const size_t bytes = get_ir_tensor_bytes(&from);
        TENGINE_RETURN_IF_ERROR(reserve(context, bytes, false));
        value = from;
        value.data = memory.get();
        if (bytes > 0) std::memcpy(memory.get(), from.data, bytes);
        return TENGINE_OK;
    }
};

// The state of a Loop or Scan. Values alternate between two sets: a run does not overwrite its
// inputs.
struct Rounds : Allocated
{
    Vector<Kept> values[2];
    Vector<Kept> gathered;  // a Loop's: elements one after the other, packed ones as a byte each
    Kept unpacked;          // a Scan's: an element, as a byte for each packed one
};

inline int prepare_rounds(KernelContext& context)
{
    context.state = new Rounds;
    context.free_state = [](void* state) { delete static_cast<Rounds*>(state); };
    return TENGINE_OK;
}

}  // namespace tengine::cpu
