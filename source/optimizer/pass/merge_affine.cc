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

ChannelAffine compose(const ChannelAffine& outer, const ChannelAffine& inner)
{
    return {outer.factor * inner.factor, outer.factor * inner.offset + outer.offset};
}

// The functions at one side of a convolution as one, and their nodes from the convolution on.
struct Side
{
    Vector<ChannelAffine> channels;
    Vector<node*> nodes;

    explicit Side(int number) : channels(number, ChannelAffine{1, 0}) {}
    bool has_factors() const { return tengine::has_factors(channels); }
    bool has_offsets() const { return tengine::has_offsets(channels); }
};

// Merges all functions beside a convolution at once, so that its weights are copied once.
class Merger
{
  public:
    Merger(graph& graph, const Convolution& conv)
        : graph_(graph), conv_(conv), behind_(conv.out_channels()), front_(conv.in_channels())
    {
    }

    int run()
    {
        find_behind();
        if (!conv_.is_transposed()) find_in_front();
        if (behind_.nodes.empty() && front_.nodes.empty()) return TENGINE_OK;
        const bool has_offsets = behind_.has_offsets() || front_.has_offsets();
        // The sum of the bias is over the weights before they are multiplied.
        if (conv_.has_bias() || has_offsets) TENGINE_RETURN_IF_ERROR(replace_bias());
        if (behind_.has_factors() || front_.has_factors())
            TENGINE_RETURN_IF_ERROR(replace_weight());
        return bypass();
    }

  private:
    // ---- the functions ----

    void find_behind()
    {
        const int rank = conv_.weight().dim_num, channels = conv_.out_channels();
        const struct tensor* result = get_ir_node_output(&conv_.get_node(), 0);
        AffineNode affine;
        for (;;) {
            node* node = find_only_reader(graph_, *result);
            if (!node || find_affine_input(*node) != result ||
                !read_affine_node(*node, rank, channels, &affine) || !take(behind_, *node, affine))
                return;
            result = get_ir_node_output(node, 0);
        }
    }

    void find_in_front()
    {
        const int rank = conv_.weight().dim_num, channels = conv_.in_channels();
        const struct tensor* value = get_ir_node_input(&conv_.get_node(), 0);
        AffineNode affine;
        for (;;) {
            node* node = find_only_producer(graph_, value);
            if (!node || !has_channels(*node, rank, channels) ||
                !read_affine_node(*node, rank, channels, &affine))
                return;
            const bool is_padded = has_offsets(affine.channels) && conv_.has_padding();
            if (is_padded || !take(front_, *node, affine)) return;
            value = find_affine_input(*node);
        }
    }

    // Whether the function does not repeat its input for the channels of its constant.
    static bool has_channels(const node& node, int rank, int channels)
    {
        const struct tensor* input = find_affine_input(node);
        return input && is_ir_tensor_shape_known(input) && input->dim_num == rank &&
               input->dims[1] == channels;
    }

    // Adds a function to a side; false: the weights or the bias would leave their range.
    bool take(Side& side, node& node, const AffineNode& affine)
    {
        const Vector<ChannelAffine> before = side.channels;
        bool is_finite = true;
        for (size_t c = 0; c < before.size(); ++c) {
            side.channels[c] = &side == &behind_ ? compose(affine.channels[c], before[c])
                                                 : compose(before[c], affine.channels[c]);
            is_finite &=
                std::isfinite(side.channels[c].factor) && std::isfinite(side.channels[c].offset);
        }
        const bool is_taken = is_finite && (!has_factors(affine.channels) || is_exact_enough());
        if (!is_taken) side.channels = before;
        if (is_taken) side.nodes.push_back(&node);
        if (is_taken && has_factors(affine.channels)) add_to_key(&side == &behind_, affine);
        return is_taken;
    }

    double factor_of(int input, int output) const
    {
        return behind_.channels[output].factor * front_.channels[input].factor;
    }

