// SPDX-License-Identifier: Apache-2.0
#include "optimizer/pass/channel_affine.h"

#include <algorithm>
#include <cmath>

#include "graph/graph.h"
#include "operator/param.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

constexpr int kChannelAxis = 1;

// A constant with one value, or one for each channel, that does not add dimensions.
bool is_for_channels(const struct tensor& constant, int rank, int channels)
{
    if (constant.dim_num > rank) return false;
    for (int i = 0; i < constant.dim_num; ++i) {
        const bool is_channel_axis = rank - constant.dim_num + i == kChannelAxis;
        if (constant.dims[i] != 1 && !(is_channel_axis && constant.dims[i] == channels))
            return false;
    }
    return true;
}

ChannelAffine make_affine(const node& node, bool is_constant_first, double value)
{
    if (is_op(&node, "Mul")) return {value, 0};
    if (is_op(&node, "Div")) return {1 / value, 0};
    if (is_op(&node, "Add")) return {1, value};
    return is_constant_first ? ChannelAffine{-1, value} : ChannelAffine{1, -value};  // Sub
}

// The operand that is a constant, 0 or 1; -1: none. Opsets before 7 have other rules of broadcast.
int find_constant_operand(const node& node)
{
    const bool is_known =
        is_op(&node, "Mul") || is_op(&node, "Div") || is_op(&node, "Add") || is_op(&node, "Sub");
    if (!is_known || node.input_num != 2 || get_ir_node_int(&node, "broadcast", 0) != 0) return -1;
    for (const int i : {1, 0}) {
        const struct tensor* data = get_ir_node_input(&node, 1 - i);
        if (i == 0 && is_op(&node, "Div")) continue;
        if (data && !is_constant(data) && is_float_constant(get_ir_node_input(&node, i))) return i;
    }
    return -1;
}

bool read_arithmetic(const node& node, int rank, int channels, AffineNode* affine)
{
    const int place = find_constant_operand(node);
    if (place < 0) return false;
    const struct tensor& constant = *get_ir_node_input(&node, place);
    if (!is_for_channels(constant, rank, channels)) return false;
    for (int c = 0; c < channels; ++c) {
        const float value = constant.f32[constant.elem_num == 1 ? 0 : c];
        affine->channels.push_back(make_affine(node, place == 0, value));
    }
    if (is_op(&node, "Mul") || is_op(&node, "Div")) {
        affine->form = is_op(&node, "Mul") ? kConstantFactor : kQuotientFactor;
        affine->sources[0] = &constant;
    }
    return true;
}

bool is_inference_norm(const node& node)
{
    return is_op(&node, "BatchNormalization") && has_constant_statistics(node) &&
           get_ir_node_int(&node, "training_mode", 0) == 0;
}

bool read_norm(const node& node, int channels, AffineNode* affine)
{
    if (!is_inference_norm(node) || get_ir_node_input(&node, 1)->elem_num != channels) return false;
    affine->channels = read_batch_norm(node);
    affine->form = kNormFactor;
    affine->sources[0] = get_ir_node_input(&node, 1);
    affine->sources[1] = get_ir_node_input(&node, 4);
    affine->epsilon = get_ir_node_float(&node, "epsilon", 1e-5f);
    return true;
}

}  // namespace

bool is_float_constant(const struct tensor* tensor)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST && tensor->data &&
           tensor->data_type == TENGINE_DT_FP32;
}

bool has_constant_statistics(const node& norm)
{
    for (int i = 1; i <= 4; ++i) {
        const struct tensor* input = get_ir_node_input(&norm, i);
        if (!is_float_constant(input) || input->elem_num != get_ir_node_input(&norm, 1)->elem_num)
            return false;
    }
    return true;
}

Vector<ChannelAffine> read_batch_norm(const node& norm)
{
    const struct tensor* scale = get_ir_node_input(&norm, 1);
    const float* bias = get_ir_node_input(&norm, 2)->f32;
    const float* mean = get_ir_node_input(&norm, 3)->f32;
    const float* variance = get_ir_node_input(&norm, 4)->f32;
    const double epsilon = get_ir_node_float(&norm, "epsilon", 1e-5f);
    Vector<ChannelAffine> affine;
    for (int64_t c = 0; c < scale->elem_num; ++c) {
        const double factor = scale->f32[c] / std::sqrt(variance[c] + epsilon);
        affine.push_back({factor, bias[c] - mean[c] * factor});
    }
    return affine;
}

bool has_factors(const Vector<ChannelAffine>& channels)
{
    return std::any_of(channels.begin(), channels.end(),
                       [](const ChannelAffine& affine) { return affine.factor != 1; });
}

bool has_offsets(const Vector<ChannelAffine>& channels)
{
    return std::any_of(channels.begin(), channels.end(),
                       [](const ChannelAffine& affine) { return affine.offset != 0; });
}

struct tensor* find_affine_input(const node& node)
{
    if (is_inference_norm(node)) return get_ir_node_input(&node, 0);
    const int place = find_constant_operand(node);
    return place < 0 ? nullptr : get_ir_node_input(&node, 1 - place);
}

bool read_affine_node(const node& node, int rank, int channels, AffineNode* out_affine)
{
    *out_affine = {};
    if (channels < 1 || (!read_norm(node, channels, out_affine) &&
                         !read_arithmetic(node, rank, channels, out_affine)))
        return false;
    return std::all_of(out_affine->channels.begin(), out_affine->channels.end(),
                       [](const ChannelAffine& affine) {
                           return std::isfinite(affine.factor) && std::isfinite(affine.offset);
                       });
}

}  // namespace tengine
