// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of int8 and uint8: see depthwise.h. The sums are exact, so the results are
// bit-identical to the reference.
//
// A column of the input has a bundle for each channel: the elements of four consecutive rows as 8
// bits each in a lane of 32 bits, or of two rows as 16 bits each. One instruction multiplies a
// vector of bundles by weights and adds the products of each lane to its accumulator. A band is the
// output lines whose windows lie within the rows of a column's bundles. All of them use these
// bundles: the weights of a line, which are 0 outside its window, select its rows.
//
// As in pixels_s8.h the zero point of the input costs nothing: its product with the sum of the
// weights is subtracted from the bias, and the padding has its value. The elements are uint8; int8
// is converted by flipping the sign bit.
//
// The rows of a band and a block of channels are interleaved to bundles, with padding, in a copy
// that stays in the L1 cache; then the band's lines are accumulated, four pixels at once, so that
// each vector of weights is loaded once for all four. After the copy all windows are alike, for any
// padding, stride and dilation.
//
// With AVX-512 and VNNI bundles have four elements of 8 bits, elsewhere pairs of 16 bits, whose
// products are summed in a lane (x86: pmaddwd). Sums are modulo 2^32 until the last product; the
// final ones fit. Limits: the requantisation, seven instructions for each vector of accumulators;
// then the copy, of which four vectors for a column of windows with a stride of 1 serve two lines,
// and the products.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/depthwise.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/product/pixels_s8.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/shared/rounding.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv/depthwise_s8_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/conv/depthwise_s8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void describe(bool, Int8Depthwise*) {}

void convolve_int8(const Int8Depthwise&, const BandPart&) {}

#else

// Computes the lines of a band from its copy.
template <class L, class W>
HWY_NOINLINE void convolve_lines(const Int8Depthwise& conv, const BandPart& part)
{
    const window_axis& x = conv.axes[2];
    const Int8Scaling<L> scaling(conv.range);
    const Int8Table table(part.table);
    const int64_t column_bytes = conv.column_bytes(L::kWidth);
    WindowSteps steps = {};
    steps.runs = x.dilation == 1 ? 1 : x.kernel;
    steps.run_bundles = conv.bundles * (x.dilation == 1 ? x.kernel : 1);
    steps.run_step = x.dilation * column_bytes;
    steps.pixel_step = x.stride * column_bytes;
    const int64_t line_weights = 4 * L::kWidth * conv.window_bundles();
    for (int64_t line = 0; line < part.lines; ++line) {
        const char* weights = part.packed.weights() + line * line_weights;
        uint8_t* output = part.output + line * x.output * conv.output_step;
        for (int64_t i = 0; i < part.pixels;) {
            // The last four pixels may overlap the four before.
            const bool is_few = part.pixels >= kFew;
            const int64_t pixel = is_few ? std::min(i, part.pixels - kFew) : i;
            const char* columns = part.copy + pixel * steps.pixel_step;
            uint8_t* to = output + pixel * conv.output_step;
            if (is_few)
                convolve_pixels<L, W, kFew>(conv, part, scaling, table, steps, columns, weights,
                                            to);
            else
                convolve_pixels<L, W, 1>(conv, part, scaling, table, steps, columns, weights, to);
            i = pixel + (is_few ? kFew : 1);
        }
    }
}

// Loads a vector of a pixel's elements as uint8.
template <class L>
HWY_INLINE typename L::ByteVector load_bytes(const uint8_t* from, int64_t count,
                                             typename L::ByteVector flip)
{
    const typename L::Bytes d;
    if (is_whole<L>(count)) return hn::Xor(hn::LoadU(d, from), flip);
    HWY_ALIGN uint8_t all[L::kWidth] = {};
    std::memcpy(all, from, static_cast<size_t>(count));
    return hn::Xor(hn::Load(d, all), flip);
}

