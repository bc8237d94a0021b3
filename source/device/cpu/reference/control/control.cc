// SPDX-License-Identifier: Apache-2.0
// If and Loop: they run their bodies, which are prepared like graphs of their own, and copy inputs
// and outputs. Scan is in scan.cc.
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/control/body_run.h"
#include "device/cpu/reference/vector/small_elements.h"

namespace tengine::cpu {
namespace {

bool is_true(const tensor& condition)
{
    return condition.elem_num > 0 && *condition.u8 != 0;
}

// ---- If ----

int run_if(KernelContext& context)
{
    const tensor& condition = *context.input(0);
    if (condition.elem_num != 1)
        return fail_node(context.node, TENGINE_EINVAL,
                         "the condition has %lld elements, expected 1",
                         static_cast<long long>(condition.elem_num));
    ir_body_t& branch = body_of(context, is_true(condition) ? 0 : 1);
    TENGINE_RETURN_IF_ERROR(feed_captured(context, branch));
    TENGINE_RETURN_IF_ERROR(run_body(context, branch));
    for (int i = 0; i < context.output_num(); ++i)
        TENGINE_RETURN_IF_ERROR(
            copy_result(context, *get_ir_body_output(&branch, i), context.output(i)));
    return TENGINE_OK;
}

tensor make_scalar(int data_type, void* data)
{
    tensor scalar = {};
    scalar.data_type = static_cast<uint8_t>(data_type);
    scalar.shape_set = 1;
    scalar.elem_num = 1;
    scalar.data = data;
    return scalar;
}

// ---- Loop ----

class Loop
{
  public:
    explicit Loop(KernelContext& context)
        : context_(context),
          body_(body_of(context, 0)),
          rounds_(*static_cast<Rounds*>(context.state)),
          carried_num_(own_input_num(body_) - 2),
          gathered_num_(context.output_num() - carried_num_)
    {
        for (auto& set : rounds_.values)
            set.resize(static_cast<size_t>(carried_num_));
        rounds_.gathered.resize(static_cast<size_t>(gathered_num_));
    }

    int run()
    {
        TENGINE_RETURN_IF_ERROR(feed_captured(context_, body_));
        const tensor* most = context_.input(0);
        const tensor* condition = context_.input(1);
        if (most && most->elem_num != 1)
            return fail_node(context_.node, TENGINE_EINVAL,
                             "the number of rounds has %lld elements, expected 1",
                             static_cast<long long>(most->elem_num));
        bool goes_on = !condition || is_true(*condition);
        const RoundLimit limit(context_);
        for (; goes_on && (!most || round_ < *most->i64); ++round_) {
            TENGINE_RETURN_IF_ERROR(limit.check());
            TENGINE_RETURN_IF_ERROR(run_round());
            if (condition) goes_on = is_true(*get_ir_body_output(&body_, 0));
            TENGINE_RETURN_IF_ERROR(take_results());
        }
        return finish();
    }

  private:
    const tensor& carried(int index) const
    {
        return round_ == 0 ? *context_.input(index + 2)
                           : rounds_.values[round_ % 2][static_cast<size_t>(index)].value;
    }

    int run_round()
    {
        const tensor number = make_scalar(TENGINE_DT_INT64, &round_);
        const tensor condition = make_scalar(TENGINE_DT_BOOL, &is_on_);
        TENGINE_RETURN_IF_ERROR(feed_ir_body(&body_, 0, &number, &round_));
        TENGINE_RETURN_IF_ERROR(feed_ir_body(&body_, 1, &condition, &is_on_));
        for (int i = 0; i < carried_num_; ++i)
            TENGINE_RETURN_IF_ERROR(feed_ir_body(&body_, i + 2, &carried(i), carried(i).data));
        return run_body(context_, body_);
    }

    int take_results()
    {
        for (int i = 0; i < carried_num_; ++i)
            TENGINE_RETURN_IF_ERROR(rounds_.values[(round_ + 1) % 2][static_cast<size_t>(i)].take(
                context_, *get_ir_body_output(&body_, i + 1)));
        for (int i = 0; i < gathered_num_; ++i)
            TENGINE_RETURN_IF_ERROR(gather(i, *get_ir_body_output(&body_, carried_num_ + i + 1)));
        return TENGINE_OK;
    }

