// SPDX-License-Identifier: Apache-2.0
// Attention and GroupQueryAttention in fp32, and in fp32, fp16 and bf16 a step in place of nodes
// that exporters write: the layout of a node's operands, and the keys that its tokens see.
// attention_impl.cc computes them. Limits: multiply-adds; the exponential; with few queries the
// bandwidth for keys and values.
#include "device/cpu/kernel/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/attention_problem.h"
#include "device/cpu/shared/group_query.h"

namespace tengine::cpu {
namespace {

int keep_attention(KernelContext& context, const Attention& attention, int data_type)
{
    const int workers = get_thread_pool_size(context.pool);
    const AttentionBlocks blocks = cut_attention(attention, data_type, workers);
    context.scratch_size = count_attention_scratch(blocks, workers);
    return keep_problem(context, blocks);
}

void run_kept(const KernelContext& context, const AttentionRun& run)
{
    attend(kept_problem<AttentionBlocks>(context), run, context.pool, context.scratch);
}

// Returns the scale of scores; 0 means 1 / sqrt(depth).
float scale_of(float scale, int64_t depth)
{
    return scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(depth));
}

// ---- the step ----

int prepare_fused(KernelContext& context)
{
    return keep_attention(context, *context.attention, context.input(0)->data_type);
}

int run_fused(KernelContext& context)
{
    const Attention& attention = *context.attention;
    run_kept(context, {.query = context.input(0)->data,
                       .key = context.input(1)->data,
                       .value = context.input(2)->data,
                       .mask = attention.has_mask ? context.input(3)->data : nullptr,
                       .result = context.output(0)->data,
                       .keys = attention.keys});
    return TENGINE_OK;
}

constexpr Kernel kFused = {"", "attention.fp.fused", nullptr, run_fused, prepare_fused};

// ---- Attention ----

// Describes `rows` rows of `size` elements for each head.
HeadMatrices lay_heads(bool rows_first, int64_t heads, int64_t rows, int64_t size)
{
    const int64_t batch_step = heads * rows * size;
    if (rows_first) return {0, batch_step, size, heads * size, 1};
    return {0, batch_step, rows * size, size, 1};
}

// Describes the operands. A node with a past reads keys and values from its outputs present_key and
// present_value.
Attention describe_attention(const KernelContext& context, const attention_form& form)
{
    const auto& param = context.param<attention_param>();
    const int64_t keys = form.past + form.fresh;
    const bool keys_first = form.tokens_first && form.past == 0;
    Attention attention = {};
    attention.batch = form.batch;
    attention.heads = form.heads;
    attention.group = form.heads / form.key_heads;
    attention.queries = form.tokens;
    attention.keys = keys;
    attention.depth = form.depth;
    attention.width = form.width;
    attention.query = lay_heads(form.tokens_first, form.heads, form.tokens, form.depth);
    attention.key = lay_heads(keys_first, form.key_heads, keys, form.depth);
    attention.value = lay_heads(keys_first, form.key_heads, keys, form.width);
    attention.result = lay_heads(form.tokens_first, form.heads, form.tokens, form.width);
    attention.scale = scale_of(param.scale, form.depth);
    attention.softcap = param.softcap;
    attention.keeps_masked = true;
    attention.has_fixed_blocks = true;
    if (const tensor* mask = context.input(ATTENTION_MASK)) {
        const MaskRows rows(*mask);
        attention.has_mask = true;
        attention.has_bools = mask->data_type == TENGINE_DT_BOOL;
        attention.mask = {0, rows.at(1, 0, 0), rows.at(0, 1, 0), rows.at(0, 0, 1), 1};
    }
    return attention;
}

class SeenTokens final : public AttentionQueries
{
  public:
    SeenTokens(const AttentionProblem& problem, const tensor* mask)
        : problem_(problem), most_(mask ? MaskRows(*mask).columns() : problem.keys())
    {
    }
    KeyRange find_seen(int64_t b, int64_t query) const override
    {
        return {problem_.first_key(b, query), std::min(problem_.end_key(b, query), most_)};
    }
    void read(int64_t, int64_t, const float* from, float* to) const override
    {
        std::copy_n(from, problem_.depth, to);
    }

