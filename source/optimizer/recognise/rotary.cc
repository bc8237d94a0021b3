// SPDX-License-Identifier: Apache-2.0
#include "optimizer/recognise/rotary.h"

#include <algorithm>
#include <cstring>

#include "graph/graph.h"
#include "graph/late_constant.h"
#include "operator/infer.h"
#include "operator/onnx/slice_param.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

const node* writer_of(const graph& graph, const tensor& value)
{
    const node* writer = get_ir_graph_node(&graph, value.producer);
    const bool is_plain = writer && !*get_ir_node_domain(writer) && !writer->dynamic_shape &&
                          is_ir_tensor_shape_known(&value) && value.dim_num > 0;
    return is_plain ? writer : nullptr;
}

int width_of(const tensor& value)
{
    return value.dim_num > 0 ? value.dims[value.dim_num - 1] : 1;
}

bool is_last_axis(const node& node, int rank, int64_t otherwise)
{
    const int64_t axis = get_ir_node_int(&node, "axis", otherwise);
    return axis == -1 || axis + 1 == rank;
}

bool is_whole(const slice_range& range, int dim)
{
    return range.start == 0 && (range.step == 1 || dim == 1) && range.length == dim;
}

bool is_slice(const node& slice, const tensor& x, const PatternPiece& piece)
{
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    if (x.dim_num == 0 || resolve_slice(&slice, ranges) != TENGINE_OK) return false;
    const int last = x.dim_num - 1, half = x.dims[last] / 2;
    for (int i = 0; i < last; ++i)
        if (!is_whole(ranges[i], x.dims[i])) return false;
    return ranges[last].length == half && (ranges[last].step == 1 || half == 1) &&
           ranges[last].start == (piece.is_second ? half : 0);
}

bool is_output_of_split(const node& split, const tensor& value, const PatternPiece& piece)
{
    return split.output_num == 2 && get_ir_node_output(&split, piece.is_second ? 1 : 0) == &value &&
           is_last_axis(split, value.dim_num, 0);
}

// ---- every other element ----

// The axis along which neighbours are: the last one with several elements.
int find_inner_axis(const tensor& x)
{
    int axis = x.dim_num - 1;
    while (axis > 0 && x.dims[axis] == 1)
        --axis;
    return axis;
}

bool slices_neighbours(const node& slice, const tensor& x, int inner, bool is_second)
{
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    if (resolve_slice(&slice, ranges) != TENGINE_OK) return false;
    for (int i = 0; i < x.dim_num; ++i)
        if (i != inner && !is_whole(ranges[i], x.dims[i])) return false;
    const slice_range& range = ranges[inner];
    return range.length == x.dims[inner] / 2 && (range.step == 2 || range.length == 1) &&
           range.start == (is_second ? 1 : 0);
}

// From pairs in an axis of their own.
bool gathers_neighbours(const node& gather, const tensor& x, int inner, bool is_second)
{
    const tensor* index = get_ir_node_input(&gather, 1);
    const int64_t axis = get_ir_node_int(&gather, "axis", 0);
    int64_t place;
    int number;
    return x.dims[inner] == 2 && (axis < 0 ? axis + x.dim_num : axis) == inner &&
           is_constant(index) && index->elem_num == 1 &&
           read_int_input(&gather, 1, &place, 1, &number) == TENGINE_OK &&
           (place == 1 || place == -1) == is_second;
}

bool takes_neighbours(const node& node, const tensor& x, bool is_second)
{
    if (!is_ir_tensor_shape_known(&x) || x.dim_num == 0) return false;
    const int inner = find_inner_axis(x);
    if (x.dims[inner] % 2 != 0) return false;
    return is_op(&node, "Slice") ? slices_neighbours(node, x, inner, is_second)
                                 : gathers_neighbours(node, x, inner, is_second);
}

// Whether a row of `whole` has twice the elements of one of `piece`.
bool is_twice(const tensor& whole, const tensor& piece)
{
    const int last = piece.dim_num - 1;
    return is_ir_tensor_shape_known(&whole) && whole.dim_num == piece.dim_num &&
           std::equal(piece.dims, piece.dims + last, whole.dims) &&
           whole.dims[last] == 2 * piece.dims[last];
}

