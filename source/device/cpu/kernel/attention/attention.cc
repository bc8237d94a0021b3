// SPDX-License-Identifier: Apache-2.0
// Attention in fp32, by grouped_attention.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/kernel/attention/grouped_attention.h"
#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/attention_problem.h"

namespace tengine::cpu {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Keys and values of a node with a past are those of the present.
class AttentionSource final : public GroupSource
{
  public:
    AttentionSource(const KernelContext& context, const AttentionProblem& problem)
        : context_(context),
          problem_(problem),
          mask_(context.input(ATTENTION_MASK)),
          keys_(context, problem, true),
          values_(context, problem, false)
    {
        scale =
            problem.scale != 0 ? problem.scale : 1 / std::sqrt(static_cast<float>(problem.depth));
        softcap = problem.softcap;
        tokens = problem.tokens;
        total = problem.keys();
        keeps_masked = true;
    }

    int64_t first_key(int64_t b, int64_t token) const override
    {
        return problem_.first_key(b, token);
    }
    int64_t end_key(int64_t b, int64_t token) const override { return problem_.end_key(b, token); }
    void read_query(int64_t b, int64_t head, int64_t token, float* to) const override
    {
        const float* from = context_.input(ATTENTION_QUERY)->f32;
        std::copy_n(from + problem_.query_row(b, head, token) * problem_.depth, problem_.depth, to);
    }
    const float* key(int64_t b, int64_t key_head, int64_t key) const override
    {
        return row(ATTENTION_PRESENT_KEY, keys_, problem_.depth, b, key_head, key);
    }
    const float* value(int64_t b, int64_t key_head, int64_t key) const override
    {
        return row(ATTENTION_PRESENT_VALUE, values_, problem_.width, b, key_head, key);
    }
    const float* bias(int64_t b, int64_t head, int64_t token, int64_t first, int64_t count,
                      float* memory) const override
    {
        if (!mask_) return nullptr;
        const MaskRows rows(*mask_);
        const int64_t place = rows.at(b, head, token) + first;
        const int64_t there = std::clamp<int64_t>(rows.columns() - first, 0, count);
        const bool is_float = mask_->data_type == TENGINE_DT_FP32;
        if (is_float && there == count) return mask_->f32 + place;
        for (int64_t i = 0; i < there; ++i)
            memory[i] = is_float ? mask_->f32[place + i] : mask_->u8[place + i] != 0 ? 0 : kLowest;
        std::fill(memory + there, memory + count, kLowest);
        return memory;
    }
    float sink(int64_t) const override { return kLowest; }
    float* result(int64_t b, int64_t head, int64_t token) const override
    {
        return context_.output(ATTENTION_RESULT)->f32 +
               problem_.query_row(b, head, token) * problem_.width;
    }

  private:
    const float* row(int present, const AttentionRows& rows, int64_t size, int64_t b,
                     int64_t key_head, int64_t key) const
    {
        if (problem_.past == 0) return reinterpret_cast<const float*>(rows.at(b, key_head, key));
        return context_.output(present)->f32 +
               ((b * problem_.key_heads + key_head) * problem_.keys() + key) * size;
    }

    const KernelContext& context_;
    const AttentionProblem& problem_;
    const tensor* mask_;
    const AttentionRows keys_, values_;
};

int prepare(KernelContext& context)
{
    attention_form form;
    TENGINE_RETURN_IF_ERROR(read_attention(context.node, &form));
    // From a key to the next, in heads.
    const int64_t step = form.tokens_first && form.past == 0 ? form.key_heads : 1;
    const GroupBlocks blocks =
        cut_groups({form.batch, form.tokens, form.heads, form.key_heads, form.past + form.fresh,
                    form.depth, form.width, step * form.depth, step * form.width});
    context.scratch_size = count_group_scratch(blocks, context.pool);
    return keep_problem(context, blocks);
}

int run(KernelContext& context)
{
    AttentionProblem problem;
    TENGINE_RETURN_IF_ERROR(read_attention_problem(context, &problem));
    fill_attention_present(context, problem);
    if (context.output(ATTENTION_RESULT)->elem_num == 0) return TENGINE_OK;
    attend_groups(kept_problem<GroupBlocks>(context), AttentionSource(context, problem),
                  context.pool, context.scratch);
    return TENGINE_OK;
}

// The scores are not kept; present keys and values must be where there is a past.
bool accepts(const node& node)
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

constexpr Kernel attention_rows[] = {
    {.op = "Attention",
     .name = "attention.f32.online",
     .accepts = accepts,
     .run = run,
     .prepare = prepare},
};

}  // namespace

extern const KernelTable attention_kernels;
const KernelTable attention_kernels = make_table<attention_rows>();

}  // namespace tengine::cpu
