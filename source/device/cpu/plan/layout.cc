// SPDX-License-Identifier: Apache-2.0
// Chooses the steps whose tensors are NHWC: those whose kernels use NHWC, and following steps that
// accept both layouts. Where a step needs the other layout there is a copy, which all its readers
// share. A Transpose between the two layouts copies nothing if a tensor is in the order of its
// result, nor does one that moves axes of one element only.
#include "device/cpu/plan/layout.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "device/cpu/plan/part_outputs.h"
#include "device/cpu/plan/step.h"
#include "device/cpu/plan/tensor_table.h"
#include "device/cpu/shared/constant.h"
#include "operator/onnx/transpose_param.h"

namespace tengine::cpu {
namespace {

// Whether kernels of NHWC, and copies to it, take the type.
bool has_pixel_type(const tensor& tensor)
{
    constexpr uint8_t kTypes[] = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16,
                                  TENGINE_DT_INT8, TENGINE_DT_UINT8};
    return std::find(std::begin(kTypes), std::end(kTypes), tensor.data_type) != std::end(kTypes);
}

// Whether the two layouts of the tensor differ: not with one channel or one position.
bool has_layouts(const tensor& tensor)
{
    return tensor.dim_num == 4 && !is_constant(&tensor) && tensor.dims[1] > 1 &&
           int64_t{tensor.dims[2]} * tensor.dims[3] > 1 && has_pixel_type(tensor);
}

// Whether an elementwise kernel can use the tensor in NHWC in place.
bool may_be_shown(const tensor& tensor)
{
    if (tensor.elem_num == 1) return true;
    if (!is_constant(&tensor)) return tensor.dim_num == 4;
    const int rank = tensor.dim_num;
    const auto dim = [&](int from_end) {
        return from_end <= rank ? tensor.dims[rank - from_end] : 1;
    };
    return rank <= 4 && (dim(3) == 1 || int64_t{dim(1)} * dim(2) == 1);
}

bool is_transpose(const Step& step)
{
    const node& node = *step.context.node;
    return *get_ir_node_domain(&node) == '\0' &&
           std::strcmp(get_ir_node_op(&node), "Transpose") == 0;
}

// Whether a Transpose of rank four has this order.
bool has_order(const Step& step, const int64_t (&order)[4])
{
    if (!is_transpose(step)) return false;
    const op_ints& perm = step.context.param<transpose_param>().perm;
    return perm.num == 4 && std::equal(order, order + 4, perm.values);
}

// Whether a Transpose moves axes of one element only, so that the elements keep their order.
bool moves_nothing(const Step& step)
{
    if (!is_transpose(step) || is_constant(step.inputs[0])) return false;
    const tensor& input = *step.inputs[0];
    const op_ints& perm = step.context.param<transpose_param>().perm;
    if (perm.num != input.dim_num || !has_pixel_type(input)) return false;
    int64_t last = -1;
    for (int i = 0; i < perm.num; ++i) {
        if (input.dims[perm.values[i]] == 1) continue;
        if (perm.values[i] < last) return false;
        last = perm.values[i];
    }
    return true;
}

class Layouts
{
  public:
    Layouts(const KernelList& kernels, const subgraph& part, Copies& copies)
        : kernels_(kernels), border_(part), copies_(copies)
    {
    }

    void run(Vector<Step>& steps)
    {
        for (Step& step : steps) {
            step.layout = step.dynamic ? Layout::kPlanar : choose(step);
            Left left;
            if (!step.dynamic && see_differently(step, left)) {
                steps_.push_back(std::move(step));
                copy_back(left);
                continue;
            }
            const Layout layout = step.layout;
            for (tensor*& input : step.inputs)
                if (input && has_layouts(*input)) input = find_as(*input, layout, step);
            for (tensor*& output : step.outputs)
                if (output && has_layouts(*output) && layout == Layout::kChannelsLast)
                    output = add_result(*output, left);
            steps_.push_back(std::move(step));
            copy_back(left);
        }
        steps.swap(steps_);
    }

  private:
    struct Places
    {
        tensor* planar = nullptr;
        tensor* last = nullptr;
    };
    using Left = Vector<std::pair<tensor*, tensor*>>;  // its place, and the boundary tensor

    bool is_last(const tensor* input) const
    {
        if (!input || !has_layouts(*input)) return false;
        const Places* places = places_.find(input);
        return places && places->last;
    }

