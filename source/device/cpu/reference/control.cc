// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: they run their bodies (graph/body.h), which are prepared like graphs of their
// own, and move what goes in and comes out.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "operator/onnx/control_param.h"

namespace tengine::cpu {
namespace {

ir_body_t& body_of(const KernelContext& context, int index)
{
    return context.node->core->bodies->list[index];
}

int own_input_num(const ir_body_t& body)
{
    return body.input_num - body.capture_num;
}

// What the body reads of the graphs around it, the same for all its runs.
int feed_captured(const KernelContext& context, ir_body_t& body)
{
    for (int i = 0; i < body.capture_num; ++i) {
        const tensor* value = context.input(body.first_capture + i);
        TENGINE_RETURN_IF_ERROR(feed_ir_body(&body, own_input_num(body) + i, value, value->data));
    }
    return TENGINE_OK;
}

int run_body(const KernelContext& context, ir_body_t& body)
{
    return body.run(body.graph, context.node->graph->run_options);
}

bool is_true(const tensor& condition)
{
    return condition.elem_num > 0 && *condition.u8 != 0;
}

// ---- results ----

// A result whose shape the run tells: allocated here. One that is planned has its memory.
int shape_result(const KernelContext& context, tensor& output, const int* dims, int dim_num)
{
    if (!context.node->dynamic_shape) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(&output, dims, dim_num));
    TENGINE_RETURN_IF_ERROR(check_ir_memory(context.node->graph,
                                            static_cast<int64_t>(get_ir_tensor_bytes(&output)),
                                            context.node->name));
    return allocate_ir_tensor(&output);
}

int copy_result(const KernelContext& context, const tensor& from, tensor* to)
{
    if (!to) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(shape_result(context, *to, from.dims, from.dim_num));
    if (get_ir_tensor_bytes(to) != get_ir_tensor_bytes(&from))
        return fail_node(context.node, TENGINE_EINVAL,
                         "its body computes %zu bytes for '%s', which has %zu",
                         get_ir_tensor_bytes(&from), to->name, get_ir_tensor_bytes(to));
    if (from.elem_num > 0) std::memcpy(to->data, from.data, get_ir_tensor_bytes(&from));
    return TENGINE_OK;
}

// ---- If ----

int run_if(KernelContext& context)
{
    const tensor& condition = *context.input(0);
    if (condition.elem_num != 1)
        return fail_node(context.node, TENGINE_EINVAL, "its condition has %lld elements, not one",
                         static_cast<long long>(condition.elem_num));
    ir_body_t& branch = body_of(context, is_true(condition) ? 0 : 1);
    TENGINE_RETURN_IF_ERROR(feed_captured(context, branch));
    TENGINE_RETURN_IF_ERROR(run_body(context, branch));
    for (int i = 0; i < context.output_num(); ++i)
        TENGINE_RETURN_IF_ERROR(
            copy_result(context, *get_ir_body_output(&branch, i), context.output(i)));
    return TENGINE_OK;
}

// ---- values that go round ----

struct Freed
{
    void operator()(void* memory) const { free_memory(memory); }
};

// A value with memory of its own, which stays from run to run and only grows.
struct Kept
{
    tensor value = {};  // shape, type and data
    std::unique_ptr<void, Freed> memory;
    size_t capacity = 0;

