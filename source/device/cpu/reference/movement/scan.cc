// SPDX-License-Identifier: Apache-2.0
// Scan: runs its body for each slice of its scanned inputs, and stacks the results.
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/control/body_run.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "graph/string_pool.h"
#include "operator/onnx/control_param.h"

namespace tengine::cpu {
namespace {

// The slices of a tensor along an axis: `before` x `length` pieces of `bytes`; a slice has every
// length-th piece.
struct ScanSlices
{
    int64_t before = 1, length = 0;
    size_t bytes = 0;  // the number of packed elements

    static ScanSlices along(const tensor& whole, int axis)
    {
        ScanSlices slices;
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

    // Does the same for elements of 4 and 2 bits; a slice has a byte for each.
    void unpack(const tensor& whole, int64_t index, uint8_t* slice) const
    {
        const auto number = static_cast<int64_t>(bytes);
        for (int64_t i = 0; i < before; ++i)
            unpack_bits(whole.data, (i * length + index) * number, number,
                        get_data_type_bits(whole.data_type), slice + i * number);
    }
    void pack(const uint8_t* slice, int64_t index, const tensor& whole) const
    {
        const auto number = static_cast<int64_t>(bytes);
        const int bits = get_data_type_bits(whole.data_type);
        for (int64_t i = 0; i < before * number; ++i) {
            const int64_t bit = ((i / number * length + index) * number + i % number) * bits;
            const int mask = ((1 << bits) - 1) << bit % 8;
            uint8_t& byte = whole.u8[bit / 8];
            byte = static_cast<uint8_t>((byte & ~mask) | slice[i] << bit % 8);
        }
    }

  private:
    const char* place(const void* whole, int64_t piece, int64_t index) const
    {
        return static_cast<const char*>(whole) +
               static_cast<size_t>(piece * length + index) * bytes;
    }
};

// Returns one item of the batch, or the whole tensor of a Scan without batch.
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
        const RoundLimit limit(context_);
        for (int item = 0; item < items; ++item)
            TENGINE_RETURN_IF_ERROR(run_item(item, limit));
        const int given_num = length_ > 0 && items > 0 ? form_.state_num : 0;
        for (int i = given_num; !has_run_ && i < context_.output_num(); ++i)
            TENGINE_RETURN_IF_ERROR(finish_empty(i));
        return TENGINE_OK;
    }

  private:
    tensor scanned(int index, int64_t item) const
    {
        return view_item(*context_.input(form_.first_input + form_.state_num + index),
                         form_.has_batch, item);
    }

