// SPDX-License-Identifier: Apache-2.0
// Replaces float nodes whose inputs and results are quantised by integer nodes: the walk over the
// graph (fuser.cc, operands.cc) and the common part of its rules (rules.cc has them in a table).
#pragma once

#include <initializer_list>

#include "base/containers.hpp"
#include "optimizer/precision/lookup.h"
#include "optimizer/precision/quantization.h"

namespace tengine {

// An input in integer form.
struct Operand
{
    tensor* bytes = nullptr;
    Quantization by;
};

// A result, which is to be made in integer form.
struct Result
{
    tensor* value = nullptr;  // in float
    Quantization by;
    node* quantize = nullptr;  // that makes the bytes now; null: a calibrated tensor
    node* clamp = nullptr;     // a Relu or Clip between the operator and `value`
};

class Fuser
{
  public:
    Fuser(struct graph& graph, const struct device* device, const Candidates& candidates,
          int data_type)
        : rewriter_(graph, device, candidates), data_type_(data_type)
    {
    }

    // Rewrites the nodes that the rules and the device allow; leaves gaps and disorder.
    int run();

    // ---- for rules, which return whether they have replaced the node ----

    struct graph& graph() const { return rewriter_.graph(); }
    Rewriter& rewriter() { return rewriter_; }
    int data_type() const { return data_type_; }

    // The integer form that a tensor has.
    bool find_operand(tensor* value, Operand* out_operand) const;
    // The same; a calibrated tensor that has none gets a QuantizeLinear, and a float constant is
    // quantised if `result` is calibrated.
    bool make_operand(tensor* value, const Result& result, Operand* out_operand);

    // The quantisation of output `index`, if the node and its readers agree on one. There may be a
    // Relu or Clip between, which is then the only reader of the output.
    bool find_result(const node& node, int index, Result* out_result) const;
    // The same for a node that moves values quantised as `by`: without a demand of others the
    // result is quantised in the same way, if one of its readers can use that.
    bool find_moved_result(const node& node, int index, const Quantization& by,
                           Result* out_result) const;

    // The operand in the order of operator inputs: quantised tensor, scale, zero point.
    void append(Operand& operand, Vector<tensor*>* inputs);
    // Scale and zero point of a result.
    void append(Result& result, Vector<tensor*>* inputs);

    // A node that makes `result`'s quantised tensor before its clamp, with the attributes of
    // `origin` and, if not 0, `group`; null if the device does not take it.
    tensor* add(const char* domain, const char* op, const node& origin,
                const Vector<tensor*>& inputs, const Result& result, int group = 0);
    // A quantised tensor of other values or in another quantisation, by a table: the operand's own
    // if the table is the identity; null if the device does not take the node. The node is
    // called `name` and stands for `origin`.
    tensor* look_up(const Operand& operand, const Quantization& to, const Formula& formula,
                    const String& name, const node& origin);
    // The same by a table that is known.
    tensor* add_table(const Operand& operand, const Quantization& to, const Int8Table& table,
                      const String& name, const node& origin);
    // `bytes` in another shape, null if the device does not take that. Where they have been
    // reshaped from it, also before a table, the earlier tensor is used.
    tensor* reshape(tensor* bytes, const Vector<int>& dims, const node& origin);
    // `operand` in another quantisation: itself if that is the same.
    tensor* requantize(const Operand& operand, const Quantization& to, const node& origin);

    // `bytes` were made of `origin`'s inputs: they become the results, and the float nodes go. A
    // clamp becomes a table, unless the range of the integer type clamps there already. Float
    // readers get a DequantizeLinear. Does nothing when some of `bytes` are null: the device did
    // not take a node.
    bool finish(node& origin, Vector<Result>& results, Vector<tensor*> bytes);
    bool finish(node& origin, Result& result, tensor* bytes);
    // The same for a result that is nothing but a QuantizeLinear.
    bool replace_quantizer(Result& result, tensor* bytes);

