// SPDX-License-Identifier: Apache-2.0
// Depthwise Conv and QLinearConv in NHWC with constant weights: as many output as input channels,
// each with its own filter. The work is cut into bands of lines and blocks of channels; an element
// format (depthwise.h) has the arithmetic and states its accuracy. Limits: loads (3 to 5 for 4
// multiply-adds), the bandwidth of the L2 cache; requantisation.
#include "device/cpu/kernel/conv/depthwise.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"

namespace tengine::cpu {
namespace {

template <class Conv>
bool accepts(const node& node)
{
    ConvProblem p;
    return describe_conv(node, false, &p, Conv::kWeight) == TENGINE_OK && p.input_channels == 1 &&
           p.output_channels == 1 && p.groups > 1 && p.input_plane > 0 && p.output_plane > 0 &&
           p.batch > 0 && Conv::accepts(node, p);
}

template <class Conv>
int prepare(KernelContext& context)
{
    Conv conv = {};
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv, Conv::kWeight));
    conv.data_type = context.input(0)->data_type;
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    conv.plan(context);
    context.scratch_size = static_cast<uint64_t>(conv.worker_bytes) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    static const char kind = 0;
    const DepthwisePack pack = conv.describe_pack(context);
    return keep_packed_problem(
        context, conv, &kind, context.input(Conv::kWeight),
        {pack.others[0], pack.others[1], pack.others[2]}, pack.sizes,
        static_cast<uint64_t>(conv.packed_bytes),
        [&](void* memory, const void* weights) { conv.pack(context, weights, memory); });
}

template <class Conv>
int run(KernelContext& context)
{
    const auto& conv = packed_problem<Conv>(context);
    const tensor* addend = find_addend(context);
    const int table = context.fusion.table;
    const DepthwiseRun operands = {
        context.input(0)->data,          shared_weights<Conv>(context),
        addend ? addend->data : nullptr, table >= 0 ? context.input(table)->u8 : nullptr,
        context.output(0)->data,         &context.fusion};
    parallel_for(context.pool, conv.batch * conv.bands * conv.blocks, grain_for(conv.item_work),
                 [&](int64_t first, int64_t last, int worker) {
                     char* scratch =
                         static_cast<char*>(context.scratch) + worker * conv.worker_bytes;
                     conv.convolve(operands, first, last, scratch);
                 });
    return TENGINE_OK;
}

constexpr Kernel depthwise_pixels_rows[] = {
    {.op = "Conv",
     .name = "conv.fp.depthwise_nhwc",
     .accepts = accepts<FloatDepthwise>,
     .run = run<FloatDepthwise>,
     .prepare = prepare<FloatDepthwise>,
     .find_in_place = take_addend,
     .layout = Layout::kChannelsLast,
     .fuses = true,
     .leads = true},
    {.op = "QLinearConv",
     .name = "conv.s8.depthwise_nhwc",
     .accepts = accepts<Int8Depthwise>,
     .run = run<Int8Depthwise>,
     .prepare = prepare<Int8Depthwise>,
     .layout = Layout::kChannelsLast,
     .leads = true,
     .unaligned_input = 3,
     .takes_steps = kTakesSteps,
     .looks_up = true},
};

}  // namespace

extern const KernelTable depthwise_pixels_kernels;
const KernelTable depthwise_pixels_kernels = make_table<depthwise_pixels_rows>();

}  // namespace tengine::cpu