  private:
    const AttentionProblem& problem_;
    const int64_t most_;  // number of keys that the mask covers
};

int prepare_attention(KernelContext& context)
{
    attention_form form;
    TENGINE_RETURN_IF_ERROR(read_attention(context.node, &form));
    return keep_attention(context, describe_attention(context, form), TENGINE_DT_FP32);
}

int run_attention(KernelContext& context)
{
    AttentionProblem problem;
    TENGINE_RETURN_IF_ERROR(read_attention_problem(context, &problem));
    fill_attention_present(context, problem);
    if (context.output(ATTENTION_RESULT)->elem_num == 0) return TENGINE_OK;
    const bool has_past = problem.past > 0;
    const tensor* mask = context.input(ATTENTION_MASK);
    const SeenTokens tokens(problem, mask);
    const auto rows_of = [&](int present, int fresh) {
        return has_past ? context.output(present)->data : context.input(fresh)->data;
    };
    run_kept(context, {.query = context.input(ATTENTION_QUERY)->data,
                       .key = rows_of(ATTENTION_PRESENT_KEY, ATTENTION_KEY),
                       .value = rows_of(ATTENTION_PRESENT_VALUE, ATTENTION_VALUE),
                       .mask = mask ? mask->data : nullptr,
                       .result = context.output(ATTENTION_RESULT)->data,
                       .queries = &tokens,
                       .keys = problem.keys()});
    return TENGINE_OK;
}

// The output of scores is not supported; a past requires outputs for the present keys and values.
bool accepts_attention(const node& node)
{
    const auto is_fp32 = [&](int index) {
        return get_ir_node_input(&node, index)->data_type == TENGINE_DT_FP32;
    };
    const tensor* mask = get_ir_node_input(&node, ATTENTION_MASK);
    const bool has_present = get_ir_node_output(&node, ATTENTION_PRESENT_KEY) &&
                             get_ir_node_output(&node, ATTENTION_PRESENT_VALUE);
    return get_ir_node_input(&node, ATTENTION_QUERY)->elem_num > 0 && is_fp32(ATTENTION_QUERY) &&
           is_fp32(ATTENTION_VALUE) &&
           (!mask || mask->data_type == TENGINE_DT_FP32 || mask->data_type == TENGINE_DT_BOOL) &&
           (has_present || !get_ir_node_input(&node, ATTENTION_PAST_KEY)) &&
           !get_ir_node_output(&node, ATTENTION_SCORES);
}

// ---- GroupQueryAttention ----

// Rotates the first `number` pairs of a head, separate halves or interleaved pairs, by their
// angles; the elements after them are copied.
void rotate_head(const RotaryPairs<float>& pairs, int64_t depth, const float* from, float* to)
{
    for (int64_t i = 0; i < pairs.number; ++i) {
        const int64_t left = i * pairs.step, right = left + pairs.apart;
        const float cosine = pairs.cosines[i], sine = pairs.sines[i], x = from[left],
                    y = from[right];
        to[left] = cosine * x - sine * y;
        to[right] = cosine * y + sine * x;
    }
    std::copy(from + 2 * pairs.number, from + depth, to + 2 * pairs.number);
}

class RotatedTokens final : public AttentionQueries
{
  public:
    RotatedTokens(const KernelContext& context, const GroupQuery& query)
        : context_(context), query_(query)
    {
    }
    KeyRange find_seen(int64_t b, int64_t token) const override
    {
        return {query_.first_key(b, token), query_.end_key(b, token)};
    }
    void read(int64_t b, int64_t token, const float* from, float* to) const override
    {
        rotate_head({context_, query_, query_.position(b, token)}, query_.depth, from, to);
    }

  private:
    const KernelContext& context_;
    const GroupQuery& query_;
};

// Describes the operands. Keys and values are read from the present outputs.
Attention describe_groups(const KernelContext& context)
{
    const GroupQuery query = describe_group_query(context);
    const tensor* bias = context.input(GROUP_QUERY_BIAS);
    Attention attention = {};
    attention.batch = query.batch;
    attention.heads = query.heads;
    attention.group = query.heads / query.key_heads;
    attention.queries = query.tokens;
    attention.keys = query.rows;
    attention.depth = attention.width = query.depth;
    attention.query = {0, query.query_at(1, 0, 0), query.query_at(0, 0, 1), query.query_at(0, 1, 0),
                       1};
    attention.key = lay_heads(false, query.key_heads, query.rows, query.depth);
    attention.value = attention.key;
    attention.result = lay_heads(true, query.heads, query.tokens, query.depth);
    attention.scale = scale_of(query.scale, query.depth);
    attention.softcap = query.softcap;
    attention.has_sink = context.input(GROUP_QUERY_SINK) || query.smooth;
    attention.has_fixed_blocks = true;
    if (bias) {
        const int64_t columns = bias->dims[3], head = query.tokens * columns;
        attention.has_mask = true;
        attention.mask = {0, bias->dims[0] > 1 ? bias->dims[1] * head : 0,
                          bias->dims[1] > 1 ? head : 0, columns, 1};
    }
    return attention;
}

int prepare_group_query(KernelContext& context)
{
    return keep_attention(context, describe_groups(context), TENGINE_DT_FP32);
}

int run_group_query(KernelContext& context)
{
    GroupQuery query;
    TENGINE_RETURN_IF_ERROR(read_group_query(context, &query));
    const auto turn = [&](int64_t position, const float* from, float* to) {
        rotate_head({context, query, position}, query.depth, from, to);
    };
    fill_cache<float>(context, query, true, turn);
    fill_cache<float>(context, query, false, turn);
    const RotatedTokens tokens(context, query);
    const tensor* bias = context.input(GROUP_QUERY_BIAS);
    const tensor* sink = context.input(GROUP_QUERY_SINK);
    run_kept(context, {.query = context.input(GROUP_QUERY_QUERY)->data,
                       .key = context.output(GROUP_QUERY_PRESENT_KEY)->data,
                       .value = context.output(GROUP_QUERY_PRESENT_VALUE)->data,
                       .mask = bias ? bias->data : nullptr,
                       .result = context.output(GROUP_QUERY_RESULT)->data,
                       .queries = &tokens,
                       .sinks = sink ? sink->f32 : nullptr,
                       .keys = query.total});
    return TENGINE_OK;
}

// The output of scores is not supported.
bool accepts_group_query(const node& node)
{
    return get_ir_node_input(&node, GROUP_QUERY_QUERY)->data_type == TENGINE_DT_FP32 &&
           !get_ir_node_output(&node, GROUP_QUERY_SCORES);
}

constexpr Kernel attention_rows[] = {
    {.op = "Attention",
     .name = "attention.f32.online",
     .accepts = accepts_attention,
     .run = run_attention,
     .prepare = prepare_attention},
    {.op = "com.microsoft.GroupQueryAttention",
     .name = "group_query_attention.f32.online",
     .accepts = accepts_group_query,
     .run = run_group_query,
     .prepare = prepare_group_query},
};

}  // namespace

const Kernel* find_fused_attention()
{
    return is_selected("MatMul") && is_selected("Softmax") ? &kFused : nullptr;
}

extern const KernelTable attention_kernels;
const KernelTable attention_kernels = make_table<attention_rows>();

}  // namespace tengine::cpu