  private:
    bool rewrite(node& node);
    tensor* find_shaped(tensor* bytes, const Vector<int>& dims);
    bool find_direct_result(tensor* value, Result* out_result) const;
    tensor* clamp(const Result& result, tensor* bytes);
    bool quantize_calibrated(tensor* value, Operand* out_operand);
    bool quantize_constant(const tensor& value, Operand* out_operand);
    bool is_wanted_in_bytes(const tensor& value, int depth) const;
    bool find_quantizer(const tensor& value, Result* out_result) const;
    bool can_hand_over(const Result& result, const tensor& bytes) const;
    tensor* hand_over(Result& result, tensor* bytes);
    void share_bytes(const Result& result, tensor* bytes);
    void serve_float_readers(Result& result, tensor* bytes);

    Rewriter rewriter_;
    const int data_type_;
};

using FuseRule = bool (*)(Fuser& fuser, node& node);

// Whether one of the rules has replaced the node, the first that can. Nodes that the others have
// made are taken back.
bool fuse_by_first(Fuser& fuser, node& node, std::initializer_list<FuseRule> rules);

// The rule of an operator, null when there is none (rules.cc).
FuseRule find_fuse_rule(const node& node);
// Whether that is one of movement_rules.cc.
bool is_movement(const node& node);

// weighted_rules.cc
bool fuse_conv(Fuser& fuser, node& node);
bool fuse_conv_transpose(Fuser& fuser, node& node);
bool fuse_gemm(Fuser& fuser, node& node);
bool fuse_matmul(Fuser& fuser, node& node);
// An Add of a bias after a MatMul that has no other reader.
bool fuse_biased_matmul(Fuser& fuser, node& node);
bool fuse_batch_norm(Fuser& fuser, node& node);
// arithmetic_rules.cc
bool fuse_add(Fuser& fuser, node& node);
bool fuse_sub(Fuser& fuser, node& node);
bool fuse_mul(Fuser& fuser, node& node);
bool fuse_average_pool(Fuser& fuser, node& node);
bool fuse_global_average_pool(Fuser& fuser, node& node);
bool fuse_reduce_mean(Fuser& fuser, node& node);
bool fuse_softmax(Fuser& fuser, node& node);
bool fuse_layer_norm(Fuser& fuser, node& node);
// litert_functions.cc
bool fuse_leaky_relu(Fuser& fuser, node& node);
bool fuse_hard_swish(Fuser& fuser, node& node);
// litert_rules.cc
// An Add and a Sub of two operands in integer form, if the run rounds as TensorFlow Lite's kernels.
bool fuse_litert_add(Fuser& fuser, node& node);
bool fuse_litert_sub(Fuser& fuser, node& node);
// Gives them the parameters with which an integer pool has the means of TensorFlow Lite, if both
// are quantised in one way.
void take_litert_average(Operand* x, Result* y);
// The table from one quantisation to another; false where that of QuantizeLinear is to be used.
bool make_litert_requantization(const Fuser& fuser, const Quantization& from,
                                const Quantization& to, Int8Table* out_table);
// The same for a part of a concatenation, which TensorFlow Lite rescales where it is uint8.
bool make_litert_part(const Fuser& fuser, const Quantization& from, const Quantization& to,
                      Int8Table* out_table);
// elementwise_rules.cc
bool fuse_unary(Fuser& fuser, node& node);
bool fuse_requantization(Fuser& fuser, node& node);
// movement_rules.cc
bool fuse_movement(Fuser& fuser, node& node);
bool fuse_pad(Fuser& fuser, node& node);
bool fuse_max_pool(Fuser& fuser, node& node);
bool fuse_global_max_pool(Fuser& fuser, node& node);
bool fuse_resize(Fuser& fuser, node& node);
bool fuse_concat(Fuser& fuser, node& node);

}  // namespace tengine
