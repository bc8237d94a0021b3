// SPDX-License-Identifier: Apache-2.0
// Writes operators of ONNX in the place of the nodes that models have for them (patterns.cc), so
// that devices are asked for the operators. The last node of a pattern becomes the operator and
// keeps its name; the others go. The nodes stay if they are all for a better device than the
// operator.
#include <algorithm>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/registry.h"
#include "operator/row.h"
#include "optimizer/graph/rewriter.h"
#include "optimizer/pass.h"
#include "optimizer/recognise/lost_operator.h"
#include "optimizer/recognise/matcher.h"
#include "optimizer/recognise/rotary_writer.h"

namespace tengine {
namespace {

// Leaves the writer out of builds without the operator.
bool is_rotation(const Match& match)
{
    return OP_IS_SELECTED(onnx_RotaryEmbedding) && match.operands[kOperandCosines];
}

// The node that transposes keys; null where none does.
const node* find_transpose(const graph& graph, const tensor& keys)
{
    const node* writer = get_ir_graph_node(&graph, keys.producer);
    return is_op(writer, "Transpose") ? writer : nullptr;
}

class Recogniser
{
  public:
    // `leaves_default`: operators of the default device stay nodes.
    Recogniser(graph& graph, const Candidates& candidates, bool leaves_default)
        : graph_(graph),
          candidates_(candidates),
          leaves_default_(leaves_default),
          rewriter_(graph, nullptr, candidates)
    {
    }

    // From the last node on: a larger pattern ends later than one inside of it. Leaves gaps.
    int run()
    {
        for (int i = graph_.node_num - 1; i >= 0; --i)
            if (graph_.node_list[i]) TENGINE_RETURN_IF_ERROR(visit(*graph_.node_list[i]));
        tengine_error_clear();  // refusals along the way
        return TENGINE_OK;
    }

  private:
    int visit(node& last)
    {
        Match match;
        for (const Pattern& pattern : kPatterns) {
            const bool is_built = find_op_method(get_op_type("", pattern.op), 0) != nullptr;
            if (!is_built || !find_pattern(pattern, last, &match)) continue;
            if (pays_off(pattern, match)) replace(pattern, match);
            return rewriter_.status();
        }
        return TENGINE_OK;
    }

    // Whether the operator comes to the worst of its nodes' devices, or to a better one. The nodes
    // are asked about first: a device may look at the whole graph then, without a try in it. No
    // product comes to a worse device, and those of an attention of the default device stay nodes:
    // its plan reads and writes their layouts.
    bool pays_off(const Pattern& pattern, const Match& match)
    {
        size_t worst = 0, best_product = candidates_.size();
        for (int i = 0; i < match.node_num; ++i) {
            const size_t taker = candidates_.find_taker(*match.nodes[i]);
            worst = std::max(worst, taker);
            if (is_op(match.nodes[i], "MatMul")) best_product = std::min(best_product, taker);
        }
        const size_t taker = find_taker(pattern, match, worst);
        const bool is_by_default = taker + 1 == candidates_.size();
        return taker < candidates_.size() && taker <= worst && taker <= best_product &&
               !(is_by_default && (leaves_default_ || match.operands[kOperandQueries]));
    }

    // The device of the operator; none when nodes beside a rotation, or one that transposes keys,
    // come to a worse one than `worst`.
    size_t find_taker(const Pattern& pattern, const Match& match, size_t worst)
    {
        const int first = graph_.node_num;
        rewriter_.begin();
        node* made = rewriter_.add_node(draft_operator(pattern, match));
        size_t taker = made ? candidates_.find_taker(*made) : candidates_.size();
        const bool has_rotation = is_rotation(match);
        if (made && has_rotation && RotaryWriter::is_reshaped(match))
            rewriter_.add_node(rotary_writer_.draft_reshape(match, get_ir_node_output(made, 0)));
        const tensor* keys = match.operands[kOperandKeys];
        const bool has_more = has_rotation || (keys && !find_transpose(graph_, *keys));
        for (int i = first; has_more && i < graph_.node_num; ++i)
            if (candidates_.find_taker(*graph_.node_list[i]) > worst) taker = candidates_.size();
        rewriter_.take_back();
        rotary_writer_.forget_tables();
        return taker;
    }

    void replace(const Pattern& pattern, const Match& match)
    {
        const tensor* keys = match.operands[kOperandKeys];
        const bool has_rotation = is_rotation(match);
        NodeDraft draft = draft_operator(pattern, match);
        if (has_rotation && RotaryWriter::is_reshaped(match)) {
            const node* made = rewriter_.add_node(draft);
            draft =
                rotary_writer_.draft_reshape(match, made ? get_ir_node_output(made, 0) : nullptr);
        }
        rotary_writer_.keep_tables();
        rewriter_.exchange(match.last(), draft);
        for (int i = 1; i < match.node_num; ++i)
            destroy_ir_node(&graph_, match.nodes[i]);
        if (keys && keys->consumer_num == 0 && !is_ir_graph_output(&graph_, keys->index))
            destroy_ir_node(&graph_, get_ir_graph_node(&graph_, keys->producer));
    }

