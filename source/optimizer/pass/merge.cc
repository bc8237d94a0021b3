// SPDX-License-Identifier: Apache-2.0
// Merges neighbours into a convolution: a following BatchNormalization into weights and bias,
// preceding zero padding into its pads. Such padding is merged into an AveragePool, too.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "operator/param.h"
#include "optimizer/pass.h"
#include "optimizer/pass/batch_norm.h"

namespace tengine {
namespace {

bool is_float_constant(const struct tensor* tensor)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST && tensor->data &&
           tensor->data_type == TENGINE_DT_FP32;
}

// The producer of `tensor`, if it has no other reader.
node* only_producer(const graph& graph, const struct tensor* tensor)
{
    if (!tensor || tensor->consumer_num != 1 || is_ir_graph_output(&graph, tensor->index))
        return nullptr;
    return get_ir_graph_node(&graph, tensor->producer);
}

bool can_merge_batch_norm(const node& norm, const node* conv)
{
    if (!is_op(&norm, "BatchNormalization") || !is_op(conv, "Conv")) return false;
    if (get_ir_node_int(&norm, "training_mode", 0) != 0) return false;
    if (!has_constant_statistics(norm)) return false;
    const struct tensor* bias = get_ir_node_input(conv, 2);
    const struct tensor* weight = get_ir_node_input(conv, 1);
    const int64_t channels = get_ir_node_input(&norm, 1)->elem_num;
    return is_float_constant(weight) && weight->dim_num > 2 && weight->dims[0] == channels &&
           channels > 0 && (!bias || (is_float_constant(bias) && bias->elem_num == channels));
}

struct tensor* add_float_tensor(graph& graph, const String& name, const int* dims, int rank)
{
    struct tensor* tensor = create_ir_tensor(&graph, name.c_str(), TENGINE_DT_FP32);
    return tensor && set_ir_tensor_shape(tensor, dims, rank) >= 0 ? tensor : nullptr;
}

// After merging, the weights of channel c are multiplied by factor, and the bias is bias * factor +
// offset.
struct MergedConstants
{
    const struct tensor* weight;
    const struct tensor* bias;  // or null
    Vector<ChannelAffine> affine;

    static void fill_weight(void* memory, void* argument)
    {
        const auto& merged = *static_cast<const MergedConstants*>(argument);
        const int64_t per_channel = merged.weight->elem_num / merged.weight->dims[0];
        const char* from = static_cast<const char*>(merged.weight->data);  // at any address
        auto* to = static_cast<float*>(memory);
        for (const auto& [factor, offset] : merged.affine)
            for (int64_t i = 0; i < per_channel; ++i, from += sizeof *to, ++to) {
                float value;
                std::memcpy(&value, from, sizeof value);
                *to = static_cast<float>(value * factor);
            }
    }

    void fill_bias(float* to) const
    {
        for (size_t c = 0; c < affine.size(); ++c) {
            const double old_bias = bias ? bias->f32[c] : 0.0;
            to[c] = static_cast<float>(old_bias * affine[c].factor + affine[c].offset);
        }
    }
};

// Merged weights depend on the scale, the variance and epsilon of `norm`. Results of constants of
// the model are shared.
ir_pack_key_t make_weight_key(const struct tensor& weight, const node& norm)
{
    static const char kind = 0;
    const struct tensor* sources[] = {&weight, get_ir_node_input(&norm, 1),
                                      get_ir_node_input(&norm, 4)};
    ir_pack_key_t key = {};
    key.kind = &kind;
    for (size_t i = 0; i < std::size(sources); ++i) {
        if (!is_ir_model_constant(sources[i])) key.kind = nullptr;
        key.constants[i] = sources[i]->data;
    }
    const float epsilon = get_ir_node_float(&norm, "epsilon", 1e-5f);
    std::memcpy(&key.sizes[0], &epsilon, sizeof epsilon);
    key.sizes[1] = weight.elem_num;
    key.sizes[2] = weight.dims[0];
    return key;
}

int merge_batch_norm(graph& graph, node& norm, node& conv)
{
    struct tensor* weight = get_ir_node_input(&conv, 1);
    MergedConstants merged = {weight, get_ir_node_input(&conv, 2), read_batch_norm(norm)};
    struct tensor* new_weight = add_float_tensor(graph, print_text("%s_folded", weight->name),
                                                 weight->dims, weight->dim_num);
    struct tensor* new_bias =
        add_float_tensor(graph, print_text("%s_bias_folded", conv.name), weight->dims, 1);
    if (!new_weight || !new_bias) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(share_constant(graph, *new_weight, make_weight_key(*weight, norm),
                                           MergedConstants::fill_weight, &merged));
    drop_ir_constant(&graph, weight);
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(new_bias));
    new_bias->tensor_type = TENSOR_TYPE_CONST;
    merged.fill_bias(new_bias->f32);
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&conv, 1, new_weight));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&conv, 2, new_bias));
    struct tensor* output = get_ir_node_output(&norm, 0);
    destroy_ir_node(&graph, &norm);
    return set_ir_node_output_tensor(&conv, 0, output);
}