    // Returns the number of rounds for which memory is allocated at first.
    size_t expect_rounds() const
    {
        constexpr int64_t kMostExpected = 1024;
        const tensor* most = context_.input(0);
        return static_cast<size_t>(most ? std::min(*most->i64, kMostExpected) : 1);
    }

    int gather(int index, const tensor& element)
    {
        Kept& kept = rounds_.gathered[static_cast<size_t>(index)];
        const bool packed = is_packed(&element);
        const size_t bytes =
            packed ? static_cast<size_t>(element.elem_num) : get_ir_tensor_bytes(&element);
        if (round_ == 0) kept.value = element;
        if (kept.value.dim_num != element.dim_num ||
            !std::equal(element.dims, element.dims + element.dim_num, kept.value.dims))
            return fail_node(context_.node, TENGINE_EINVAL,
                             "output %d of the body has another shape in round %lld",
                             carried_num_ + index + 1, static_cast<long long>(round_));
        if (round_ == 0)
            TENGINE_RETURN_IF_ERROR(kept.reserve(context_, bytes * expect_rounds(), false));
        const auto offset = bytes * static_cast<size_t>(round_);
        TENGINE_RETURN_IF_ERROR(kept.reserve(context_, offset + bytes, true));
        uint8_t* place = static_cast<uint8_t*>(kept.memory.get()) + offset;
        if (packed)
            unpack_bits(element.data, 0, element.elem_num, get_data_type_bits(element.data_type),
                        place);
        else if (bytes > 0)
            std::memcpy(place, element.data, bytes);
        return TENGINE_OK;
    }

    int finish()
    {
        for (int i = 0; i < carried_num_; ++i)
            TENGINE_RETURN_IF_ERROR(copy_result(context_, carried(i), context_.output(i)));
        for (int i = 0; i < gathered_num_; ++i)
            if (tensor* output = context_.output(carried_num_ + i))
                TENGINE_RETURN_IF_ERROR(finish_gathered(i, *output));
        return TENGINE_OK;
    }

    // Without a round only the body's inferred shapes give the shape of the elements.
    int finish_gathered(int index, tensor& output)
    {
        const Kept& kept = rounds_.gathered[static_cast<size_t>(index)];
        const tensor& element =
            round_ > 0 ? kept.value : *get_ir_body_output(&body_, carried_num_ + index + 1);
        if (element.dim_num >= MAX_SHAPE_DIM_NUM)
            return fail_node(context_.node, TENGINE_ERANGE,
                             "output %d would have %d dimensions, expected at most %d",
                             carried_num_ + index, element.dim_num + 1, MAX_SHAPE_DIM_NUM);
        int dims[MAX_SHAPE_DIM_NUM] = {static_cast<int>(round_)};
        for (int i = 0; i < element.dim_num; ++i)
            dims[i + 1] = std::max(0, element.dims[i]);
        TENGINE_RETURN_IF_ERROR(shape_result(context_, output, dims, element.dim_num + 1));
        if (is_packed(&output))
            pack_bits(static_cast<const uint8_t*>(kept.memory.get()), 0, output.elem_num,
                      get_data_type_bits(output.data_type), output.data);
        else if (output.elem_num > 0)
            std::memcpy(output.data, kept.memory.get(), get_ir_tensor_bytes(&output));
        return TENGINE_OK;
    }

    KernelContext& context_;
    ir_body_t& body_;
    Rounds& rounds_;
    const int carried_num_, gathered_num_;
    // The values that the body gets, and may return as results.
    int64_t round_ = 0;
    bool is_on_ = true;
};

int run_loop(KernelContext& context)
{
    return Loop(context).run();
}

constexpr Kernel control_rows[] = {
    {"If", "reference", nullptr, run_if},
    {"Loop", "reference", nullptr, run_loop, prepare_rounds},
};

}  // namespace

extern const KernelTable control_reference;
const KernelTable control_reference = make_table<control_rows>();

}  // namespace tengine::cpu
