// SPDX-License-Identifier: Apache-2.0
// Merges affine functions of each channel into the weights and the bias of a neighbouring
// convolution: one behind a Conv or a ConvTranspose, and one in front of a Conv. A convolution W
// makes W' = f W of a factor f at either side. A summand t in front adds the sum of W t to the
// bias, where no padding replaces the input.
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
#include "optimizer/pass/channel_affine.h"

namespace tengine {
namespace {

// A convolution whose weights, and bias if it has one, are constants in fp32.
class Convolution
{
  public:
    // False: `conv` is null or none of these.
    bool read(node* conv)
    {
        if (!is_op(conv, "Conv") && !is_op(conv, "ConvTranspose")) return false;
        node_ = conv;
        weight_ = get_ir_node_input(conv, 1);
        bias_ = get_ir_node_input(conv, 2);
        if (!is_float_constant(weight_) || weight_->dim_num < 3 || weight_->elem_num == 0)
            return false;
        group_ = static_cast<int>(get_ir_node_int(conv, "group", 1));
        if (group_ < 1 || weight_->dims[0] % group_ != 0) return false;
        return !bias_ || (is_float_constant(bias_) && bias_->elem_num == out_channels());
    }

    node& get_node() const { return *node_; }
    const struct tensor& weight() const { return *weight_; }
    int group() const { return group_; }
    bool is_transposed() const { return is_op(node_, "ConvTranspose"); }
    int out_channels() const { return is_transposed() ? columns() : weight_->dims[0]; }
    int in_channels() const { return is_transposed() ? weight_->dims[0] : columns(); }

    // Calls visit(input channel, output channel, value) for each weight in order.
    template <class Visit>
    void visit_weights(const Visit& visit) const
    {
        const int places = weight_->dims[1], rows_of_group = weight_->dims[0] / group_;
        const int64_t taps = weight_->elem_num / weight_->dims[0] / places;
        const bool is_swapped = is_transposed();
        const char* from = static_cast<const char*>(weight_->data);  // at any address
        for (int row = 0; row < weight_->dims[0]; ++row) {
            const int first = row / rows_of_group * places;
            for (int other = first; other < first + places; ++other)
                for (int64_t tap = 0; tap < taps; ++tap, from += sizeof(float)) {
                    float value;
                    std::memcpy(&value, from, sizeof value);
                    visit(is_swapped ? row : other, is_swapped ? other : row, value);
                }
        }
    }

    double bias(int channel) const { return bias_ ? bias_->f32[channel] : 0.0; }
    bool has_bias() const { return bias_ != nullptr; }

    bool has_padding() const
    {
        const char* mode = get_ir_node_text(node_, "auto_pad", "NOTSET");
        if (std::strcmp(mode, "VALID") == 0) return false;
        int number;
        const int64_t* pads = get_ir_node_ints(node_, "pads", &number);
        return std::strcmp(mode, "NOTSET") != 0 ||
               std::any_of(pads, pads + number, [](int64_t pad) { return pad != 0; });
    }

  private:
    int columns() const { return weight_->dims[1] * group_; }

    node* node_ = nullptr;
    const struct tensor* weight_ = nullptr;
    const struct tensor* bias_ = nullptr;
    int group_ = 1;
};

// A convolution and the function that is merged into it.
class Merger
{
  public:
    Merger(graph& graph, const Convolution& conv, const AffineNode& affine, bool is_behind)
        : graph_(graph), conv_(conv), affine_(affine), is_behind_(is_behind)
    {
    }

    // In a run in fp16, the weights of each output channel have a normal number, whose rounding
    // error is the largest that the others can have, and all are finite.
    bool is_exact_enough() const
    {
        if (graph_.run_options->precision != TENGINE_MODE_FP16) return true;
        constexpr double kLeastNormal = 0x1p-14, kLargest = 65504;
        Vector<double> before(conv_.out_channels()), after(before);
        conv_.visit_weights([&](int input, int output, float value) {
            const double made = value * function_of(input, output).factor;
            before[output] = std::max(before[output], std::fabs(double{value}));
            after[output] = std::max(after[output], std::fabs(made));
        });
        for (size_t i = 0; i < after.size(); ++i)
            if (after[i] > kLargest || (after[i] < kLeastNormal && after[i] < before[i]))
                return false;
        return true;
    }

    int merge()
    {
        // The sum of the bias is over the weights before they are multiplied.
        if (conv_.has_bias() || affine_.has_offsets()) TENGINE_RETURN_IF_ERROR(replace_bias());
        return affine_.has_factors() ? replace_weight() : int{TENGINE_OK};
    }

  private:
    struct tensor* add_float_tensor(const String& name, const int* dims, int rank)
    {
        struct tensor* tensor = create_ir_tensor(&graph_, name.c_str(), TENGINE_DT_FP32);
        return tensor && set_ir_tensor_shape(tensor, dims, rank) >= 0 ? tensor : nullptr;
    }

    const ChannelAffine& function_of(int input, int output) const
    {
        return affine_.channels[is_behind_ ? output : input];
    }

    static void fill_weight(void* memory, void* argument)
    {
        const auto& merger = *static_cast<const Merger*>(argument);
        auto* to = static_cast<float*>(memory);
        merger.conv_.visit_weights([&](int input, int output, float value) {
            *to++ = static_cast<float>(value * merger.function_of(input, output).factor);
        });
    }