    // The name and the output are those of the last node, by which devices may know it.
    NodeDraft draft_operator(const Pattern& pattern, const Match& match)
    {
        const node& last = match.last();
        NodeDraft draft = {"",        pattern.op,
                           last.name, last.core->source_index,
                           {},        {get_ir_node_output(&last, 0)->name}};
        if (pattern.approximate) draft.texts = {{"approximate", pattern.approximate}};
        if (match.operands[kOperandQueries]) draft.floats = {{"scale", 1.0f}};
        if (is_rotation(match)) {
            rotary_writer_.draft(match, &draft);
            return draft;
        }
        for (int operand = 0; operand < kOperandNum; ++operand)
            if (tensor* value = match.operands[operand]) add_operand(operand, *value, &draft);
        return draft;
    }

    void add_operand(int operand, tensor& value, NodeDraft* draft)
    {
        const OperandRule& rule = kOperandRules[operand];
        if (rule.kind == OperandKind::kNumber) {
            const float number = read_pattern_number(value);
            draft->floats.push_back(
                {rule.attribute, operand == kOperandDivisor ? 1 / number : number});
            return;
        }
        tensor* input = &value;
        if (rule.kind == OperandKind::kList) input = flatten(value);
        if (operand == kOperandKeys) input = transpose_back(value);
        draft->inputs.push_back(input);
    }

    // A list with one axis.
    tensor* flatten(tensor& list)
    {
        if (list.dim_num == 1) return &list;
        return rewriter_.add_constant(String(list.name) + "_list", list.data_type,
                                      {static_cast<int>(list.elem_num)}, list.data);
    }

    // Keys with their elements in the last axis: as the Transpose that writes them would with its
    // last two axes exchanged, or by a Transpose of their own.
    tensor* transpose_back(tensor& keys)
    {
        const node* writer = find_transpose(graph_, keys);
        tensor* origin = writer ? get_ir_node_input(writer, 0) : &keys;
        Vector<int64_t> axes = {0, 1, 2, 3};
        if (writer) axes = read_order(*writer);
        std::swap(axes[2], axes[3]);
        if (std::is_sorted(axes.begin(), axes.end())) return origin;
        const String name = String(keys.name) + "_rows";
        NodeDraft draft = {"", "Transpose", writer ? String(writer->name) : name,
                           -1, {origin},    {name}};
        if (writer) draft.source_index = writer->core->source_index;
        draft.lists = {{"perm", axes}};
        const node* made = rewriter_.add_node(draft);
        return made ? get_ir_node_output(made, 0) : nullptr;
    }

    // The axes of a Transpose of four dimensions.
    static Vector<int64_t> read_order(const node& transpose)
    {
        int rank;
        const int64_t* order = get_ir_node_ints(&transpose, "perm", &rank);
        if (rank != 4) return {3, 2, 1, 0};
        return Vector<int64_t>(order, order + rank);
    }

    graph& graph_;
    const Candidates& candidates_;
    const bool leaves_default_;
    Rewriter rewriter_;
    RotaryWriter rotary_writer_{rewriter_};
};

bool is_of_pattern(const node& node)
{
    return std::any_of(kPatterns.begin(), kPatterns.end(),
                       [&](const Pattern& pattern) { return is_op(&node, pattern.op); });
}

}  // namespace

bool list_lost_operators(const graph& graph, Vector<Candidates::HandedBack>* list)
{
    const Candidates* candidates;
    const size_t known = list->size();
    if (Candidates::before_surveys(graph, &candidates) != TENGINE_OK) return false;
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        const size_t present = candidates->index_of(node.device);
        for (int k = 0; k < node.core->refusal_num && is_of_pattern(node); ++k) {
            const ir_refusal_t& refusal = node.core->refusal_list[k];
            const bool is_new = refusal.verdict.code == IR_REASON_HANDBACK &&
                                candidates->index_of(refusal.device) + 1 < present &&
                                !candidates->has_handed_back(refusal.device, node);
            if (is_new) list->push_back({refusal.device, node.core->source_index, node.op.type});
        }
    }
    return list->size() > known;
}

int recognise_before_surveys(graph& graph)
{
    const Candidates* candidates;
    const int precision = graph.run_options->precision;
    const bool is_float = precision == TENGINE_MODE_FP32;
    const bool is_half = precision == TENGINE_MODE_FP16 || precision == TENGINE_MODE_BF16;
    if (!is_float && !is_half) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(Candidates::before_surveys(graph, &candidates));
    return candidates->has_undecided() ? TENGINE_OK : Recogniser(graph, *candidates, is_half).run();
}

int recognise_operators(graph& graph)
{
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    return Recogniser(graph, *candidates, false).run();
}

}  // namespace tengine