    // Handles a Transpose of N x C x H x W to N x H x W x C whose input is NHWC, or the reverse.
    bool see_differently(Step& step, Left& left)
    {
        const Kernel* kernel = find_view_kernel();
        if (kernel && moves_nothing(step)) {
            if (has_layouts(*step.inputs[0]))
                step.inputs[0] = find_as(*step.inputs[0], Layout::kPlanar, step);
            step.kernel = kernel;
            return true;
        }
        const bool from_last = has_order(step, {0, 2, 3, 1}),
                   to_last = has_order(step, {0, 3, 1, 2});
        if (!kernel || (!from_last && !to_last)) return false;
        tensor*& input = step.inputs[0];
        tensor*& output = step.outputs[0];
        if (from_last && is_last(input))
            input = places_[input].last;
        else if (to_last && has_layouts(*output) && !is_constant(input) && !is_last(input))
            output = add_result(*output, left);
        else
            return false;
        step.kernel = kernel;
        return true;
    }

    void copy_back(const Left& left)
    {
        for (const auto& [from, to] : left)
            add_copy(*from, *to, Layout::kPlanar, steps_.back());
    }

    Layout choose(const Step& step) const
    {
        if (step.kernel) return Layout::kPlanar;  // chosen by a fusion
        if (find_kernel_of_pixels(kernels_, step)) return Layout::kChannelsLast;
        const Kernel* kernel = kernels_.pick(*step.context.node, Layout::kChannelsLast);
        if (!kernel) return Layout::kPlanar;
        const auto fits = [](const tensor* each) { return !each || may_be_shown(*each); };
        if (kernel->layout == Layout::kChannelsLast)
            return is_last(step.inputs[0]) ? Layout::kChannelsLast : Layout::kPlanar;
        const auto is_last_here = [this](const tensor* input) { return is_last(input); };
        const bool follows = std::any_of(step.inputs.begin(), step.inputs.end(), is_last_here) &&
                             std::all_of(step.inputs.begin(), step.inputs.end(), fits) &&
                             std::all_of(step.outputs.begin(), step.outputs.end(), fits);
        return follows ? Layout::kChannelsLast : Layout::kPlanar;
    }

    // The tensor in this layout; if there is none, a copy before `step`.
    tensor* find_as(tensor& original, Layout layout, const Step& step)
    {
        Places& places = places_[&original];
        // A tensor that no previous step has written has the graph's layout.
        if (!places.planar && !places.last) places.planar = &original;
        tensor*& place = layout == Layout::kChannelsLast ? places.last : places.planar;
        if (place) return place;
        tensor* from = layout == Layout::kChannelsLast ? places.planar : places.last;
        place = add_tensor(original);
        add_copy(*from, *place, layout, step);
        return place;
    }

    // The result of a step in NHWC; a result that leaves the part is copied back after it.
    tensor* add_result(tensor& original, Left& left)
    {
        if (!border_.has(original)) {
            places_[&original] = {nullptr, &original};
            return &original;
        }
        tensor* copy = add_tensor(original);
        places_[&original] = {&original, copy};
        left.push_back({copy, &original});
        return copy;
    }

    tensor* add_tensor(const tensor& original)
    {
        void* memory = alloc_or_throw(sizeof(tensor));
        copies_.push_back({new (memory) tensor(original), [](tensor* copy) { free_memory(copy); }});
        tensor* copy = copies_.back().get();
        copy->index = -1;
        copy->data = nullptr;
        return copy;
    }

    void add_copy(tensor& from, tensor& to, Layout layout, const Step& step)
    {
        Step copy;
        copy.kernel = find_layout_kernel(layout);
        copy.context.node = step.context.node;
        copy.context.pool = step.context.pool;
        copy.position = step.position;
        copy.inputs.push_back(&from);
        copy.outputs.push_back(&to);
        steps_.push_back(std::move(copy));
    }

    const KernelList& kernels_;
    const PartOutputs border_;
    Copies& copies_;
    TensorTable<Places> places_;
    Vector<Step> steps_;
};

}  // namespace

// Constants keep their layout: a convolution of one is folded.
const Kernel* find_kernel_of_pixels(const KernelList& kernels, const Step& step)
{
    const Kernel* kernel = kernels.pick_usual(*step.context.node);
    return kernel && kernel->leads && !is_constant(step.inputs[0]) ? kernel : nullptr;
}

void choose_layouts(const KernelList& kernels, const subgraph& part, Vector<Step>& steps,
                    Copies& copies)
{
    Layouts(kernels, part, copies).run(steps);
}

}  // namespace tengine::cpu
