// SPDX-License-Identifier: Apache-2.0
// Operators that see a tensor in another shape or order. Where the bytes stay as they are nothing
// happens; otherwise a ReorderLayer copies them.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "device/tpu/compiler/move_layer.h"
#include "device/tpu/compiler/read.h"

namespace tengine::tpu {
namespace {

constexpr int64_t kMostInstructions = 4096;

// Distances in elements between neighbours along each axis, as values lie.
std::array<int64_t, MAX_SHAPE_DIM_NUM> strides_of(const tensor& tensor)
{
    std::array<int64_t, MAX_SHAPE_DIM_NUM> strides{};
    const int rank = tensor.dim_num;
    if (rank == 4) {
        const int64_t c = tensor.dims[1], w = tensor.dims[3];
        strides = {c * w * tensor.dims[2], 1, c * w, c};
        return strides;
    }
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
        strides[static_cast<size_t>(i)] = stride;
        stride *= tensor.dims[i];
    }
    return strides;
}

// Lies in the order of its dimensions.
bool is_plain(const tensor& tensor)
{
    return tensor.dim_num != 4 || tensor.dims[1] == 1 || tensor.dims[2] * tensor.dims[3] == 1;
}

// A copy, unless another name for the same bytes will do: an output of the part has its own.
bool add_same(const NodeReader& reader)
{
    const tensor* output = reader.output();
    if (!reader.network.is_output(*output)) {
        reader.network.alias(*output, *reader.input(0));
        return true;
    }
    auto layer = make_move(reader.network.ref(*output), output->elem_size);
    layer->inputs = {reader.network.ref(*reader.input(0))};
    layer->output.shape = layer->output.shape.flattened();
    layer->inputs[0].shape = layer->output.shape;
    Piece piece;
    piece.end = {1, layer->output.shape.h, 1, layer->output.shape.c};
    layer->pieces = {piece};
    reader.network.add(std::move(layer));
    return true;
}

bool add_reorder(const NodeReader& reader, std::vector<ReorderLayer::Axis> axes)
{
    auto layer = std::make_unique<ReorderLayer>();
    layer->axes = std::move(axes);
    const int64_t instructions = layer->simplify();
    if (instructions > kMostInstructions)
        return reader.refuse(IR_REASON_COST, "", "", "it takes %lld copies",
                             static_cast<long long>(instructions));
    layer->inputs = {reader.network.ref(*reader.input(0))};
    layer->output = reader.network.ref(*reader.output());
    layer->element_bytes = reader.output()->elem_size;
    reader.network.add(std::move(layer));
    return true;
}

bool is_same_shape(const tensor& a, const tensor& b)
{
    return a.dim_num == b.dim_num && !std::memcmp(a.dims, b.dims, sizeof(int) * a.dim_num);
}

// Splits the axes of both shapes until they are the same; the innermost first.
bool find_common_axes(const tensor& from, const tensor& to, std::vector<ReorderLayer::Axis>* out)
{
    const auto from_strides = strides_of(from), to_strides = strides_of(to);
    int i = from.dim_num - 1, j = to.dim_num - 1;
    int64_t i_done = 1, j_done = 1;  // the present axes'
    while (i >= 0 && j >= 0) {
        const int64_t i_left = from.dims[i] / i_done, j_left = to.dims[j] / j_done;
        const int64_t count = std::min(i_left, j_left);
        if (i_left % count != 0 || j_left % count != 0) return false;
        out->insert(out->begin(), {count, from_strides[static_cast<size_t>(i)] * i_done,
                                   to_strides[static_cast<size_t>(j)] * j_done});
        i_done *= count;
        j_done *= count;
        if (i_done == from.dims[i]) i--, i_done = 1;
        if (j_done == to.dims[j]) j--, j_done = 1;
    }
    return true;
}

}  // namespace

// Reshape, Flatten, Squeeze, Unsqueeze and Identity: the elements keep their order.
bool read_reshape(const NodeReader& reader)
{
    const tensor* input = reader.input(0);
    const tensor* output = reader.output();
    if (!reader.is_float() && !require_bytes(reader, {0})) return false;
    if ((is_plain(*input) && is_plain(*output)) || is_same_shape(*input, *output))
        return add_same(reader);
    if (input->dim_num == 4 && output->dim_num == 2 && output->dims[0] == input->dims[0])
        reader.network.note_flattened(*output, *input);
    std::vector<ReorderLayer::Axis> axes;
    if (!find_common_axes(*input, *output, &axes))
        return reader.refuse(IR_REASON_SHAPE, "shape", "", "the two shapes have no common axes");
    return add_reorder(reader, std::move(axes));
}

bool read_transpose(const NodeReader& reader)
{
    const tensor* input = reader.input(0);
    const tensor* output = reader.output();
    if (!reader.is_float() && !require_bytes(reader, {0})) return false;
    int number = 0;
    const int64_t* permutation = get_ir_node_ints(&reader.of, "perm", &number);
    const auto from = strides_of(*input), to = strides_of(*output);
    const int rank = input->dim_num;
    // In the order in which the result lies.
    std::vector<int> order;
    for (int i = 0; i < rank; ++i)
        order.push_back(rank != 4 ? i : i == 0 ? 0 : i == 3 ? 1 : i + 1);
    std::vector<ReorderLayer::Axis> axes;
    for (int axis : order) {
        const auto source = static_cast<size_t>(number > 0 ? permutation[axis] : rank - 1 - axis);
        axes.push_back({output->dims[axis], from[source], to[static_cast<size_t>(axis)]});
    }
    ReorderLayer merged;
    merged.axes = axes;
    merged.simplify();
    const bool keeps_order =
        merged.axes.empty() || (merged.axes.size() == 1 && merged.axes[0].from == 1);
    return keeps_order ? add_same(reader) : add_reorder(reader, std::move(axes));
}

}  // namespace tengine::tpu