    // `keeps`: what it has.
    int reserve(const KernelContext& context, size_t bytes, bool keeps)
    {
        if (bytes <= capacity) return TENGINE_OK;
        const size_t wanted = keeps ? std::max(bytes, 2 * capacity) : bytes;
        TENGINE_RETURN_IF_ERROR(
            check_ir_memory(context.node->graph, static_cast<int64_t>(wanted), context.node->name));
        std::unique_ptr<void, Freed> grown(alloc_memory(wanted));
        if (!grown)
            return fail_node(context.node, TENGINE_ENOMEM, "no memory for what it computes");
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

// What a Loop or Scan keeps. Values go round in two sets: what a run reads is not what it leaves.
struct Rounds : Allocated
{
    Vector<Kept> values[2];
    Vector<Kept> gathered;  // of a Loop: elements one after the other
};

int prepare_rounds(KernelContext& context)
{
    context.state = new Rounds;
    context.free_state = [](void* state) { delete static_cast<Rounds*>(state); };
    return TENGINE_OK;
}

tensor make_scalar(int data_type, void* data)
{
    tensor scalar = {};
    scalar.data_type = static_cast<uint8_t>(data_type);
    scalar.shape_set = 1;
    scalar.elem_num = 1;
    scalar.data = data;
    return scalar;
}

// ---- Loop ----

class Loop
{
  public:
    explicit Loop(KernelContext& context)
        : context_(context),
          body_(body_of(context, 0)),
          rounds_(*static_cast<Rounds*>(context.state)),
          carried_num_(own_input_num(body_) - 2),
          gathered_num_(context.output_num() - carried_num_)
    {
        for (auto& set : rounds_.values)
            set.resize(static_cast<size_t>(carried_num_));
        rounds_.gathered.resize(static_cast<size_t>(gathered_num_));
    }

    int run()
    {
        TENGINE_RETURN_IF_ERROR(feed_captured(context_, body_));
        const tensor* most = context_.input(0);
        const tensor* condition = context_.input(1);
        if (most && most->elem_num != 1)
            return fail_node(context_.node, TENGINE_EINVAL,
                             "its number of rounds has %lld elements, not one",
                             static_cast<long long>(most->elem_num));
        bool goes_on = !condition || is_true(*condition);
        for (; goes_on && (!most || round_ < *most->i64); ++round_) {
            TENGINE_RETURN_IF_ERROR(run_round());
            if (condition) goes_on = is_true(*get_ir_body_output(&body_, 0));
            TENGINE_RETURN_IF_ERROR(take_results());
        }
        return finish();
    }

  private:
    const tensor& carried(int index) const
    {
        return round_ == 0 ? *context_.input(index + 2)
                           : rounds_.values[round_ % 2][static_cast<size_t>(index)].value;
    }

    int run_round()
    {
        bool is_on = true;
        const tensor number = make_scalar(TENGINE_DT_INT64, &round_);
        const tensor condition = make_scalar(TENGINE_DT_BOOL, &is_on);
        TENGINE_RETURN_IF_ERROR(feed_ir_body(&body_, 0, &number, &round_));
        TENGINE_RETURN_IF_ERROR(feed_ir_body(&body_, 1, &condition, &is_on));
        for (int i = 0; i < carried_num_; ++i)
            TENGINE_RETURN_IF_ERROR(feed_ir_body(&body_, i + 2, &carried(i), carried(i).data));
        return run_body(context_, body_);
    }

    int take_results()
    {
        for (int i = 0; i < carried_num_; ++i)
            TENGINE_RETURN_IF_ERROR(rounds_.values[(round_ + 1) % 2][static_cast<size_t>(i)].take(
                context_, *get_ir_body_output(&body_, i + 1)));
        for (int i = 0; i < gathered_num_; ++i)
            TENGINE_RETURN_IF_ERROR(gather(i, *get_ir_body_output(&body_, carried_num_ + i + 1)));
        return TENGINE_OK;
    }

    // For how many rounds memory is set aside at first.
    size_t expect_rounds() const
    {
        constexpr int64_t kMostExpected = 1024;
        const tensor* most = context_.input(0);
        return static_cast<size_t>(most ? std::min(*most->i64, kMostExpected) : 1);
    }

    int gather(int index, const tensor& element)
    {
        Kept& kept = rounds_.gathered[static_cast<size_t>(index)];
        const size_t bytes = get_ir_tensor_bytes(&element);
        if (round_ == 0) kept.value = element;
        if (kept.value.dim_num != element.dim_num ||
            !std::equal(element.dims, element.dims + element.dim_num, kept.value.dims))
            return fail_node(context_.node, TENGINE_EINVAL,
                             "output %d of its body has another shape in round %lld",
                             carried_num_ + index + 1, static_cast<long long>(round_));
        if (round_ == 0)
            TENGINE_RETURN_IF_ERROR(kept.reserve(context_, bytes * expect_rounds(), false));
        const auto offset = bytes * static_cast<size_t>(round_);
        TENGINE_RETURN_IF_ERROR(kept.reserve(context_, offset + bytes, true));
        if (bytes > 0)
            std::memcpy(static_cast<char*>(kept.memory.get()) + offset, element.data, bytes);
        return TENGINE_OK;
    }

    int finish()
    {
        for (int i = 0; i < carried_num_; ++i)
            TENGINE_RETURN_IF_ERROR(copy_result(context_, carried(i), context_.output(i)));
        for (int i = 0; i < gathered_num_; ++i)
            if (tensor* output = context_.output(carried_num_ + i))
                TENGINE_RETURN_IF_ERROR(finish_gathered(i, *output));
        return TENGINE_OK;
    }

    // Without a round nothing tells the shape of its elements but what is known of the body.
    int finish_gathered(int index, tensor& output)
    {
        const Kept& kept = rounds_.gathered[static_cast<size_t>(index)];
        const tensor& element =
            round_ > 0 ? kept.value : *get_ir_body_output(&body_, carried_num_ + index + 1);
        if (element.dim_num >= MAX_SHAPE_DIM_NUM)
            return fail_node(context_.node, TENGINE_ERANGE,
                             "output %d would have %d dimensions, expected at most %d",
                             carried_num_ + index, element.dim_num + 1, MAX_SHAPE_DIM_NUM);
        int dims[MAX_SHAPE_DIM_NUM] = {static_cast<int>(round_)};
        for (int i = 0; i < element.dim_num; ++i)
            dims[i + 1] = std::max(0, element.dims[i]);
        TENGINE_RETURN_IF_ERROR(shape_result(context_, output, dims, element.dim_num + 1));
        if (output.elem_num > 0)
            std::memcpy(output.data, kept.memory.get(), get_ir_tensor_bytes(&output));
        return TENGINE_OK;
    }

    KernelContext& context_;
    ir_body_t& body_;
    Rounds& rounds_;
    const int carried_num_, gathered_num_;
    int64_t round_ = 0;
};

int run_loop(KernelContext& context)
{
    return Loop(context).run();
}

// ---- Scan ----

// The slices of a tensor along an axis: `before` x `length` pieces of `bytes`, of which a slice has
// every length-th.
struct Slices
{
    int64_t before = 1, length = 0;
    size_t bytes = 0;

    static Slices along(const tensor& whole, int axis)
    {
        Slices slices;
        slices.length = whole.dims[axis];
        slices.bytes = whole.elem_size;
        for (int i = 0; i < axis; ++i)
            slices.before *= whole.dims[i];
        for (int i = axis + 1; i < whole.dim_num; ++i)
            slices.bytes *= static_cast<size_t>(whole.dims[i]);
        return slices;
    }
    void take(const void* whole, int64_t index, void* slice) const
    {
        for (int64_t i = 0; i < before && bytes > 0; ++i)
            std::memcpy(static_cast<char*>(slice) + static_cast<size_t>(i) * bytes,
                        place(whole, i, index), bytes);
    }
    void put(const void* slice, int64_t index, void* whole) const
    {
        for (int64_t i = 0; i < before && bytes > 0; ++i)
            std::memcpy(const_cast<char*>(place(whole, i, index)),
                        static_cast<const char*>(slice) + static_cast<size_t>(i) * bytes, bytes);
    }

  private:
    const char* place(const void* whole, int64_t piece, int64_t index) const
    {
        return static_cast<const char*>(whole) +
               static_cast<size_t>(piece * length + index) * bytes;
    }
};

// One item of the batch, or all of a Scan that has none.
tensor view_item(const tensor& whole, bool has_batch, int64_t item)
{
    tensor view = whole;
    if (!has_batch) return view;
    view.dim_num = static_cast<uint8_t>(whole.dim_num - 1);
    std::copy_n(whole.dims + 1, view.dim_num, view.dims);
    view.elem_num = whole.dims[0] == 0 ? 0 : whole.elem_num / whole.dims[0];
    if (whole.data)
        view.data =
            static_cast<char*>(whole.data) + get_ir_tensor_bytes(&view) * static_cast<size_t>(item);
    return view;
}

class Scan
{
  public:
    explicit Scan(KernelContext& context)
        : context_(context),
          body_(body_of(context, 0)),
          rounds_(*static_cast<Rounds*>(context.state)),
          form_(get_scan_form(context.node))
    {
        for (auto& set : rounds_.values)
            set.resize(static_cast<size_t>(form_.state_num + form_.scanned_num));
    }

    int run()
    {
        TENGINE_RETURN_IF_ERROR(feed_captured(context_, body_));
        int items = 1;
        if (form_.has_batch) TENGINE_RETURN_IF_ERROR(find_batch(&items));
        TENGINE_RETURN_IF_ERROR(find_length());
        for (int item = 0; item < items; ++item)
            TENGINE_RETURN_IF_ERROR(run_item(item));
        if (length_ > 0 && items > 0) return TENGINE_OK;
        for (int i = 0; i < context_.output_num(); ++i)
            TENGINE_RETURN_IF_ERROR(finish_empty(i));
        return TENGINE_OK;
    }

  private:
    tensor scanned(int index, int64_t item) const
    {
        return view_item(*context_.input(form_.first_input + form_.state_num + index),
                         form_.has_batch, item);
    }

    // The first dimension of all that has one, and the number of lengths.
    int find_batch(int* out_items) const
    {
        for (int i = form_.first_input; i < form_.first_input + form_.state_num + form_.scanned_num;
             ++i) {
            const tensor& input = *context_.input(i);
            if (i == form_.first_input && input.dim_num > 0) *out_items = input.dims[0];
            if (input.dim_num == 0 || input.dims[0] != *out_items)
                return fail_node(context_.node, TENGINE_EINVAL,
                                 "the first dimension of '%s' is not that of the batch, %d",
                                 input.name, *out_items);
        }
        const tensor* lengths = context_.input(0);
        if (!lengths || lengths->elem_num == *out_items) return TENGINE_OK;
        return fail_node(context_.node, TENGINE_EINVAL, "%lld lengths for %d sequences",
                         static_cast<long long>(lengths->elem_num), *out_items);
    }

    int find_length()
    {
        for (int i = 0; i < form_.scanned_num; ++i) {
            const tensor whole = scanned(i, 0);
            int axis;
            bool reverse;
            TENGINE_RETURN_IF_ERROR(
                get_scan_input_axis(context_.node, i, whole.dim_num, &axis, &reverse));
            if (i > 0 && whole.dims[axis] != length_)
                return fail_node(context_.node, TENGINE_EINVAL,
                                 "scanned input %d has %d elements, others have %d", i,
                                 whole.dims[axis], length_);
            length_ = whole.dims[axis];
        }
        return TENGINE_OK;
    }

    // In opset 8 sequences may end earlier; what comes after that is zero.
    int find_item_length(int64_t item, int* out_length) const
    {
        const tensor* lengths = form_.has_batch ? context_.input(0) : nullptr;
        *out_length = length_;
        if (!lengths) return TENGINE_OK;
        const int64_t length = lengths->i64[item];
        if (length < 0 || length > length_)
            return fail_node(context_.node, TENGINE_EINVAL,
                             "the length %lld of sequence %lld is not one of 0 to %d",
                             static_cast<long long>(length), static_cast<long long>(item), length_);
        *out_length = static_cast<int>(length);
        return TENGINE_OK;
    }

    int run_item(int64_t item)
    {
        int length;
        TENGINE_RETURN_IF_ERROR(find_item_length(item, &length));
        for (int round = 0; round < length; ++round)
            TENGINE_RETURN_IF_ERROR(run_round(item, round));
        for (int i = 0; i < form_.state_num && length_ > 0; ++i)
            TENGINE_RETURN_IF_ERROR(finish_state(i, item, length));
        for (int round = length; round < length_; ++round)
            TENGINE_RETURN_IF_ERROR(fill_with_zeros(item, round));
        return TENGINE_OK;
    }

    tensor state(int index, int64_t item, int round) const
    {
        return round == 0
                   ? view_item(*context_.input(form_.first_input + index), form_.has_batch, item)
                   : rounds_.values[round % 2][static_cast<size_t>(index)].value;
    }

    int run_round(int64_t item, int round)
    {
        for (int i = 0; i < form_.state_num; ++i) {
            const tensor value = state(i, item, round);
            TENGINE_RETURN_IF_ERROR(feed_ir_body(&body_, i, &value, value.data));
        }
        for (int i = 0; i < form_.scanned_num; ++i)
            TENGINE_RETURN_IF_ERROR(feed_scanned(i, item, round));
        TENGINE_RETURN_IF_ERROR(run_body(context_, body_));
        for (int i = 0; i < form_.state_num; ++i)
            TENGINE_RETURN_IF_ERROR(take_state(i, round));
        for (int i = 0; i < form_.gathered_num; ++i)
            TENGINE_RETURN_IF_ERROR(gather(i, item, round));
        return TENGINE_OK;
    }

    int feed_scanned(int index, int64_t item, int round)
    {
        const tensor whole = scanned(index, item);
        int axis;
        bool reverse;
        TENGINE_RETURN_IF_ERROR(
            get_scan_input_axis(context_.node, index, whole.dim_num, &axis, &reverse));
        const Slices slices = Slices::along(whole, axis);
        Kept& kept = rounds_.values[0][static_cast<size_t>(form_.state_num + index)];
        TENGINE_RETURN_IF_ERROR(
            kept.reserve(context_, static_cast<size_t>(slices.before) * slices.bytes, false));
        slices.take(whole.data, reverse ? length_ - 1 - round : round, kept.memory.get());
        tensor slice = whole;
        slice.dim_num = static_cast<uint8_t>(whole.dim_num - 1);
        std::copy(whole.dims + axis + 1, whole.dims + whole.dim_num, slice.dims + axis);
        return feed_ir_body(&body_, form_.state_num + index, &slice, kept.memory.get());
    }

    int take_state(int index, int round)
    {
        const tensor& result = *get_ir_body_output(&body_, index);
        const tensor whole =
            view_item(*context_.input(form_.first_input + index), form_.has_batch, 0);
        if (result.dim_num != whole.dim_num ||
            !std::equal(result.dims, result.dims + result.dim_num, whole.dims))
            return fail_node(context_.node, TENGINE_EINVAL,
                             "its body gives state %d another shape in round %d", index, round);
        return rounds_.values[(round + 1) % 2][static_cast<size_t>(index)].take(context_, result);
    }

    // The first element tells the shape of the whole.
    int shape_output(int output_index, const tensor& element, int axis)
    {
        const int shift = form_.has_batch;
        int dims[MAX_SHAPE_DIM_NUM] = {};
        const int dim_num = element.dim_num + shift + (axis >= 0);
        if (dim_num > MAX_SHAPE_DIM_NUM)
            return fail_node(context_.node, TENGINE_ERANGE,
                             "output %d would have %d dimensions, expected at most %d",
                             output_index, dim_num, MAX_SHAPE_DIM_NUM);
        if (shift) dims[0] = context_.input(form_.first_input)->dims[0];
        for (int i = 0, from = 0; i < dim_num - shift; ++i)
            dims[i + shift] = i == axis ? length_ : std::max(0, element.dims[from++]);
        return shape_result(context_, *context_.output(output_index), dims, dim_num);
    }

    int gather(int index, int64_t item, int round)
    {
        const int output_index = form_.state_num + index;
        const tensor& element = *get_ir_body_output(&body_, output_index);
        tensor* output = context_.output(output_index);
        if (!output) return TENGINE_OK;
        int axis;
        bool reverse;
        TENGINE_RETURN_IF_ERROR(
            get_scan_output_axis(context_.node, index, element.dim_num + 1, &axis, &reverse));
        if (round == 0 && item == 0)
            TENGINE_RETURN_IF_ERROR(shape_output(output_index, element, axis));
        const tensor whole = view_item(*output, form_.has_batch, item);
        const Slices slices = Slices::along(whole, axis);
        if (get_ir_tensor_bytes(&element) != static_cast<size_t>(slices.before) * slices.bytes)
            return fail_node(context_.node, TENGINE_EINVAL,
                             "output %d of its body has another shape in round %d", output_index,
                             round);
        slices.put(element.data, reverse ? length_ - 1 - round : round, whole.data);
        return TENGINE_OK;
    }

    int fill_with_zeros(int64_t item, int round)
    {
        for (int i = 0; i < form_.gathered_num; ++i) {
            tensor* output = context_.output(form_.state_num + i);
            if (!output || !output->data) continue;
            const tensor whole = view_item(*output, form_.has_batch, item);
            const Slices slices = Slices::along(whole, 0);
            std::memset(static_cast<char*>(whole.data) + static_cast<size_t>(round) * slices.bytes,
                        0, slices.bytes);
        }
        return TENGINE_OK;
    }

    int finish_state(int index, int64_t item, int length)
    {
        if (!context_.output(index)) return TENGINE_OK;
        const tensor value = state(index, item, length);
        if (item == 0) TENGINE_RETURN_IF_ERROR(shape_output(index, value, -1));
        const tensor whole = view_item(*context_.output(index), form_.has_batch, item);
        if (value.elem_num > 0) std::memcpy(whole.data, value.data, get_ir_tensor_bytes(&value));
        return TENGINE_OK;
    }

    // There is nothing to scan: states stay, and what would be gathered has no elements.
    int finish_empty(int index)
    {
        if (!context_.output(index)) return TENGINE_OK;
        if (index < form_.state_num)
            return copy_result(context_, *context_.input(form_.first_input + index),
                               context_.output(index));
        const tensor& element = *get_ir_body_output(&body_, index);
        int axis;
        bool reverse;
        TENGINE_RETURN_IF_ERROR(get_scan_output_axis(context_.node, index - form_.state_num,
                                                     element.dim_num + 1, &axis, &reverse));
        return shape_output(index, element, axis);
    }

    KernelContext& context_;
    ir_body_t& body_;
    Rounds& rounds_;
    const scan_form_t form_;
    int length_ = 0;
};

int run_scan(KernelContext& context)
{
    return Scan(context).run();
}

constexpr Kernel rows[] = {
    {"If", "reference", nullptr, run_if},
    {"Loop", "reference", nullptr, run_loop, prepare_rounds},
    {"Scan", "reference", nullptr, run_scan, prepare_rounds},
};

}  // namespace

extern const KernelTable control_reference;
const KernelTable control_reference = make_table<rows>();

}  // namespace tengine::cpu