    // Finds the first dimension, which all operands share, and checks the number of lengths.
    int find_batch(int* out_items) const
    {
        for (int i = form_.first_input; i < form_.first_input + form_.state_num + form_.scanned_num;
             ++i) {
            const tensor& input = *context_.input(i);
            if (i == form_.first_input && input.dim_num > 0) *out_items = input.dims[0];
            if (input.dim_num == 0 || input.dims[0] != *out_items)
                return fail_node(context_.node, TENGINE_EINVAL,
                                 "the first dimension of '%s' differs from the batch, expected %d",
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

    // In opset 8 sequences may end early; the rest is zero.
    int find_item_length(int64_t item, int* out_length) const
    {
        const tensor* lengths = form_.has_batch ? context_.input(0) : nullptr;
        *out_length = length_;
        if (!lengths) return TENGINE_OK;
        const int64_t length = lengths->i64[item];
        if (length < 0 || length > length_)
            return fail_node(context_.node, TENGINE_EINVAL,
                             "length %lld of sequence %lld is out of range, expected 0 to %d",
                             static_cast<long long>(length), static_cast<long long>(item), length_);
        *out_length = static_cast<int>(length);
        return TENGINE_OK;
    }

    int run_item(int64_t item, const RoundLimit& limit)
    {
        int length;
        TENGINE_RETURN_IF_ERROR(find_item_length(item, &length));
        for (int round = 0; round < length; ++round) {
            TENGINE_RETURN_IF_ERROR(limit.check());
            TENGINE_RETURN_IF_ERROR(run_round(item, round));
        }
        for (int i = 0; i < form_.state_num && length_ > 0; ++i)
            TENGINE_RETURN_IF_ERROR(finish_state(i, item, length));
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
        has_run_ = true;
        return TENGINE_OK;
    }

    int feed_scanned(int index, int64_t item, int round)
    {
        const tensor whole = scanned(index, item);
        int axis;
        bool reverse;
        TENGINE_RETURN_IF_ERROR(
            get_scan_input_axis(context_.node, index, whole.dim_num, &axis, &reverse));
        const ScanSlices slices = ScanSlices::along(whole, axis);
        Kept& kept = rounds_.values[0][static_cast<size_t>(form_.state_num + index)];
        const size_t bytes = static_cast<size_t>(slices.before) * slices.bytes;
        const int place = reverse ? length_ - 1 - round : round;
        TENGINE_RETURN_IF_ERROR(kept.reserve(context_, bytes, false));
        if (is_packed(&whole)) {
            TENGINE_RETURN_IF_ERROR(rounds_.unpacked.reserve(context_, bytes, false));
            slices.unpack(whole, place, unpacked());
            pack_bits(unpacked(), 0, static_cast<int64_t>(bytes),
                      get_data_type_bits(whole.data_type), kept.memory.get());
        } else {
            slices.take(whole.data, place, kept.memory.get());
        }
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
                             "the body gives state %d another shape in round %d", index, round);
        return rounds_.values[(round + 1) % 2][static_cast<size_t>(index)].take(context_, result);
    }

    // The first element determines the shape of the whole.
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
        if (!has_run_) {
            TENGINE_RETURN_IF_ERROR(shape_output(output_index, element, axis));
            if (form_.has_batch || is_packed(&element))  // the last byte of a packed one
                TENGINE_RETURN_IF_ERROR(fill_with_nothing(*output));
        }
        const tensor whole = view_item(*output, form_.has_batch, item);
        if (!is_slice(element, whole, axis))
            return fail_node(context_.node, TENGINE_EINVAL,
                             "output %d of the body has another shape in round %d", output_index,
                             round);
        const ScanSlices slices = ScanSlices::along(whole, axis);
        const size_t bytes = static_cast<size_t>(slices.before) * slices.bytes;
        const int place = reverse ? length_ - 1 - round : round;
        if (!is_packed(&element)) {
            slices.put(element.data, place, whole.data);
            return TENGINE_OK;
        }
        TENGINE_RETURN_IF_ERROR(rounds_.unpacked.reserve(context_, bytes, false));
        unpack_bits(element.data, 0, element.elem_num, get_data_type_bits(element.data_type),
                    unpacked());
        slices.pack(unpacked(), place, whole);
        return TENGINE_OK;
    }

    uint8_t* unpacked() const { return static_cast<uint8_t*>(rounds_.unpacked.memory.get()); }

    // Whether an element has the shape of the whole without the axis.
    static bool is_slice(const tensor& element, const tensor& whole, int axis)
    {
        return element.dim_num + 1 == whole.dim_num &&
               std::equal(element.dims, element.dims + axis, whole.dims) &&
               std::equal(element.dims + axis, element.dims + element.dim_num,
                          whole.dims + axis + 1);
    }

    // Fills the rest of sequences that end early: zeros, or empty strings.
    int fill_with_nothing(const tensor& output) const
    {
        if (output.elem_num == 0) return TENGINE_OK;
        std::memset(output.data, 0, get_ir_tensor_bytes(&output));
        for (int64_t i = 0; output.data_type == TENGINE_DT_STRING && i < output.elem_num; ++i)
            TENGINE_RETURN_IF_ERROR(intern_ir_string(context_.node->graph, "", 0,
                                                     &static_cast<const char**>(output.data)[i]));
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

    // If no round has run, states are unchanged, and gathered results are empty.
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
        TENGINE_RETURN_IF_ERROR(shape_output(index, element, axis));
        return fill_with_nothing(*context_.output(index));
    }

    KernelContext& context_;
    ir_body_t& body_;
    Rounds& rounds_;
    const scan_form_t form_;
    int length_ = 0;
    bool has_run_ = false;  // whether a round has
};

int run_scan(KernelContext& context)
{
    return Scan(context).run();
}

constexpr Kernel scan_rows[] = {
    {"Scan", "reference", nullptr, run_scan, prepare_rounds},
};

}  // namespace

extern const KernelTable scan_reference;
const KernelTable scan_reference = make_table<scan_rows>();

}  // namespace tengine::cpu