// The pads of a Pad node that a convolution or a pool can do itself: zeros on spatial axes only.
bool read_mergeable_pads(const node* pad, Vector<int64_t>* out_pads)
{
    if (!is_op(pad, "Pad") ||
        std::strcmp(get_ir_node_text(pad, "mode", "constant"), "constant") != 0)
        return false;
    const struct tensor* pads = get_ir_node_input(pad, 1);
    const struct tensor* value = get_ir_node_input(pad, 2);
    const struct tensor* data = get_ir_node_input(pad, 0);
    if (!pads || pads->tensor_type != TENSOR_TYPE_CONST || get_ir_node_input(pad, 3)) return false;
    if (value && !(is_float_constant(value) && *value->f32 == 0.0f)) return false;
    const int rank = data->dim_num;
    if (rank < 3 || pads->elem_num != 2 * rank) return false;
    for (int i = 0; i < 2 * rank; ++i)
        if (pads->i64[i] < 0 || (i % rank < 2 && pads->i64[i] != 0)) return false;
    out_pads->clear();
    for (int end = 0; end < 2; ++end)
        for (int axis = 2; axis < rank; ++axis)
            out_pads->push_back(pads->i64[end * rank + axis]);
    return true;
}

bool has_pads(const node& node)
{
    int number;
    const int64_t* pads = get_ir_node_ints(&node, "pads", &number);
    return std::any_of(pads, pads + number, [](int64_t pad) { return pad != 0; });
}

// Whether zeros around the input of the node can be pads of the node. The mean counts them; as pads
// of the node they count only if it counts all pads, which does not include pads that ceil_mode
// adds.
bool can_merge_pad(const node& node)
{
    if (std::strcmp(get_ir_node_text(&node, "auto_pad", "NOTSET"), "NOTSET") != 0) return false;
    if (is_op(&node, "Conv")) return true;
    return is_op(&node, "AveragePool") && get_ir_node_int(&node, "ceil_mode", 0) == 0 &&
           (get_ir_node_int(&node, "count_include_pad", 0) != 0 || !has_pads(node));
}

int merge_pad(graph& graph, node& pad, node& reader, Vector<int64_t> pads)
{
    int number;
    const int64_t* own = get_ir_node_ints(&reader, "pads", &number);
    for (int i = 0; i < number && i < static_cast<int>(pads.size()); ++i)
        pads[i] += own[i];
    TENGINE_RETURN_IF_ERROR(
        set_node_ints(&reader, "pads", pads.data(), static_cast<int>(pads.size())));
    if (is_op(&reader, "AveragePool"))
        TENGINE_RETURN_IF_ERROR(set_node_int(&reader, "count_include_pad", 1));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&reader, 0, get_ir_node_input(&pad, 0)));
    destroy_ir_node(&graph, &pad);
    return TENGINE_OK;
}

}  // namespace

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

int merge_batch_norms(graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i) {
        node* norm = graph.node_list[i];
        if (!norm) continue;
        node* conv = only_producer(graph, get_ir_node_input(norm, 0));
        if (can_merge_batch_norm(*norm, conv))
            TENGINE_RETURN_IF_ERROR(merge_batch_norm(graph, *norm, *conv));
    }
    return TENGINE_OK;
}

int merge_pads(graph& graph)
{
    Vector<int64_t> pads;
    for (int i = 0; i < graph.node_num; ++i) {
        node* reader = graph.node_list[i];
        if (!reader || !can_merge_pad(*reader)) continue;
        node* pad = only_producer(graph, get_ir_node_input(reader, 0));
        if (read_mergeable_pads(pad, &pads))
            TENGINE_RETURN_IF_ERROR(merge_pad(graph, *pad, *reader, pads));
    }
    return TENGINE_OK;
}

}  // namespace tengine
