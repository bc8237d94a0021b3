// SPDX-License-Identifier: Apache-2.0
// Depthwise QLinearConv with channels last and constant weights, scales and zero points: as many
// output as input channels, each with a filter of its own (byte_depthwise.h). The sums are exact,
// so the bits are those of the reference.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/byte_depthwise.h"
#include "device/cpu/kernel/product/byte_pixels.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"

namespace tengine::cpu {
namespace {

bool is_signed(const tensor* tensor)
{
    return tensor->data_type == TENGINE_DT_INT8;
}

// The format that other int8 convolutions would choose, for operands that can be multiplied.
bool find_format(const node& node, const ConvProblem& conv, ByteFormat* out_format)
{
    constexpr int64_t kLongEnough = 8;  // for all formats
    return find_byte_format(find_byte_operands(node, 6, 8), conv.taps, kLongEnough, out_format);
}

// Lines of the output whose windows are in the rows of a column's bundles.
int64_t count_band_lines(const ByteDepthwise& conv)
{
    const window_axis& y = conv.axes[1];
    if (y.dilation > 1) return 1;
    const int64_t lines = (conv.bundles * conv.bundle_rows - y.kernel) / y.stride + 1;
    return std::min<int64_t>(lines, y.output);
}

// As many as have a copy of half the L1 cache, and as equal as may be.
int64_t count_segment_pixels(const ByteDepthwise& conv)
{
    constexpr int64_t kLeast = 4;
    const window_axis& x = conv.axes[2];
    const int64_t room = static_cast<int64_t>(get_cpu_cache_size().l1d / 2);
    const int64_t width = conv.block(0).width;
    const int64_t columns = room / conv.column_bytes(width) - conv.columns(1);
    const int64_t most = std::max<int64_t>(columns / x.stride + 1, kLeast);
    const int64_t output = x.output;
    return divide_up(output, divide_up(output, most));
}

// Sets the members after output_step.
void plan(const node& node, ByteDepthwise& conv)
{
    const window_axis& y = conv.axes[1];
    ByteFormat format;
    find_format(node, conv, &format);  // there is one, as accepts() has seen
    describe_byte_depthwise(format.element_size == 1, &conv);
    conv.bundles = divide_up(y.kernel, conv.bundle_rows);
    conv.band_lines = count_band_lines(conv);
    conv.bands = divide_up(y.output, conv.band_lines);
    conv.segment_pixels = count_segment_pixels(conv);
}

// Packs a channel, in the lane that it has.
class ChannelPacker
{
  public:
    ChannelPacker(const ByteDepthwise& conv, const node& node, const void* weights)
        : conv_(conv), node_(node), weights_(static_cast<const uint8_t*>(weights))
    {
    }

    void pack(const PackedBlock& block, int64_t lane, int64_t channel) const
    {
        const tensor* bias = input(8);
        const ir_multiplier_t multiplier =
            find_byte_multiplier(find_byte_operands(node_, 6, 8), channel);
        block.multipliers()[lane] = multiplier;
        block.scales()[lane] = round_multiplier(multiplier);
        const uint32_t zero = conv_.input_zero_byte ^ (conv_.flips ? 0x80u : 0u);
        const uint32_t total = pack_weights(block, lane, channel);
        const int32_t start = bias ? bias->i32[slice_index(bias, channel)] : 0;
        block.starts()[lane] = static_cast<int32_t>(static_cast<uint32_t>(start) - zero * total);
    }

  private:
    const tensor* input(int index) const { return get_ir_node_input(&node_, index); }

    // Their sum, modulo 2^32.
    uint32_t pack_weights(const PackedBlock& block, int64_t lane, int64_t channel) const
    {
        const window_axis &y = conv_.axes[1], &x = conv_.axes[2];
        const tensor* zero_points = input(5);
        const int zero = read_zero_point(zero_points, slice_index(zero_points, channel));
        uint32_t total = 0;
        for (int64_t row = 0; row < y.kernel; ++row) {
            for (int64_t column = 0; column < x.kernel; ++column) {
                const uint8_t byte = weights_[channel * conv_.taps + row * x.kernel + column];
                const int weight = (is_signed(input(3)) ? static_cast<int8_t>(byte) : byte) - zero;
                total += static_cast<uint32_t>(weight);
                for (int64_t line = 0; line < conv_.band_lines; ++line)
                    put(block, lane, line, line * y.stride + row, column, weight);
            }
        }
        return total;
    }