    // Merged weights depend on the sources of the factors. Results of constants of the model are
    // shared.
    ir_pack_key_t make_weight_key() const
    {
        static const char kind = 0;
        const struct tensor* sources[] = {&conv_.weight(), affine_.sources[0], affine_.sources[1]};
        ir_pack_key_t key = {};
        key.kind = &kind;
        for (size_t i = 0; i < std::size(sources); ++i) {
            if (!sources[i]) continue;
            if (!is_ir_model_constant(sources[i])) key.kind = nullptr;
            key.constants[i] = sources[i]->data;
        }
        std::memcpy(&key.sizes[0], &affine_.epsilon, sizeof affine_.epsilon);
        key.sizes[1] = conv_.weight().elem_num;
        key.sizes[2] = conv_.weight().dims[0] * int64_t{4} + (is_behind_ ? 2 : 0) +
                       (conv_.is_transposed() ? 1 : 0);
        key.sizes[3] = conv_.group() * int64_t{kAffineForms} + affine_.form;
        return key;
    }

    int replace_weight()
    {
        struct tensor* old = get_ir_node_input(&conv_.get_node(), 1);
        struct tensor* made =
            add_float_tensor(print_text("%s_folded", old->name), old->dims, old->dim_num);
        if (!made) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(
            share_constant(graph_, *made, make_weight_key(), fill_weight, this));
        drop_ir_constant(&graph_, old);
        return set_ir_node_input_tensor(&conv_.get_node(), 1, made);
    }

    Vector<double> compute_bias() const
    {
        Vector<double> sums;
        for (int c = 0; c < conv_.out_channels(); ++c)
            sums.push_back(conv_.bias(c));
        if (is_behind_) {
            for (size_t c = 0; c < sums.size(); ++c)
                sums[c] = sums[c] * affine_.channels[c].factor + affine_.channels[c].offset;
        } else {
            conv_.visit_weights([&](int input, int output, float value) {
                sums[output] += value * function_of(input, output).offset;
            });
        }
        return sums;
    }

    int replace_bias()
    {
        const int channels = conv_.out_channels();
        struct tensor* made =
            add_float_tensor(print_text("%s_bias_folded", conv_.get_node().name), &channels, 1);
        if (!made) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(made));
        made->tensor_type = TENSOR_TYPE_CONST;
        float* to = made->f32;
        for (const double sum : compute_bias())
            *to++ = static_cast<float>(sum);
        return set_ir_node_input_tensor(&conv_.get_node(), 2, made);
    }

    graph& graph_;
    const Convolution& conv_;
    const AffineNode& affine_;
    const bool is_behind_;
};

// Into the convolution that computes the input of the function.
int merge_behind(graph& graph, node& node)
{
    Convolution conv;
    AffineNode affine;
    if (!conv.read(find_only_producer(graph, find_affine_input(node))) ||
        !read_affine_node(node, conv.weight().dim_num, conv.out_channels(), &affine))
        return TENGINE_OK;
    Merger merger(graph, conv, affine, true);
    if (!merger.is_exact_enough()) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(merger.merge());
    struct tensor* output = get_ir_node_output(&node, 0);
    destroy_ir_node(&graph, &node);
    return set_ir_node_output_tensor(&conv.get_node(), 0, output);
}

// Whether the function does not repeat its input for the channels of its constant.
bool has_channels(const node& node, int rank, int channels)
{
    const struct tensor* input = find_affine_input(node);
    return input && is_ir_tensor_shape_known(input) && input->dim_num == rank &&
           input->dims[1] == channels;
}

// The function in front of a Conv that alone reads its result; null: it stays.
node* find_in_front(const graph& graph, node& reader, Convolution* conv, AffineNode* affine)
{
    node* node =
        is_op(&reader, "Conv") ? find_only_producer(graph, get_ir_node_input(&reader, 0)) : nullptr;
    if (!node || !conv->read(&reader)) return nullptr;
    const int rank = conv->weight().dim_num, channels = conv->in_channels();
    if (!has_channels(*node, rank, channels) || !read_affine_node(*node, rank, channels, affine))
        return nullptr;
    return affine->has_offsets() && conv->has_padding() ? nullptr : node;
}

int merge_in_front(graph& graph, node& reader)
{
    Convolution conv;
    AffineNode affine;
    while (node* node = find_in_front(graph, reader, &conv, &affine)) {
        Merger merger(graph, conv, affine, false);
        if (!merger.is_exact_enough()) return TENGINE_OK;
        TENGINE_RETURN_IF_ERROR(merger.merge());
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&reader, 0, find_affine_input(*node)));
        destroy_ir_node(&graph, node);
    }
    return TENGINE_OK;
}

}  // namespace

int merge_affine_nodes(graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i)
        if (node* node = graph.node_list[i]) TENGINE_RETURN_IF_ERROR(merge_behind(graph, *node));
    for (int i = 0; i < graph.node_num; ++i)
        if (node* reader = graph.node_list[i])
            TENGINE_RETURN_IF_ERROR(merge_in_front(graph, *reader));
    return TENGINE_OK;
}

}  // namespace tengine