// Writes a bundle of `count` columns. Rows with a step of 0 are one pixel long.
template <class L, class S>
HWY_INLINE void interleave_columns(const Int8Depthwise& conv, int64_t channels,
                                   const uint8_t* const* rows, const int64_t* steps, int64_t count,
                                   uint8_t* to)
{
    const int64_t column_bytes = conv.column_bytes(L::kWidth);
    const auto flip = hn::Set(typename L::Bytes(), static_cast<uint8_t>(conv.flips ? 0x80 : 0));
    for (int64_t i = 0; i < count; ++i, to += column_bytes) {
        typename L::ByteVector bytes[S::kRows];
#pragma GCC unroll 4
        for (int row = 0; row < S::kRows; ++row)
            bytes[row] = load_bytes<L>(rows[row] + i * steps[row], channels, flip);
        S::interleave(bytes, to);
    }
}

// Interleaves the input of a part's windows, with the padding.
template <class L, class S>
HWY_NOINLINE void copy_rows(const Int8Depthwise& conv, const BandPart& part)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    HWY_ALIGN uint8_t pads[L::kWidth];
    std::memset(pads, conv.input_zero_byte, sizeof pads);
    const uint8_t* no_rows[S::kRows];
    constexpr int64_t kNoSteps[S::kRows] = {};
    std::fill_n(no_rows, S::kRows, pads);
    const int64_t column_bytes = conv.column_bytes(L::kWidth);
    const int64_t first = part.pixel * x.stride - x.pad_begin,
                  last = first + conv.columns(part.pixels);
    const int64_t begin = std::clamp<int64_t>(0, first, last);
    const int64_t end = std::clamp<int64_t>(x.input, begin, last);
    // Rows under windows with a stride of 1 are adjacent; with another stride a band has one line.
    const int64_t top = part.line * y.stride - y.pad_begin;
    const int64_t needed = (part.lines - 1) * y.stride + y.kernel;
    for (int64_t bundle = 0; bundle < conv.bundles; ++bundle) {
        const uint8_t* rows[S::kRows];
        int64_t steps[S::kRows];
        for (int i = 0; i < S::kRows; ++i) {
            const int64_t index = bundle * S::kRows + i, row = top + index * y.dilation;
            const bool exists = index < needed && row >= 0 && row < y.input;
            rows[i] = exists ? part.image + (row * x.input + begin) * conv.image_step : pads;
            steps[i] = exists ? conv.image_step : 0;
        }
        auto* to = reinterpret_cast<uint8_t*>(part.copy) + bundle * 4 * L::kWidth;
        interleave_columns<L, S>(conv, part.channels, no_rows, kNoSteps, begin - first, to);
        interleave_columns<L, S>(conv, part.channels, rows, steps, end - begin,
                                 to + (begin - first) * column_bytes);
        interleave_columns<L, S>(conv, part.channels, no_rows, kNoSteps, last - end,
                                 to + (end - first) * column_bytes);
    }
}

template <int kWidth>
HWY_INLINE void convolve_block(const Int8Depthwise& conv, const BandPart& part)
{
    using L = Lanes<kWidth>;
#if HWY_TARGET == HWY_AVX3
    using Quads = QuadSet<L>;
    if (conv.bundle_rows == Quads::kRows) {
        copy_rows<L, Quads>(conv, part);
        const bool is_three = conv.axes[2].dilation == 1 && conv.window_bundles() == 3;
        if (is_three) return convolve_lines<L, Int8Windows<Quads, 3> >(conv, part);
        return convolve_lines<L, Int8Windows<Quads> >(conv, part);
    }
#endif
    copy_rows<L, PairSet<L> >(conv, part);
    convolve_lines<L, Int8Windows<PairSet<L> > >(conv, part);
}

constexpr int64_t kMostWidth = HWY_MAX_BYTES;

void describe(bool has_narrow_weights, Int8Depthwise* conv)
{
    conv->most_width = kMostWidth;
    conv->bundle_rows = 2;
    (void)has_narrow_weights;
#if HWY_TARGET == HWY_AVX3
    constexpr uint64_t kNeeded = CPU_FEATURE_AVX512_VNNI;
    if (has_narrow_weights && (get_cpu_features() & kNeeded)) conv->bundle_rows = 4;
#endif
}

