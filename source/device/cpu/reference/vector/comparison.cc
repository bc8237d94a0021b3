// SPDX-License-Identifier: Apache-2.0
// Reference kernels of comparison and logic (operator/onnx/binary_ops.c).
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/elementwise.h"

namespace tengine::cpu {
namespace {

// Any nonzero byte is true.
struct And
{
    bool operator()(uint8_t a, uint8_t b) const { return a != 0 && b != 0; }
};
struct Or
{
    bool operator()(uint8_t a, uint8_t b) const { return (a | b) != 0; }
};
struct Xor
{
    bool operator()(uint8_t a, uint8_t b) const { return (a != 0) != (b != 0); }
};
struct Equal
{
    template <class T>
    bool operator()(T a, T b) const
    {
        return a == b;
    }
};
// Equal strings of a graph are one pointer, but a graph that a pass tries something with has its
// own copies.
struct SameText
{
    bool operator()(const char* a, const char* b) const { return a == b || std::strcmp(a, b) == 0; }
};
struct Less
{
    template <class T>
    bool operator()(T a, T b) const
    {
        return a < b;
    }
};
struct LessOrEqual
{
    template <class T>
    bool operator()(T a, T b) const
    {
        return a <= b;
    }
};

template <class Function>
int run_logic(KernelContext& context)
{
    combine_broadcast<uint8_t, bool>(context, context.input(0), context.input(1), Function{});
    return TENGINE_OK;
}

// Calls function(input first, input 1 - first): a > b is b < a.
template <class Function, int first>
int run_comparison(KernelContext& context)
{
    return dispatch_type(NumberTypes{}, context.input(0)->data_type, [&](auto type) {
        combine_broadcast<typename decltype(type)::type, bool>(
            context, context.input(first), context.input(1 - first), Function{});
        return TENGINE_OK;
    });
}

struct SameTruth
{
    bool operator()(uint8_t a, uint8_t b) const { return (a != 0) == (b != 0); }
};

int run_equal(KernelContext& context)
{
    if (context.input(0)->data_type == TENGINE_DT_STRING) {
        combine_broadcast<const char*, bool>(context, context.input(0), context.input(1),
                                             SameText{});
        return TENGINE_OK;
    }
    const bool logic = context.input(0)->data_type == TENGINE_DT_BOOL;
    return logic ? run_logic<SameTruth>(context) : run_comparison<Equal, 0>(context);
}

constexpr Kernel comparison_rows[] = {
    {.op = "And", .name = "reference", .run = run_logic<And>, .in_place_input = 0},
    {.op = "Or", .name = "reference", .run = run_logic<Or>, .in_place_input = 0},
    {.op = "Xor", .name = "reference", .run = run_logic<Xor>, .in_place_input = 0},
    {.op = "Equal", .name = "reference", .run = run_equal},
    {.op = "Greater",
     .name = "reference",
     .accepts = accepts_input<NumberTypes>,
     .run = run_comparison<Less, 1>},
    {.op = "GreaterOrEqual",
     .name = "reference",
     .accepts = accepts_input<NumberTypes>,
     .run = run_comparison<LessOrEqual, 1>},
    {.op = "Less",
     .name = "reference",
     .accepts = accepts_input<NumberTypes>,
     .run = run_comparison<Less, 0>},
    {.op = "LessOrEqual",
     .name = "reference",
     .accepts = accepts_input<NumberTypes>,
     .run = run_comparison<LessOrEqual, 0>},
};

}  // namespace

extern const KernelTable comparison_reference;
const KernelTable comparison_reference = make_table<comparison_rows>();

}  // namespace tengine::cpu