// Reshapes leave the order of elements as it is, so that every other element of a tensor between
// them is every other one of x.
class NeighbourSearch
{
  public:
    NeighbourSearch(const graph& graph, const tensor& value, Selection* out_selection)
        : graph_(graph), value_(value), selection_(*out_selection)
    {
    }

    bool find(bool is_second)
    {
        const tensor* place = &value_;
        if (const tensor* before = step_over(*place, "Reshape")) place = before;
        tensor* x = step_over(*place, "Slice");
        if (!x) x = step_over(*place, "Gather");
        if (!x || !takes_neighbours(*selection_.nodes[selection_.node_num - 1], *x, is_second))
            return false;
        while (x && !is_twice(*x, value_))
            x = step_over(*x, "Reshape");
        selection_.x = x;
        return x != nullptr;
    }

  private:
    // The input of the node that writes the value, which joins the selection; null for another.
    tensor* step_over(const tensor& value, const char* op)
    {
        node* writer = get_ir_graph_node(&graph_, value.producer);
        if (!writer_of(graph_, value) || !is_op(writer, op) ||
            selection_.node_num == Selection::kMostNodes)
            return nullptr;
        selection_.nodes[selection_.node_num++] = writer;
        return get_ir_node_input(writer, 0);
    }

    const graph& graph_;
    const tensor& value_;
    Selection& selection_;
};

// ---- tables ----

bool fits_tokens(const tensor& table, int batch, int tokens, int heads_axis, const tensor& x)
{
    const int skipped = x.dim_num - table.dim_num, size = width_of(x);
    const int tokens_axis = heads_axis == 1 ? x.dim_num - 2 : 1;
    if (skipped < 0 || table.data_type != x.data_type || !is_ir_tensor_shape_known(&table) ||
        table.dim_num < 1 || (width_of(table) != size && width_of(table) != size / 2))
        return false;
    const auto dim = [&](int axis) { return axis < skipped ? 1 : table.dims[axis - skipped]; };
    return (dim(0) == 1 || dim(0) == batch) && dim(tokens_axis) == tokens &&
           (x.dim_num == 3 || dim(heads_axis) == 1);
}

bool has_equal_bytes(const graph& graph, const tensor& table, bool is_interleaved)
{
    Vector<unsigned char> storage;
    const unsigned char* bytes = read_constant(graph, table, &storage);
    if (!bytes || width_of(table) % 2 != 0) return false;
    const int64_t size = table.elem_size, width = width_of(table);
    const int64_t step = is_interleaved ? 2 : 1, distance = is_interleaved ? 1 : width / 2;
    for (int64_t row = 0; row < table.elem_num; row += width)
        for (int64_t pair = 0; pair < width / 2; ++pair) {
            const unsigned char* first = bytes + (row + pair * step) * size;
            if (std::memcmp(first, first + distance * size, static_cast<size_t>(size)) != 0)
                return false;
        }
    return true;
}

class PairSearch
{
  public:
    PairSearch(const graph& graph, bool is_interleaved)
        : graph_(graph), is_interleaved_(is_interleaved)
    {
    }

    bool repeats(const tensor& value, int depth) const
    {
        if (is_constant(&value)) return has_equal_bytes(graph_, value, is_interleaved_);
        const node* writer = writer_of(graph_, value);
        if (!writer || depth == 0) return false;
        if (is_interleaved_ ? is_doubled(*writer, value) : joins_itself(*writer, value))
            return true;
        if (is_one_of(*writer, {"Add", "Cast", "Cos", "Mul", "Neg", "Sin"}))
            return all_repeat(*writer, width_of(value), depth - 1);
        const tensor* input = get_ir_node_input(writer, 0);
        return input && keeps_rows(*writer, *input, value) && repeats(*input, depth - 1);
    }

