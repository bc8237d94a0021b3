// SPDX-License-Identifier: Apache-2.0
// The contract is in attention_problem.h.
#include "device/cpu/shared/attention_problem.h"

namespace tengine::cpu {

int read_attention_problem(const KernelContext& context, AttentionProblem* out_problem)
{
    const auto& param = context.param<attention_param>();
    const tensor* lengths = context.input(ATTENTION_LENGTHS);
    AttentionProblem problem = {};
    TENGINE_RETURN_IF_ERROR(read_attention(context.node, &problem));
    problem.scale = param.scale;
    problem.softcap = param.softcap;
    problem.causal = param.is_causal != 0;
    problem.left = param.left_window_size;
    problem.right = param.right_window_size;
    problem.lengths = lengths ? lengths->i64 : nullptr;
    for (int64_t b = 0; lengths && b < problem.batch; ++b)
        if (problem.lengths[b] < 0 || problem.lengths[b] > problem.fresh)
            return fail_node(context.node, TENGINE_ERANGE,
                             "nonpad_kv_seqlen of batch %lld is %lld, expected 0 to %lld",
                             static_cast<long long>(b), static_cast<long long>(problem.lengths[b]),
                             static_cast<long long>(problem.fresh));
    *out_problem = problem;
    return TENGINE_OK;
}

void fill_attention_present(const KernelContext& context, const AttentionProblem& problem)
{
    for (const bool is_key : {true, false}) {
        tensor* present = context.output(is_key ? ATTENTION_PRESENT_KEY : ATTENTION_PRESENT_VALUE);
        if (present && present->elem_num > 0)
            AttentionRows(context, problem, is_key)
                .copy_to(context.pool, static_cast<char*>(present->data));
    }
}

}  // namespace tengine::cpu