    // In a run in fp16, the weights of each output channel have a normal number, whose rounding
    // error is the largest that the others can have, and all are finite.
    bool is_exact_enough() const
    {
        if (graph_.run_options->precision != TENGINE_MODE_FP16) return true;
        constexpr double kLeastNormal = 0x1p-14, kLargest = 65504;
        Vector<double> before(conv_.out_channels()), after(before);
        conv_.visit_weights([&](int input, int output, float value) {
            const double made = value * factor_of(input, output);
            before[output] = std::max(before[output], std::fabs(double{value}));
            after[output] = std::max(after[output], std::fabs(made));
        });
        for (size_t i = 0; i < after.size(); ++i)
            if (after[i] > kLargest || (after[i] < kLeastNormal && after[i] < before[i]))
                return false;
        return true;
    }

    // ---- the constants ----

    // Merged weights depend on the sources and the forms of the factors. Results of up to three
    // sources that are constants of the model are shared.
    void add_to_key(bool is_behind, const AffineNode& affine)
    {
        for (const struct tensor* source : affine.sources)
            if (source) sources_.push_back(source);
        if (affine.form == kNormFactor) epsilon_ = affine.epsilon;
        forms_.push_back(static_cast<uint8_t>(1 + affine.form + (is_behind ? kAffineForms : 0)));
    }

    ir_pack_key_t make_weight_key() const
    {
        static const char kind = 0;
        ir_pack_key_t key = {};
        key.sizes[0] = conv_.weight().elem_num;
        key.sizes[1] = conv_.weight().dims[0] * int64_t{2} + (conv_.is_transposed() ? 1 : 0);
        std::memcpy(&key.sizes[2], &epsilon_, sizeof epsilon_);
        key.sizes[3] = conv_.group();
        Vector<const struct tensor*> constants = sources_;
        constants.push_back(&conv_.weight());
        if (constants.size() > std::size(key.constants) || forms_.size() > sizeof(uint32_t))
            return key;
        for (size_t i = 0; i < forms_.size(); ++i)
            key.sizes[3] |= static_cast<int64_t>(uint64_t{forms_[i]} << (32 + 8 * i));
        for (size_t i = 0; i < constants.size(); ++i) {
            if (!is_ir_model_constant(constants[i])) return key;
            key.constants[i] = constants[i]->data;
        }
        key.kind = &kind;
        return key;
    }

    struct tensor* add_float_tensor(const String& name, const int* dims, int rank)
    {
        struct tensor* tensor = create_ir_tensor(&graph_, name.c_str(), TENGINE_DT_FP32);
        return tensor && set_ir_tensor_shape(tensor, dims, rank) >= 0 ? tensor : nullptr;
    }

    static void fill_weight(void* memory, void* argument)
    {
        const auto& merger = *static_cast<const Merger*>(argument);
        auto* to = static_cast<float*>(memory);
        merger.conv_.visit_weights([&](int input, int output, float value) {
            *to++ = static_cast<float>(value * merger.factor_of(input, output));
        });
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
        if (front_.has_offsets())
            conv_.visit_weights([&](int input, int output, float value) {
                sums[output] += value * front_.channels[input].offset;
            });
        for (size_t c = 0; c < sums.size(); ++c)
            sums[c] = sums[c] * behind_.channels[c].factor + behind_.channels[c].offset;
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

    // ---- the nodes ----

    // The convolution reads and writes what the functions did.
    int bypass()
    {
        if (!front_.nodes.empty())
            TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(
                &conv_.get_node(), 0, find_affine_input(*front_.nodes.back())));
        for (node* node : front_.nodes)
            destroy_ir_node(&graph_, node);
        if (behind_.nodes.empty()) return TENGINE_OK;
        struct tensor* output = get_ir_node_output(behind_.nodes.back(), 0);
        for (node* node : behind_.nodes)
            destroy_ir_node(&graph_, node);
        return set_ir_node_output_tensor(&conv_.get_node(), 0, output);
    }

    graph& graph_;
    const Convolution& conv_;
    Side behind_, front_;
    Vector<const struct tensor*> sources_;
    Vector<uint8_t> forms_;
    float epsilon_ = 0;
};

}  // namespace

int merge_affine_nodes(graph& graph)
{
    Convolution conv;
    for (int i = 0; i < graph.node_num; ++i)
        if (conv.read(graph.node_list[i])) TENGINE_RETURN_IF_ERROR(Merger(graph, conv).run());
    return TENGINE_OK;
}

}  // namespace tengine