  private:
    // An input with one element for all of the row is the same for pairs, too.
    bool all_repeat(const node& node, int width, int depth) const
    {
        for (int i = 0; i < node.input_num; ++i) {
            const tensor* input = get_ir_node_input(&node, i);
            const bool is_wide = input && width_of(*input) == width;
            if (!input || (is_wide ? !repeats(*input, depth) : width_of(*input) != 1)) return false;
        }
        return true;
    }

    // Whether a row of the value is a row of the input, or a repetition of it.
    static bool keeps_rows(const node& node, const tensor& input, const tensor& value)
    {
        if (width_of(input) != width_of(value) || width_of(value) < 2) return false;
        if (is_one_of(node, {"Expand", "Reshape", "Squeeze", "Unsqueeze"})) return true;
        return is_op(&node, "Gather") && input.dim_num > 1 &&
               get_ir_node_int(&node, "axis", 0) == 0;
    }

    static bool joins_itself(const node& node, const tensor& value)
    {
        return is_op(&node, "Concat") && node.input_num == 2 &&
               get_ir_node_input(&node, 0) == get_ir_node_input(&node, 1) &&
               is_last_axis(node, value.dim_num, 0);
    }

    // A Reshape that joins the axis before with one of two times the same.
    bool is_doubled(const node& node, const tensor& value) const
    {
        if (!is_op(&node, "Reshape")) return false;
        const tensor& pairs = *get_ir_node_input(&node, 0);
        const struct node* writer = writer_of(graph_, pairs);
        if (!writer || width_of(pairs) != 2 || pairs.dim_num < 2 ||
            width_of(value) != 2 * pairs.dims[pairs.dim_num - 2])
            return false;
        return joins_itself(*writer, pairs) ||
               (is_op(writer, "Expand") && width_of(*get_ir_node_input(writer, 0)) == 1);
    }

    const graph& graph_;
    const bool is_interleaved_;
};

}  // namespace

bool find_selection(const graph& graph, const PatternPiece& piece, const tensor& value,
                    Selection* out_selection)
{
    *out_selection = {};
    if (!writer_of(graph, value)) return false;
    if (piece.is_interleaved)
        return NeighbourSearch(graph, value, out_selection).find(piece.is_second);
    node* writer = get_ir_graph_node(&graph, value.producer);
    tensor* x = get_ir_node_input(writer, 0);
    if (!x || width_of(*x) != 2 * width_of(value)) return false;
    out_selection->x = x;
    out_selection->nodes[out_selection->node_num++] = writer;
    return is_op(writer, "Slice")
               ? is_slice(*writer, *x, piece)
               : is_op(writer, "Split") && is_output_of_split(*writer, value, piece);
}

bool find_rotary_shape(const tensor& x, const tensor& cosines, const tensor& sines,
                       RotaryShape* out_shape)
{
    if (x.dim_num != 3 && x.dim_num != 4) return false;
    const int *dims = x.dims, size = width_of(x);
    const RotaryShape heads_first = {dims[0], x.dim_num == 4 ? dims[1] : 1, dims[x.dim_num - 2],
                                     size, x.dim_num == 4};
    const RotaryShape tokens_first = {dims[0], dims[x.dim_num - 2], dims[1], size, false};
    const auto fits = [&](int heads_axis, const RotaryShape& shape) {
        *out_shape = shape;
        return fits_tokens(cosines, shape.batch, shape.sequence, heads_axis, x) &&
               fits_tokens(sines, shape.batch, shape.sequence, heads_axis, x);
    };
    return fits(1, heads_first) || (x.dim_num == 4 && fits(2, tokens_first));
}

const unsigned char* read_constant(const graph& graph, const tensor& constant,
                                   Vector<unsigned char>* storage)
{
    if (constant.data) return static_cast<const unsigned char*>(constant.data);
    if (!find_ir_late_values(&constant)) return nullptr;
    storage->resize(get_ir_tensor_bytes(&constant));
    copy_ir_constant(&graph, &constant, storage->data());
    return storage->data();
}

bool repeats_pairs(const graph& graph, const tensor& table, bool is_interleaved)
{
    constexpr int kDeepest = 8;
    return PairSearch(graph, is_interleaved).repeats(table, kDeepest);
}

}  // namespace tengine
