// SPDX-License-Identifier: Apache-2.0
// The contract is in group_query.h.
#include "device/cpu/shared/group_query.h"

namespace tengine::cpu {
namespace {

int check_total(const KernelContext& context, const GroupQuery& query)
{
    const tensor* bias = context.input(GROUP_QUERY_BIAS);
    const auto total = static_cast<long long>(query.total);
    if (total < query.tokens || total > query.rows)
        return fail_node(
            context.node, TENGINE_ERANGE,
            "total_sequence_length is %lld, expected %lld, which are the query's tokens, "
            "to %lld, for which present_key has room",
            total, static_cast<long long>(query.tokens), static_cast<long long>(query.rows));
    if (bias && bias->dims[3] < total)
        return fail_node(context.node, TENGINE_EINVAL,
                         "attention_bias has %d columns, expected the %lld keys of "
                         "total_sequence_length",
                         bias->dims[3], total);
    return TENGINE_OK;
}

int check_lengths(const KernelContext& context, const GroupQuery& query)
{
    for (int64_t b = 0; b < query.batch; ++b) {
        const int64_t fewest = query.is_prompt ? 1 : query.tokens;
        const int64_t total = query.total_of(b), past = query.past_of(b);
        if (total < fewest || total > query.total)
            return fail_node(context.node, TENGINE_ERANGE,
                             "seqlens_k of batch %lld is %d, expected %lld to %lld",
                             static_cast<long long>(b), query.last_key[b],
                             static_cast<long long>(fewest - 1),
                             static_cast<long long>(query.total - 1));
        if (past > query.past_rows)
            return fail_node(context.node, TENGINE_ERANGE,
                             "seqlens_k of batch %lld is %d: there would be %lld keys before the "
                             "%lld tokens, but past_key has room for %lld",
                             static_cast<long long>(b), query.last_key[b],
                             static_cast<long long>(past), static_cast<long long>(query.tokens),
                             static_cast<long long>(query.past_rows));
    }
    return TENGINE_OK;
}

int check_positions(const KernelContext& context, const GroupQuery& query)
{
    if (query.rotary == 0) return TENGINE_OK;
    const int64_t most = context.input(GROUP_QUERY_COS)->dims[0];
    for (int64_t b = 0; b < query.batch; ++b)
        for (int64_t token = 0; token < query.tokens; ++token) {
            const int64_t position = query.position(b, token);
            if (position < 0 || position >= most)
                return fail_node(context.node, TENGINE_ERANGE,
                                 "token %lld of batch %lld has position %lld, but cos_cache has "
                                 "%lld rows",
                                 static_cast<long long>(token), static_cast<long long>(b),
                                 static_cast<long long>(position), static_cast<long long>(most));
        }
    return TENGINE_OK;
}

}  // namespace

GroupQuery describe_group_query(const KernelContext& context)
{
    const auto& param = context.param<group_query_param>();
    const tensor& tokens = *context.input(GROUP_QUERY_QUERY);
    const tensor* past = context.input(GROUP_QUERY_PAST_KEY);
    const bool is_packed = !context.input(GROUP_QUERY_KEY);
    GroupQuery query = {};
    query.batch = tokens.dims[0];
    query.tokens = tokens.dims[1];
    query.depth = get_group_query_depth(context.node);
    query.heads = param.num_heads;
    query.key_heads = param.kv_num_heads;
    query.past_rows = past ? past->dims[2] : 0;
    query.rows = context.output(GROUP_QUERY_PRESENT_KEY)->dims[2];
    query.rotary = param.do_rotary ? 2 * int64_t{context.input(GROUP_QUERY_COS)->dims[1]} : 0;
    query.query_step = tokens.dims[2];
    query.key_step = is_packed ? query.query_step : query.key_heads * query.depth;
    query.key_offset = query.heads * query.depth;
    query.value_offset = query.key_offset + query.key_heads * query.depth;
    query.scale = param.scale;
    query.softcap = param.softcap;
    query.window = std::max(param.local_window_size, 0);
    query.interleaved = param.rotary_interleaved != 0;
    query.causal = param.causal != 0;
    query.smooth = param.smooth_softmax > 0;
    return query;
}

int read_group_query(const KernelContext& context, GroupQuery* out_query)
{
    GroupQuery query = describe_group_query(context);
    const tensor* positions = context.input(GROUP_QUERY_POSITIONS);
    query.last_key = context.input(GROUP_QUERY_LAST_KEY)->i32;
    query.positions = positions ? positions->i64 : nullptr;
    query.total = context.input(GROUP_QUERY_TOTAL)->i32[0];
    query.is_prompt = query.total == query.tokens;
    TENGINE_RETURN_IF_ERROR(check_total(context, query));
    TENGINE_RETURN_IF_ERROR(check_lengths(context, query));
    TENGINE_RETURN_IF_ERROR(check_positions(context, query));
    *out_query = query;
    return TENGINE_OK;
}

}  // namespace tengine::cpu
