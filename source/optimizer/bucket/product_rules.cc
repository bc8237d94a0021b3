// SPDX-License-Identifier: Apache-2.0
// Rules of products, of attention and of recurrent layers.
#include <cstring>

#include "operator/onnx/attention_param.h"
#include "optimizer/bucket/rules.h"

namespace tengine {
namespace {

// The factors: inputs 0 and 1, or where each is followed by its scale and zero point, 0 and 3.
int find_second_factor(const node& node)
{
    const bool has_scales_between = std::strcmp(get_ir_node_op(&node), "QLinearMatMul") == 0 ||
                                    std::strcmp(get_ir_node_op(&node), "QGemm") == 0;
    return has_scales_between ? 3 : 1;
}

bool require_sum(const Step& step, const Pair& factor, int axis)
{
    if (!factor.differs(axis)) return true;
    refuse_mixing(step, factor, axis);
    return false;
}

// The axes before those of the matrices broadcast.
bool require_batches(const Step& step, const Pair& factor, const Pair& result)
{
    const int shift = result.rank() - factor.rank();
    for (int i = 0; i < factor.rank() - 2; ++i)
        if (factor.differs(i) && (shift < 0 || !factor.is_like(i, result, i + shift))) {
            step.refuse("repeats axis " + to_string(i) + " of " + quoted(factor) +
                        " for the request's shape alone");
            return false;
        }
    return true;
}

// Scales, zero points and other parameters.
bool require_parameters(const Step& step, int second, int addend)
{
    for (int i = 1; i < static_cast<int>(step.inputs.size()); ++i) {
        const Pair* input = step.input(i);
        if (i == second || i == addend || !input || !input->differs()) continue;
        refuse_mixing(step, *input, 0);
        return false;
    }
    return true;
}

bool transposes(const node& node, const char* name)
{
    return get_ir_node_int(&node, name, 0) != 0;
}

}  // namespace

void judge_product(const Step& step)
{
    const int second = find_second_factor(*step.bucket);
    const Pair &a = *step.input(0), &b = *step.input(second);
    const Pair* y = step.output(0);
    if (!y || !require_parameters(step, second, -1)) return;
    if (!require_sum(step, a, a.rank() - 1)) return;
    if (!require_sum(step, b, b.rank() > 1 ? b.rank() - 2 : 0)) return;
    if (a.rank() == 1 || b.rank() == 1) return;  // a vector broadcasts nothing
    if (require_batches(step, a, *y)) require_batches(step, b, *y);
}

void judge_gemm(const Step& step)
{
    const bool is_quantised = std::strcmp(get_ir_node_op(step.bucket), "QGemm") == 0;
    const int second = find_second_factor(*step.bucket), third = is_quantised ? 6 : 2;
    const Pair &a = *step.input(0), &b = *step.input(second);
    const Pair *addend = step.input(third), *y = step.output(0);
    if (!y || !require_parameters(step, second, third)) return;
    if (!require_sum(step, a, transposes(*step.bucket, "transA") ? 0 : 1)) return;
    if (!require_sum(step, b, transposes(*step.bucket, "transB") ? 1 : 0)) return;
    for (int i = 0; addend && i < addend->rank(); ++i)
        if (addend->differs(i) && !addend->is_like(i, *y, y->rank() - addend->rank() + i))
            return refuse_mixing(step, *addend, i);
}

namespace {

// The mask is one of scores: batch, heads, queries, keys.
void require_mask(const Step& step, const Pair& query, int axis)
{
    const Pair* mask = step.input(ATTENTION_MASK);
    for (int i = 0; mask && i < mask->rank(); ++i) {
        if (!mask->differs(i)) continue;
        const int of_scores = i + 4 - mask->rank();
        const bool is_same = of_scores == 0   ? mask->is_like(i, query, 0)
                             : of_scores == 2 ? mask->is_like(i, query, axis)
                                              : false;
        if (!is_same) return refuse_mixing(step, *mask, i);
    }
}

// Where the number of keys is given, the last query is the one of the last of them; only windows
// depend on that.
bool counts_from_end(const node& node)
{
    return get_ir_node_input(&node, ATTENTION_LENGTHS) &&
           (get_ir_node_int(&node, "is_causal", 0) != 0 ||
            get_ir_node_int(&node, "left_window_size", -1) >= 0 ||
            get_ir_node_int(&node, "right_window_size", -1) >= 0);
}

}  // namespace

// Keys that a mask hides, also a causal one, are read, times 0.
void judge_attention(const Step& step)
{
    const Pair &query = *step.input(ATTENTION_QUERY), &key = *step.input(ATTENTION_KEY);
    const Pair& value = *step.input(ATTENTION_VALUE);
    const int axis = query.rank() - 2;  // of the places: before the elements
    const Pair* parts[] = {&query, &key, &value};
    for (const Pair* part : parts)
        for (int i = 1; i < part->rank(); ++i)
            if (i != axis && part->differs(i)) return refuse_mixing(step, *part, i);
    if (key.differs(axis)) return refuse_mixing(step, key, axis);
    for (int i = ATTENTION_PAST_KEY; i < static_cast<int>(step.inputs.size()); ++i)
        if (step.input(i) && step.input(i)->find_difference(1) >= 0)
            return refuse_mixing(step, *step.input(i), 1);
    if (query.differs(axis) && counts_from_end(*step.bucket))
        return step.refuse("counts from the end of axis " + to_string(axis) + " of " +
                           quoted(query));
    require_mask(step, query, axis);
}

// A layer that runs forward has read nothing else at each place; its last state has read padding.
void judge_recurrence(const Step& step)
{
    const Pair& x = *step.input(0);
    const bool is_batch_first = get_ir_node_int(step.bucket, "layout", 0) != 0;
    const int sequence = is_batch_first ? 1 : 0;
    if (x.differs(2)) return refuse_mixing(step, x, 2);
    if (const Pair* lengths = step.input(4); lengths && lengths->differs())
        return step.refuse("reads lengths in the padding, in " + quoted(*lengths));
    if (!x.differs(sequence)) return;
    if (std::strcmp(get_ir_node_text(step.bucket, "direction", "forward"), "forward") != 0)
        return refuse_mixing(step, x, sequence);
    for (int i = 1; i < static_cast<int>(step.outputs.size()); ++i)
        if (Pair* last = step.output(i))
            last->fault = step.say("returns the state after the last position along axis " +
                                   to_string(sequence) + " of " + quoted(x));
}

}  // namespace tengine