void convolve_int8(const Int8Depthwise& conv, const BandPart& part)
{
#if HWY_MAX_BYTES >= 64
    if (part.packed.width == 64) return convolve_block<64>(conv, part);
#endif
#if HWY_MAX_BYTES >= 32
    if (part.packed.width == 32) return convolve_block<32>(conv, part);
#endif
    convolve_block<16>(conv, part);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(describe);
HWY_EXPORT(convolve_int8);

int64_t count_blocks(const Int8Depthwise& conv)
{
    const int64_t least = kLeastBlockChannels, rest = conv.channels() % conv.most_width;
    int64_t count = conv.channels() / conv.most_width + (rest % least > 0);
    for (int64_t width = conv.most_width / 2; width >= least; width /= 2)
        count += (rest & width) != 0;
    return count;
}

// Returns block `index` of the channels: blocks have the greatest width while there are as many
// channels left, then half of it.
ChannelBlock find_block(const Int8Depthwise& conv, int64_t index)
{
    const int64_t channels = conv.channels(), whole = channels / conv.most_width;
    if (index < whole) return {index * conv.most_width, conv.most_width, index * conv.most_width};
    int64_t first = whole * conv.most_width;
    index -= whole;
    for (int64_t width = conv.most_width / 2; width >= kLeastBlockChannels; width /= 2) {
        if (channels - first < width) continue;
        if (index-- == 0) return {first, width, first};
        first += width;
    }
    return {std::max<int64_t>(channels - kLeastBlockChannels, 0), kLeastBlockChannels, first};
}

// Finds the format that other int8 convolutions would choose; none if the operands cannot be
// multiplied.
bool find_format(const node& node, const ConvProblem& conv, TileFormat* out_format)
{
    constexpr int64_t kLongEnough = 8;  // a depth that suits all formats
    return find_byte_format(find_byte_operands(node, 6, 8), conv.taps, kLongEnough, out_format);
}

// Returns the number of output lines whose windows are in the rows of a column's bundles.
int64_t count_band_lines(const Int8Depthwise& conv)
{
    const window_axis& y = conv.axes[1];
    if (y.dilation > 1) return 1;
    const int64_t lines = (conv.bundles * conv.bundle_rows - y.kernel) / y.stride + 1;
    return std::min<int64_t>(lines, y.output);
}

// Returns as many pixels as have a copy of half the L1 cache, with segments as equal as possible.
int64_t count_segment_pixels(const Int8Depthwise& conv)
{
    constexpr int64_t kLeast = 4;
    const window_axis& x = conv.axes[2];
    const int64_t room = static_cast<int64_t>(get_cpu_cache_size().l1d / 2);
    const int64_t width = find_block(conv, 0).width;
    const int64_t columns = room / conv.column_bytes(width) - conv.columns(1);
    const int64_t most = std::max<int64_t>(columns / x.stride + 1, kLeast);
    const int64_t output = x.output;
    return divide_up(output, divide_up(output, most));
}

// Packs a channel into its lane.
class ChannelPacker
{
  public:
    ChannelPacker(const Int8Depthwise& conv, const node& node, const void* weights)
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

    // Packs the weights and returns their sum, modulo 2^32.
    uint32_t pack_weights(const PackedBlock& block, int64_t lane, int64_t channel) const
    {
        const window_axis &y = conv_.axes[1], &x = conv_.axes[2];
        const tensor* zero_points = input(5);
        const int zero = read_zero_point(zero_points, slice_index(zero_points, channel));
        uint32_t total = 0;
        for (int64_t row = 0; row < y.kernel; ++row) {
            for (int64_t column = 0; column < x.kernel; ++column) {
                const uint8_t byte = weights_[channel * conv_.taps + row * x.kernel + column];
                const int weight =
                    (input(3)->data_type == TENGINE_DT_INT8 ? static_cast<int8_t>(byte) : byte) -
                    zero;
                total += static_cast<uint32_t>(weight);
                for (int64_t line = 0; line < conv_.band_lines; ++line)
                    put(block, lane, line, line * y.stride + row, column, weight);
            }
        }
        return total;
    }

    // Stores one weight; `row` is counted from the band's first.
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

    const Int8Depthwise& conv_;
    const node& node_;
    const uint8_t* weights_;
};

}  // namespace

