// SPDX-License-Identifier: Apache-2.0
// Depthwise Conv in fp16 and bf16 with channels last: blocks of lines are widened to fp32,
// convolved as conv_depthwise_pixels.cc does it, and rounded to 16 bits once. A block with its
// results stays in half of the L2 cache. Limits: loads, as in fp32, and two conversions. Accuracy:
// |error| <= (taps + 2) * eps32 * (sum |weight| |input| + |bias|), before the activation, and half
// a unit of the type of the result.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/depthwise_pixels.h"
#include "device/cpu/kernel/float_rows.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/pixel_conv.h"
#include "device/cpu/parallel.h"

#ifdef TENGINE_HAVE_HIGHWAY
namespace tengine::cpu {
namespace {

struct HalfDepthwise
{
    DepthwisePixels conv;
    int64_t block_lines, blocks;        // of the output; of an image
    int64_t input_floats, line_floats;  // of a block's input, of a line of its output
    bool has_addend;

    int64_t worker_floats() const
    {
        return input_floats + block_lines * line_floats * (has_addend ? 2 : 1);
    }
};

void choose_blocks(HalfDepthwise& problem, int64_t workers)
{
    const DepthwisePixels& conv = problem.conv;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t input_line = x.input * conv.channels();
    problem.line_floats = x.output * conv.channels();
    const int64_t room = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float)) -
                         (lines_for(y, 1) - y.stride) * input_line;
    const int64_t fitting =
        std::max<int64_t>(room / (input_line * y.stride + problem.line_floats), 1);
    problem.block_lines = std::min(fitting, divide_up(y.output, workers));
    problem.blocks = divide_up(y.output, problem.block_lines);
    problem.input_floats =
        std::min<int64_t>(lines_for(y, problem.block_lines), y.input) * input_line;
}

int prepare(KernelContext& context)
{
    HalfDepthwise problem = {};
    DepthwisePixels& conv = problem.conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    plan_depthwise_channels(conv);
    find_inside(conv);
    const int64_t workers = get_thread_pool_size(context.pool);
    problem.has_addend = context.fusion.addend >= 0;
    choose_blocks(problem, workers);
    context.scratch_size = static_cast<uint64_t>(problem.worker_floats() * workers) * sizeof(float);
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    return keep_packed_problem(
        context, problem, &kind, weight, {bias},
        {conv.taps, conv.channels(), conv.lanes, weight->data_type},
        static_cast<uint64_t>(conv.packed_floats()) * sizeof(float),
        [&](void* memory, const void* values) {
            tensor aligned = *weight;
            aligned.data = const_cast<void*>(values);
            pack_depthwise(
                conv, [&](int64_t i) { return read_float(aligned, i); },
                [&](int64_t i) { return bias ? read_float(*bias, i) : 0.0f; },
                static_cast<float*>(memory));
        });
}

// Block `index` of all images.
void run_block(const KernelContext& context, const HalfDepthwise& problem, int64_t index,
               float* scratch)
{
    const FloatRows rows = find_float_rows(context.input(0)->data_type);
    const DepthwisePixels& conv = problem.conv;
    const window_axis& y = conv.axes[1];
    const int64_t image = index / problem.blocks,
                  first = index % problem.blocks * problem.block_lines;
    const int64_t count = std::min<int64_t>(problem.block_lines, y.output - first);
    // The lines of the input that windows of the block have, of which some may be padding.
    const int64_t top = first * y.stride - y.pad_begin;
    const int64_t begin = std::clamp<int64_t>(top, 0, y.input);
    const int64_t end = std::clamp<int64_t>(top + lines_for(y, count), begin, y.input);
    const int64_t line = conv.axes[2].input * conv.channels();

    HalfDepthwise block = problem;
    block.conv.batch = 1;
    block.conv.axes[1].input = static_cast<int>(end - begin);
    block.conv.axes[1].output = static_cast<int>(count);
    block.conv.axes[1].pad_begin = static_cast<int>(begin - top);
    rows.widen(context.input(0)->f16 + (image * y.input + begin) * line, (end - begin) * line,
               scratch);
    float* output = scratch + problem.input_floats;
    float* addend = nullptr;
    const int64_t at = (image * y.output + first) * problem.line_floats;
    const int64_t results = count * problem.line_floats;
    if (problem.has_addend) {
        addend = output + problem.block_lines * problem.line_floats;
        rows.widen(find_addend(context)->f16 + at, results, addend);
    }
    const auto* weights = reinterpret_cast<const float*>(shared_weights<HalfDepthwise>(context));
    convolve_depthwise_lines(block.conv, {scratch, weights, addend, output, &context.fusion}, 0,
                             count);
    rows.narrow(output, results, context.output(0)->f16 + at);
}

int run(KernelContext& context)
{
    const auto& problem = packed_problem<HalfDepthwise>(context);
    parallel_for(context.pool, problem.conv.batch * problem.blocks, 1,
                 [&](int64_t first, int64_t last, int worker) {
                     float* scratch =
                         static_cast<float*>(context.scratch) + problem.worker_floats() * worker;
                     for (int64_t i = first; i < last; ++i)
                         run_block(context, problem, i, scratch);
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    ConvProblem p;
    const tensor& input = *get_ir_node_input(&node, 0);
    return (input.data_type == TENGINE_DT_FP16 || input.data_type == TENGINE_DT_BF16) &&
           input.dim_num == 4 && has_pixel_conv_constants(node) &&
           describe_conv(node, false, &p) == TENGINE_OK && is_depthwise(p);
}

constexpr Kernel rows[] = {{"Conv", "conv.half_depthwise", accepts, run, prepare, -1, take_addend,
                            Layout::kChannelsLast, true, false, true}};

}  // namespace

extern const KernelTable conv_depthwise_half_kernels;
const KernelTable conv_depthwise_half_kernels = make_table<rows>();

}  // namespace tengine::cpu
#else
namespace tengine::cpu {
extern const KernelTable conv_depthwise_half_kernels;
const KernelTable conv_depthwise_half_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#endif  // TENGINE_HAVE_HIGHWAY