    // `row` of the band's.
    void put(const PackedBlock& block, int64_t lane, int64_t line, int64_t row, int64_t column,
             int weight) const
    {
        const int64_t size = 4 / conv_.bundle_rows;
        const int64_t at =
            line * conv_.window_bundles() + column * conv_.bundles + row / conv_.bundle_rows;
        char* to = block.weights() + (at * block.width + lane) * 4 + row % conv_.bundle_rows * size;
        const auto narrow = static_cast<int8_t>(weight);
        const auto wide = static_cast<int16_t>(weight);
        std::memcpy(to, size == 1 ? static_cast<const void*>(&narrow) : &wide,
                    static_cast<size_t>(size));
    }

    const ByteDepthwise& conv_;
    const node& node_;
    const uint8_t* weights_;
};

void pack(const ByteDepthwise& conv, const ChannelPacker& packer, void* memory)
{
    std::memset(memory, 0, static_cast<size_t>(conv.packed_bytes()));
    for (int64_t i = 0; i < conv.blocks(); ++i) {
        const ChannelBlock block = conv.block(i);
        const PackedBlock packed = find_packed_block(conv, static_cast<char*>(memory), block);
        const int64_t present = std::min(block.width, conv.channels() - block.first);
        for (int64_t channel = 0; channel < present; ++channel)
            packer.pack(packed, PackedBlock::lane_of(channel, block.width), block.first + channel);
    }
}

int prepare(KernelContext& context)
{
    const node& node = *context.node;
    ByteDepthwise conv = {};
    TENGINE_RETURN_IF_ERROR(describe_conv(node, false, &conv, 3));
    plan(node, conv);
    conv.range =
        find_byte_range(context.output(0)->data_type, read_zero_point(context.input(7), 0));
    conv.input_zero_byte = static_cast<uint8_t>(read_zero_point(context.input(2), 0));
    conv.flips = is_signed(context.input(0));
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    context.scratch_size = static_cast<uint64_t>(conv.copy_bytes()) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    static const char kind = 0;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t layout = conv.most_width << 16 | conv.bundle_rows << 12 | conv.band_lines << 8;
    return keep_packed_problem(
        context, conv, &kind, context.input(3),
        {context.input(5), context.input(4), context.input(8)},
        {conv.channels(), int64_t{y.kernel} << 32 | x.kernel,
         join_bits(*context.input(1)->f32, *context.input(6)->f32),
         layout << 16 | int64_t{y.stride} << 16 | int64_t{conv.flips} << 8 | conv.input_zero_byte},
        static_cast<uint64_t>(conv.packed_bytes()), [&](void* memory, const void* values) {
            pack(conv, ChannelPacker(conv, node, values), memory);
        });
}

int run_depthwise(KernelContext& context)
{
    const auto& conv = packed_problem<ByteDepthwise>(context);
    const char* packed = shared_weights<ByteDepthwise>(context);
    const int64_t items = conv.batch * conv.bands * conv.blocks();
    const int table = context.fusion.table;
    const ByteDepthwiseRun run = {context.input(0)->u8, packed,
                                  table >= 0 ? context.input(table)->u8 : nullptr,
                                  context.output(0)->u8};
    // A vector does at least eight operations at once.
    const int64_t work =
        conv.axes[2].output * conv.taps * conv.band_lines * conv.block(0).width / 8;
    parallel_for(context.pool, items, grain_for(work),
                 [&](int64_t first, int64_t last, int worker) {
                     char* copy = static_cast<char*>(context.scratch) + worker * conv.copy_bytes();
                     convolve_byte_depthwise(conv, run, first, last, copy);
                 });
    return TENGINE_OK;
}

bool has_vectors()
{
    ByteDepthwise conv = {};
    describe_byte_depthwise(false, &conv);
    return conv.most_width > 0;
}

bool accepts(const node& node)
{
    ConvProblem p;
    ByteFormat format;
    return get_ir_node_input(&node, 0)->dim_num == 4 && has_byte_constants(node, 6) &&
           get_ir_node_input(&node, 3)->tensor_type == TENSOR_TYPE_CONST &&
           describe_conv(node, false, &p, 3) == TENGINE_OK && p.input_channels == 1 &&
           p.output_channels == 1 && p.groups > 1 && p.input_plane > 0 && p.output_plane > 0 &&
           p.batch > 0 && is_compact(p.axes[1]) && is_compact(p.axes[2]) && has_vectors() &&
           find_format(node, p, &format);
}

constexpr Kernel qlinear_depthwise_pixels_rows[] = {
    {.op = "QLinearConv",
     .name = "conv.s8.depthwise_nhwc",
     .accepts = accepts,
     .run = run_depthwise,
     .prepare = prepare,
     .layout = Layout::kChannelsLast,
     .leads = true,
     .unaligned_input = 3,
     .takes_steps = kTakesSteps,
     .looks_up = true},
};

}  // namespace

extern const KernelTable qlinear_depthwise_pixels_kernels;
const KernelTable qlinear_depthwise_pixels_kernels = make_table<qlinear_depthwise_pixels_rows>();

}  // namespace tengine::cpu
