// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention in fp32, by grouped_attention.h.
#include "device/cpu/shared/group_query.h"

#include <algorithm>
#include <cmath>

#include "device/cpu/kernel/attention/grouped_attention.h"
#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

// The first `number` pairs of a head, whose halves lie apart or side by side, turned by their
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

class QuerySource final : public GroupSource
{
  public:
    QuerySource(const KernelContext& context, const GroupQuery& query)
        : context_(context), query_(query), sink_(context.input(GROUP_QUERY_SINK))
    {
        scale = query.scale != 0 ? query.scale : 1 / std::sqrt(static_cast<float>(query.depth));
        softcap = query.softcap;
        tokens = query.tokens;
        total = query.total;
        has_sink = sink_ || query.smooth;
    }

    int64_t first_key(int64_t b, int64_t token) const override
    {
        return query_.first_key(b, token);
    }
    int64_t end_key(int64_t b, int64_t token) const override { return query_.end_key(b, token); }
    void read_query(int64_t b, int64_t head, int64_t token, float* to) const override
    {
        rotate_head({context_, query_, query_.position(b, token)}, query_.depth,
                    context_.input(GROUP_QUERY_QUERY)->f32 + query_.query_at(b, token, head), to);
    }
    const float* key(int64_t b, int64_t key_head, int64_t key) const override
    {
        return context_.output(GROUP_QUERY_PRESENT_KEY)->f32 + query_.present_at(b, key_head, key);
    }
    const float* value(int64_t b, int64_t key_head, int64_t key) const override
    {
        return context_.output(GROUP_QUERY_PRESENT_VALUE)->f32 +
               query_.present_at(b, key_head, key);
    }
    const float* bias(int64_t b, int64_t head, int64_t token, int64_t first, int64_t,
                      float*) const override
    {
        const float* row = bias_row<float>(context_, query_, b, head, token);
        return row ? row + first : nullptr;
    }
    float sink(int64_t head) const override { return sink_ ? sink_->f32[head] : 0; }
    float* result(int64_t b, int64_t head, int64_t token) const override
    {
        return context_.output(GROUP_QUERY_RESULT)->f32 + query_.result_at(b, token, head);
    }

  private:
    const KernelContext& context_;
    const GroupQuery& query_;
    const tensor* sink_;
};

int prepare(KernelContext& context)
{
    const auto& param = context.param<group_query_param>();
    const tensor& query = *context.input(GROUP_QUERY_QUERY);
    const int64_t depth = get_group_query_depth(context.node);
    const GroupBlocks blocks =
        cut_groups({query.dims[0], query.dims[1], param.num_heads, param.kv_num_heads,
                    context.output(GROUP_QUERY_PRESENT_KEY)->dims[2], depth, depth, depth, depth});
    context.scratch_size = count_group_scratch(blocks, context.pool);
    return keep_problem(context, blocks);
}

int run(KernelContext& context)
{
    GroupQuery query;
    TENGINE_RETURN_IF_ERROR(read_group_query(context, &query));
    const auto turn = [&](int64_t position, const float* from, float* to) {
        rotate_head({context, query, position}, query.depth, from, to);
    };
    fill_cache<float>(context, query, true, turn);
    fill_cache<float>(context, query, false, turn);
    attend_groups(kept_problem<GroupBlocks>(context), QuerySource(context, query), context.pool,
                  context.scratch);
    return TENGINE_OK;
}

// The scores are not kept.
bool accepts(const node& node)
{
    return get_ir_node_input(&node, GROUP_QUERY_QUERY)->data_type == TENGINE_DT_FP32 &&
           !get_ir_node_output(&node, GROUP_QUERY_SCORES);
}

constexpr Kernel group_query_rows[] = {
    {.op = "com.microsoft.GroupQueryAttention",
     .name = "group_query_attention.f32.online",
     .accepts = accepts,
     .run = run,
     .prepare = prepare},
};

}  // namespace

extern const KernelTable group_query_kernels;
const KernelTable group_query_kernels = make_table<group_query_rows>();

}  // namespace tengine::cpu