bool Int8Depthwise::accepts(const node& node, const ConvProblem& problem)
{
    Int8Depthwise conv = {};
    TileFormat format;
    HWY_DYNAMIC_DISPATCH(describe)(false, &conv);
    const bool has_vectors = conv.most_width > 0;
    return has_vectors && get_ir_node_input(&node, 0)->dim_num == 4 &&
           has_byte_constants(node, 6) &&
           get_ir_node_input(&node, kWeight)->tensor_type == TENSOR_TYPE_CONST &&
           is_compact(problem.axes[1]) && is_compact(problem.axes[2]) &&
           find_format(node, problem, &format);
}

void Int8Depthwise::plan(const KernelContext& context)
{
    const window_axis& y = axes[1];
    TileFormat format;
    find_format(*context.node, *this, &format);  // a format exists, as accepts() has checked
    HWY_DYNAMIC_DISPATCH(describe)(format.element_size == 1, this);
    range = find_byte_range(context.output(0)->data_type, read_zero_point(context.input(7), 0),
                            rounding_of(*context.node));
    input_zero_byte = static_cast<uint8_t>(read_zero_point(context.input(2), 0));
    flips = data_type == TENGINE_DT_INT8;
    blocks = count_blocks(*this);
    bundles = divide_up(y.kernel, bundle_rows);
    band_lines = count_band_lines(*this);
    bands = divide_up(y.output, band_lines);
    segment_pixels = count_segment_pixels(*this);
    worker_bytes = columns(segment_pixels) * column_bytes(most_width);
    const ChannelBlock last = find_block(*this, blocks - 1);
    packed_bytes = (last.before + last.width) * channel_bytes();
    // A vector does at least eight operations at once.
    item_work = axes[2].output * taps * band_lines * find_block(*this, 0).width / 8;
}

DepthwisePack Int8Depthwise::describe_pack(const KernelContext& context) const
{
    const window_axis &y = axes[1], &x = axes[2];
    const int64_t layout = most_width << 16 | bundle_rows << 12 | band_lines << 8;
    return {{context.input(5), context.input(4), context.input(8)},
            {channels(), int64_t{y.kernel} << 32 | x.kernel,
             join_bits(*context.input(1)->f32, *context.input(6)->f32),
             int64_t{range.rounding} << 60 | layout << 16 | int64_t{y.stride} << 16 |
                 int64_t{flips} << 8 | input_zero_byte}};
}

void Int8Depthwise::pack(const KernelContext& context, const void* weights, void* packed) const
{
    const ChannelPacker packer(*this, *context.node, weights);
    std::memset(packed, 0, static_cast<size_t>(packed_bytes));
    for (int64_t i = 0; i < blocks; ++i) {
        const ChannelBlock block = find_block(*this, i);
        const PackedBlock to = find_packed_block(*this, static_cast<char*>(packed), block);
        const int64_t present = std::min(block.width, channels() - block.first);
        for (int64_t channel = 0; channel < present; ++channel)
            packer.pack(to, PackedBlock::lane_of(channel, block.width), block.first + channel);
    }
}

void Int8Depthwise::convolve(const DepthwiseRun& run, int64_t first, int64_t last,
                             char* scratch) const
{
    const auto convolve_part = HWY_DYNAMIC_DISPATCH(convolve_int8);
    const window_axis &y = axes[1], &x = axes[2];
    for (int64_t item = first; item < last; ++item) {
        const ChannelBlock block = find_block(*this, item % blocks);
        const int64_t image = item / blocks / bands, band = item / blocks % bands;
        BandPart part = {};
        part.image =
            static_cast<const uint8_t*>(run.input) + image * input_plane * image_step + block.first;
        part.packed = find_packed_block(*this, run.packed, block);
        part.channels = std::min(block.width, channels() - block.first);
        part.line = band * band_lines;
        part.lines = std::min(band_lines, y.output - part.line);
        part.table = run.table;
        part.copy = scratch;
        for (; part.pixel < x.output; part.pixel += part.pixels) {
            part.pixels = std::min(segment_pixels, x.output - part.pixel);
            const int64_t pixel = image * output_plane + part.line * x.output + part.pixel;
            part.output = static_cast<uint8_t*>(run.output) + pixel * output_step + block.first;
            convolve_part(*this, part);
        }
    }
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
