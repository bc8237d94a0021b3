// SPDX-License-Identifier: Apache-2.0
// Writes operators of ONNX in the place of the nodes that models have for them (patterns.cc), so
// that devices are asked for the operators. The last node of a pattern becomes the operator and
// keeps its name; the others go. The nodes stay if they are all for a better device than the
// operator.
#include <algorithm>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/registry.h"
#include "optimizer/graph/rewriter.h"
#include "optimizer/pass.h"
#include "optimizer/placement/candidates.h"
#include "optimizer/recognise/matcher.h"

namespace tengine {
namespace {

class Recogniser
{
  public:
    Recogniser(graph& graph, const Candidates& candidates)
        : graph_(graph), candidates_(candidates), rewriter_(graph, nullptr, candidates)
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
    // are asked about first: a device may look at the whole graph then, without a try in it.
    bool pays_off(const Pattern& pattern, const Match& match)
    {
        size_t worst = 0;
        for (int i = 0; i < match.node_num; ++i)
            worst = std::max(worst, candidates_.find_taker(*match.nodes[i]));
        rewriter_.begin();
        const node* made = rewriter_.add_node(draft_operator(pattern, match));
        const size_t taker = made ? candidates_.find_taker(*made) : candidates_.size();
        rewriter_.take_back();
        return taker < candidates_.size() && taker <= worst;
    }

    void replace(const Pattern& pattern, const Match& match)
    {
        rewriter_.exchange(match.last(), draft_operator(pattern, match));
        for (int i = 0; i + 1 < match.node_num; ++i)
            destroy_ir_node(&graph_, match.nodes[i]);
    }

    // The name and the output are those of the last node, by which devices may know it.
    NodeDraft draft_operator(const Pattern& pattern, const Match& match)
    {
        const node& last = match.last();
        NodeDraft draft = {"",        pattern.op,
                           last.name, last.core->source_index,
                           {},        {get_ir_node_output(&last, 0)->name}};
        if (pattern.approximate) draft.texts = {{"approximate", pattern.approximate}};
        for (int operand = 0; operand < kOperandNum; ++operand) {
            tensor* value = match.operands[operand];
            if (!value) continue;
            if (is_attribute(operand))
                draft.floats.push_back({kOperandNames[operand], read_pattern_number(*value)});
            else
                draft.inputs.push_back(operand == kOperandX ? value : flatten(*value));
        }
        return draft;
    }

    // A list with one axis.
    tensor* flatten(tensor& list)
    {
        if (list.dim_num == 1) return &list;
        return rewriter_.add_constant(String(list.name) + "_list", list.data_type,
                                      {static_cast<int>(list.elem_num)}, list.data);
    }

    graph& graph_;
    const Candidates& candidates_;
    Rewriter rewriter_;
};

}  // namespace

int recognise_before_surveys(graph& graph)
{
    const Candidates* candidates;
    if (graph.run_options->precision != TENGINE_MODE_FP32) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(Candidates::before_surveys(graph, &candidates));
    return candidates->has_undecided() ? TENGINE_OK : Recogniser(graph, *candidates).run();
}

int recognise_operators(graph& graph)
{
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    return Recogniser(graph, *candidates).run();
}

}  // namespace tengine
