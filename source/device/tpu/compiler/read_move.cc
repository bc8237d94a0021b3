// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: Concat, Split, Slice, Pad, Resize. Those that change the order are
// in read_reorder.cc.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "device/tpu/compiler/move_layer.h"
#include "device/tpu/compiler/read.h"
#include "operator/onnx/join_param.h"
#include "operator/onnx/resize_param.h"
#include "operator/onnx/slice_param.h"

namespace tengine::tpu {
namespace {

using Move = std::unique_ptr<MoveLayer>;

bool check_type(const NodeReader& reader)
{
    return reader.is_float() || require_bytes(reader, {0});
}

// Which of n, y, x, c (0 to 3) an axis of a tensor of this rank is; -1 for one of several that are
// n together.
int place_of_axis(int axis, int rank)
{
    if (rank == 4) return axis == 0 ? 0 : axis == 1 ? 3 : axis - 1;
    if (axis == rank - 1) return 3;
    if (axis == rank - 2) return 1;
    return rank == 3 ? 0 : -1;
}

bool find_place(const NodeReader& reader, int axis, int rank, size_t* out_place)
{
    const int place = place_of_axis(axis, rank);
    *out_place = static_cast<size_t>(place);
    if (place >= 0) return true;
    return reader.refuse(IR_REASON_ATTRIBUTE, "axis", "", "axis %d of rank %d is not supported",
                         axis, rank);
}

int normalized(int64_t axis, int rank)
{
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Piece whole_of(const Shape& shape, int input)
{
    Piece piece;
    piece.input = input;
    piece.end = {shape.n, shape.h, shape.w, shape.c};
    return piece;
}

Move make_move(const NodeReader& reader, const tensor* output)
{
    return make_move(reader.network.ref(*output), output->elem_size);
}

// Each input of a layer has a band of its own for each chunk of the result: more inputs are joined
// by groups first, at the price of one more copy, so that room and time are in proportion.
constexpr size_t kMostJoined = 32;

int& extent(Shape* shape, size_t place)
{
    int* const extents[] = {&shape->n, &shape->h, &shape->w, &shape->c};
    return *extents[place];
}

Shape joined_shape(const std::vector<Ref>& parts, size_t place)
{
    Shape shape = parts[0].shape;
    for (size_t i = 1; i < parts.size(); ++i) {
        Shape part = parts[i].shape;
        extent(&shape, place) += extent(&part, place);
    }
    return shape;
}

// The layer that joins `parts` one after the other along n, y, x or c.
void add_join(const NodeReader& reader, const std::vector<Ref>& parts, size_t place, const Ref& to)
{
    Move layer = make_move(to, reader.output()->elem_size);
    int offset = 0;
    for (const Ref& part : parts) {
        Piece piece = whole_of(part.shape, static_cast<int>(layer->inputs.size()));
        piece.begin[place] += offset;
        piece.end[place] += offset;
        offset = piece.end[place];
        layer->inputs.push_back(part);
        layer->pieces.push_back(piece);
    }
    reader.network.add(std::move(layer));
}

}  // namespace

bool read_concat(const NodeReader& reader)
{
    const tensor* output = reader.output();
    const int rank = output->dim_num;
    size_t place;
    if (!check_type(reader) ||
        !find_place(reader, normalized(get_ir_node_int(&reader.of, "axis", 0), rank), rank, &place))
        return false;
    std::vector<Ref> parts;
    for (int i = 0; i < reader.of.input_num; ++i)
        parts.push_back(reader.network.ref(*reader.input(i)));
    while (parts.size() > kMostJoined) {
        std::vector<Ref> joined;
        for (size_t i = 0; i < parts.size(); i += kMostJoined) {
            const auto first = parts.begin() + static_cast<std::ptrdiff_t>(i);
            const auto number = std::min(kMostJoined, parts.size() - i);
            const std::vector<Ref> some(first, first + static_cast<std::ptrdiff_t>(number));
            const Ref to = reader.network.temporary(joined_shape(some, place), output->elem_size);
            add_join(reader, some, place, to);
            joined.push_back(to);
        }
        parts = joined;
    }
    add_join(reader, parts, place, reader.network.ref(*output));
    return true;
}

bool read_split(const NodeReader& reader)
{
    const int rank = reader.input(0)->dim_num;
    size_t place;
    if (!check_type(reader) ||
        !find_place(reader, normalized(get_ir_node_int(&reader.of, "axis", 0), rank), rank, &place))
        return false;
    int offset = 0;
    for (int i = 0; i < reader.of.output_num; ++i) {
        const tensor* output = reader.output(i);
        if (!output)
            return reader.refuse(IR_REASON_ATTRIBUTE, "outputs", "", "output %d is missing", i);
        Move layer = make_move(reader, output);
        Piece piece = whole_of(layer->output.shape, 0);
        piece.from[place] = offset;
        offset += piece.end[place];
        layer->inputs = {reader.network.ref(*reader.input(0))};
        layer->pieces = {piece};
        reader.network.add(std::move(layer));
    }
    return true;
}

bool read_slice(const NodeReader& reader)
{
    const int rank = reader.input(0)->dim_num;
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    if (!check_type(reader)) return false;
    for (int i = 1; i < reader.of.input_num; ++i)
        if (!reader.constant(i, "where to cut")) return false;
    if (resolve_slice(&reader.of, ranges) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    Move layer = make_move(reader, reader.output());
    layer->inputs = {reader.network.ref(*reader.input(0))};
    Piece piece = whole_of(layer->output.shape, 0);
    for (int axis = 0; axis < rank; ++axis) {
        const slice_range& range = ranges[axis];
        if (range.start == 0 && range.length == reader.input(0)->dims[axis]) continue;
        size_t place;
        if (!find_place(reader, axis, rank, &place)) return false;
        const bool may_step = place == 1 || place == 2;
        if (range.step < 1 || (range.step > 1 && !may_step))
            return reader.refuse(
                IR_REASON_ATTRIBUTE, "steps", "",
                "a step of %lld on axis %d, expected a forward step on rows or columns",
                static_cast<long long>(range.step), axis);
        piece.from[place] = static_cast<int>(range.start);
        piece.step[place] = static_cast<int>(range.step);
    }
    layer->pieces = {piece};
    reader.network.add(std::move(layer));
    return true;
}

bool read_pad(const NodeReader& reader)
{
    const tensor* input = reader.input(0);
    const tensor* value = reader.input(2);
    int64_t before[MAX_SHAPE_DIM_NUM], after[MAX_SHAPE_DIM_NUM];
    const char* mode = get_ir_node_text(&reader.of, "mode", "constant");
    if (!check_type(reader)) return false;
    if (std::strcmp(mode, "constant") != 0)
        return reader.refuse(IR_REASON_ATTRIBUTE, "mode", mode, "only 'constant' is supported");
    for (int i = 1; i < reader.of.input_num; ++i)
        if (!reader.constant(i, "padding")) return false;
    if (resolve_pads(&reader.of, before, after) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    Move layer = make_move(reader, reader.output());
    layer->inputs = {reader.network.ref(*input)};
    layer->fills = true;
    if (value && reader.is_float() && value->f16[0] >> 8 != (value->f16[0] & 0xff))
        return reader.refuse(IR_REASON_ATTRIBUTE, "constant_value", "", "only 0 is supported");
    layer->fill = value ? value->u8[0] : 0;
    Piece piece = whole_of(layer->inputs[0].shape, 0);
    for (int axis = 0; axis < input->dim_num; ++axis) {
        if (before[axis] == 0 && after[axis] == 0) continue;
        size_t place;
        if (before[axis] < 0 || after[axis] < 0)
            return reader.refuse(IR_REASON_ATTRIBUTE, "pads", "", "axis %d is cut off", axis);
        if (!find_place(reader, axis, input->dim_num, &place)) return false;
        piece.begin[place] += static_cast<int>(before[axis]);
        piece.end[place] += static_cast<int>(before[axis]);
    }
    layer->pieces = {piece};
    reader.network.add(std::move(layer));
    return true;
}

// Whole multiples of rows and columns, each element being repeated.
bool read_resize(const NodeReader& reader)
{
    const auto* param = static_cast<const resize_param*>(reader.of.op.param_mem);
    const auto is = [](const char* text, const char* name) {
        return text && !std::strcmp(text, name);
    };
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    if (!check_type(reader)) return false;
    for (int i = 1; i < reader.of.input_num; ++i)
        if (!reader.constant(i, "a size")) return false;
    if (!is(param->mode, "nearest"))
        return reader.refuse(IR_REASON_ATTRIBUTE, "mode", param->mode, "only nearest is supported");
    const bool repeats = (is(param->coordinate_transformation_mode, "asymmetric") &&
                          is(param->nearest_mode, "floor")) ||
                         (is(param->coordinate_transformation_mode, "half_pixel") &&
                          (is(param->nearest_mode, "round_prefer_floor") ||
                           is(param->nearest_mode, "round_prefer_ceil")));
    if (!repeats)
        return reader.refuse(IR_REASON_ATTRIBUTE, "coordinate_transformation_mode",
                             param->coordinate_transformation_mode,
                             "with nearest_mode '%s' elements are not simply repeated",
                             param->nearest_mode);
    if (resolve_resize(&reader.of, axes) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    Move layer = make_move(reader, reader.output());
    layer->inputs = {reader.network.ref(*reader.input(0))};
    Piece piece = whole_of(layer->output.shape, 0);
    for (int axis = 0; axis < reader.input(0)->dim_num; ++axis) {
        const int length = reader.input(0)->dims[axis];
        if (axes[axis].size == length && axes[axis].scale == 1) continue;
        const auto factor = static_cast<int>(axes[axis].size / length);
        size_t place;
        if (!find_place(reader, axis, reader.input(0)->dim_num, &place)) return false;
        if (axes[axis].scale != factor || axes[axis].size != int64_t{factor} * length ||
            (place != 1 && place != 2))
            return reader.refuse(IR_REASON_ATTRIBUTE, "scales", "",
                                 "axis %d by %g, expected whole multiples of rows and columns",
                                 axis, axes[axis].scale);
        piece.repeat[place] = factor;
    }
    layer->pieces = {piece};
    reader.network.add(std::move(layer));
    return true;
}

}  // namespace tengine::tpu
