// SPDX-License-Identifier: Apache-2.0
// The arguments of a kernel, and their types: layouts, activations, fusions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/minimal.h"
#include "base/thread_pool.h"
#include "operator/infer.h"
#include "operator/operator.h"

namespace tengine::cpu {

// The order of the elements of float and 8-bit tensors inside a part: NCHW as in the graph, or NHWC
// (channels last), for kernels that work along the channels. Tensors with one position, and those
// that are not of rank four, have one order only.
enum class Layout : uint8_t
{
    kPlanar,
    kChannelsLast,
    kAny,  // for elementwise kernels: all tensors may have either layout
};

enum class Activation : uint8_t
{
    kNone,
    kClip,       // to parameters[0] .. parameters[1]
    kLeakyRelu,  // parameters[0] is the slope
    kSigmoid,
    kSilu,         // x * sigmoid(x)
    kHardSigmoid,  // max(0, min(1, parameters[0] x + parameters[1]))
    kHardSwish,
    kTanh,
    kGelu,  // x / 2 * (1 + erf(x / sqrt(2)))
    kGeluTanh,
    kSwish,  // x * sigmoid(parameters[0] x)
};

// The epilogue of a kernel that can fuse: first the addend, then the activation. A step has the
// fusions of the nodes that follow its own (plan/fuse.cc).
struct Fusion
{
    int addend = -1;  // an input of the result's shape and layout; -1: none
    // An input with a factor for each channel of input 0, applied first, for kernels that scale;
    // -1: none.
    int scale = -1;
    Activation activation = Activation::kNone;
    float parameters[2] = {};
    // For int8 and uint8, the addend is followed by the scales and zero points of a QLinearAdd:
    // those of the kernel's result, of the addend and of the sum. Then comes a table of 256
    // entries, an input whose entries are the results; -1: none.
    int table = -1;
};

// Constants in a kernel's own layout.
struct Packed
{
    const void* data = nullptr;
    uint64_t size = 0;
};

// Whether kernels accept NHWC tensors whose channels are part of a larger tensor's. Minimal builds
// have none.
constexpr bool kTakesSteps = !IS_MINIMAL;

// The arguments of a kernel: the node, its tensors (shapes known, data set at run time), the pool.
struct KernelContext
{
    struct node* node = nullptr;
    // In a plan: the tensors that the step reads and writes, which may be copies of the node's
    // tensors in another layout. Null: the node's.
    tensor* const* inputs = nullptr;
    tensor* const* outputs = nullptr;
    int tensor_num[2] = {};  // the numbers of inputs and outputs
#ifdef TENGINE_MINIMAL
    static constexpr const int64_t* pixel_steps = nullptr;
#else
    // If some tensors are channels of a larger tensor: the distance in elements between positions
    // of each input, then of output 0. Null: all are dense.
    const int64_t* pixel_steps = nullptr;
    // The layout of a fused attention's tensors (kernel/attention/attention.h). The step has it.
    const struct Attention* attention = nullptr;
#endif
    // Tensors of rank four are described as N, H, W, C (kernels of Layout::kAny).
    bool has_channels_last = false;
    Fusion fusion;
    thread_pool_t* pool = nullptr;
    // prepare() may request scratch; the plan provides it at run time, 64-byte aligned, shared
    // between the steps of one plan. The size is computed in 64 bits everywhere: the scratch of a
    // hostile model may not fit into a size_t, which the plan refuses.
    uint64_t scratch_size = 0;
    void* scratch = nullptr;
    // prepare() may store state here (packed weights); free_state frees it.
    void* state = nullptr;
    void (*free_state)(void* state) = nullptr;
    // of the state, for reports, unless the state counts shared memory itself
    size_t state_bytes = 0;
    size_t (*count_state)(const void* state) = nullptr;
    // Constants that prepare() has packed and another process could use (packed_problem.h), and
    // those that such a process has saved, which prepare() then uses instead of packing. The latter
    // outlive the state.
    Packed packed;
    Packed saved;

    const tensor* input(int index) const
    {
        if (!inputs) return get_ir_node_input(node, index);
        return index < tensor_num[0] ? inputs[index] : nullptr;
    }
    tensor* output(int index) const
    {
        if (!outputs) return get_ir_node_output(node, index);
        return index < tensor_num[1] ? outputs[index] : nullptr;
    }
    // Returns the distance in elements between positions of an input in NHWC; output_step(): of
    // output 0.
    int64_t input_step(int index) const
    {
        return pixel_steps ? pixel_steps[index] : input(index)->dims[shown_axis(1)];
    }
    int64_t output_step() const
    {
        return pixel_steps ? pixel_steps[tensor_num[0]] : output(0)->dims[shown_axis(1)];
    }
    // Returns the index of the node's axis (0 to 3) in tensors as they are described.
    int shown_axis(int axis) const
    {
        constexpr int kShown[] = {0, 3, 1, 2};
        return has_channels_last ? kShown[axis] : axis;
    }
    int input_num() const
    {
        return node->input_num;
    }
    int output_num() const
    {
        return node->output_num;
    }
    template <class Param>
    const Param& param() const
    {
        return *static_cast<const Param*>(node->op.param_mem);
    }
};

}  // namespace tengine::cpu
