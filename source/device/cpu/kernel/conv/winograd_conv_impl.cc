// SPDX-License-Identifier: Apache-2.0
// See winograd_conv.h and conv_winograd.cc. The patches of a line of tiles overlap; each column is
// transformed once. A panel's results are transformed back while they are in the cache. fp16 and
// bf16 are widened when they are read, and results are rounded once, after the activation.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/cpu/kernel/conv/winograd_conv.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv/winograd_conv_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/conv/winograd_points-inl.h"
#include "device/cpu/kernel/vector/elements-inl.h"
#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

constexpr int64_t kCacheLine = kCacheLineFloats * int64_t{sizeof(float)};  // bytes

// Channels that go through a line of tiles together: two cache lines.
constexpr int64_t kChunkFloats = 2 * kCacheLineFloats;

// A line of tiles of an image.
template <class T>
struct TileLine
{
    const T* image;
    int64_t top;  // of the image
    int64_t height, width, channels;
    int64_t pixel_step;

    bool is_inside(int64_t rows) const { return top >= 0 && top + rows <= height; }
};

// Transforms a vector of channels of one column of a line's patches.
template <int kTile, class T>
HWY_INLINE void transform_column(const TileLine<T>& line, int64_t column, int64_t channel,
                                 float* to)
{
    constexpr int kPatch = kTile + 2;
    const Floats d;
    const auto store = [&](int i, Vector value) {
        hn::Store(value, d, to + static_cast<size_t>(i) * hn::Lanes(d));
    };
    if (column < 0 || column >= line.width) {
        for (int i = 0; i < kPatch; ++i)
            store(i, hn::Zero(d));
        return;
    }
    const int64_t step = line.width * line.pixel_step;
    const int64_t at = line.top * step + column * line.pixel_step + channel;
    if (line.is_inside(kPatch)) {
        const T* from = line.image + at;
        WinogradPoints<kTile>::transform_inputs(
            [&](int i) { return load_elements(d, from + i * step); }, store);
        return;
    }
    const auto load = [&](int i) {
        const bool is_inside = line.top + i >= 0 && line.top + i < line.height;
        return is_inside ? load_elements(d, line.image + at + i * step) : hn::Zero(d);
    };
    WinogradPoints<kTile>::transform_inputs(load, store);
}

// Transforms a vector of channels of a tile from its transformed columns, the last two of which
// begin the next tile, to its positions, `step` floats apart.
template <int kTile>
HWY_INLINE void transform_rows(const float* columns, const float* next, float* to, int64_t step)
{
    constexpr int kPatch = kTile + 2;
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int i = 0; i < kPatch; ++i, columns += lanes, next += lanes, to += kPatch * step)
        WinogradPoints<kTile>::transform_inputs(
            [&](int j) {
                return hn::Load(d, j < kTile ? columns + j * kPatch * lanes
                                             : next + (j - kTile) * kPatch * lanes);
            },
            [&](int j, Vector value) { hn::StoreU(value, d, to + j * step); });
}

// Transforms `count` tiles of a line from column `left` of the image on; `to` is the first one's
// place.
template <int kTile, class T>
void transform_line(const TileLine<T>& line, int64_t left, int64_t count, float* to, int64_t step)
{
    constexpr int64_t kPatch = kTile + 2;
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    // Columns of this tile and of the next, alternately: each is transformed once.
    HWY_ALIGN float columns[2][kTile * kPatch * kChunkFloats];
    const int64_t column_floats = kPatch * lanes, vector_floats = kTile * column_floats;
    for (int64_t chunk = 0; chunk < line.channels; chunk += kChunkFloats) {
        const int64_t end = std::min(chunk + kChunkFloats, line.channels);
        for (int64_t tile = -1; tile < count; ++tile) {
            float* now = columns[tile & 1];
            float* next = columns[~tile & 1];
            for (int64_t i = chunk; i < end; i += lanes) {
                // The last vector overlaps the one before it if there are fewer channels.
                const int64_t channel = std::min(i, line.channels - lanes);
                if (tile >= 0)
                    for (int64_t j = 2; j < kTile; ++j)
                        transform_column<kTile>(line, left + tile * kTile + j, channel,
                                                now + j * column_floats);
                for (int64_t j = 0; j < 2; ++j)
                    transform_column<kTile>(line, left + (tile + 1) * kTile + j, channel,
                                            next + j * column_floats);
                if (tile >= 0)
                    transform_rows<kTile>(now, next, to + tile * line.channels + channel, step);
                now += vector_floats;
                next += vector_floats;
            }
        }
    }
}

template <class T>
void transform_tiles_of(const Winograd& conv, const void* images, int64_t begin, int64_t first,
                        int64_t last, float* inputs)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const auto transform = conv.tile == 4 ? transform_line<4, T> : transform_line<6, T>;
    for (int64_t tile = first; tile < last;) {
        const TilePosition at = conv.find_tile(begin + tile);
        const int64_t count = std::min(last - tile, conv.tiles_x - at.column / conv.tile);
        const int64_t image = at.image * conv.input_plane * conv.image_step;
        const TileLine<T> line = {static_cast<const T*>(images) + image,
                                  at.row - y.pad_begin,
                                  y.input,
                                  x.input,
                                  conv.input_channels,
                                  conv.image_step};
        transform(line, at.column - x.pad_begin, count, inputs + tile * conv.input_channels,
                  conv.input_step());
        tile += count;
    }
}

// Position after position.
void multiply_tiles(const Winograd& conv, const float* inputs, const WinogradPanel& panel,
                    int64_t tiles, float* products)
{
    static const Fusion none;
    static const int64_t zero = 0;
    const int64_t width = conv.panel_width(panel.index), channels = panel.channels;
    const bool is_wide = width == conv.panel_lanes;
    FloatTile tile = {};
    tile.input_step = conv.input_channels;
    tile.segments = &zero;
    tile.segment_num = 1;
    tile.segment_length = channels;
    tile.output_step = tile.columns = width;
    tile.fusion = &none;
    const int64_t positions = conv.positions();
    const int64_t step = divide_up(panel.next_bytes, positions * kCacheLine) * kCacheLine;
    for (int64_t position = 0; position < positions; ++position) {
        const float* filters = panel.filters + position * width * (channels + 1);
        tile.bias = panel.first == 0 ? filters : nullptr;
        tile.weights = filters + width;
        tile.input = inputs + position * conv.input_step() + panel.first;
        tile.output = products + position * conv.product_step();
        for (int64_t i = 0; i < step; i += kCacheLine)
            __builtin_prefetch(panel.next + position * step + i);
        multiply_pixel_rows(tile, tiles, tiles, is_wide);
    }
}

// The destination of a tile's results: fp32 goes to the output, fp16 and bf16 to a buffer first.
// The addend has the layout of the output.
template <class T>
struct TilePlace
{
    int64_t rows, columns;  // those on the output
    int64_t line_step, pixel_step;
    const T* addend;  // at the first pixel and the panel's first channel; may be null
    float* results;
    int64_t result_line_step, result_step;

    void advance(int64_t channels)
    {
        if (addend) addend += channels;
        results += channels;
    }
};

// Transforms one vector of a tile's channels from its positions, `step` floats apart, to pixels.
// kIsWhole: it has all pixels and all lanes.
template <int kTile, bool kIsWhole, class T>
HWY_INLINE void finish_vector(const Bounds& clip, const float* bias, const float* products,
                              int64_t step, const TilePlace<T>& place, int64_t count)
{
    constexpr int kPatch = kTile + 2;
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN float columns[kTile * kPatch * HWY_MAX_BYTES / sizeof(float)];
    for (int j = 0; j < kPatch; ++j)
        WinogradPoints<kTile>::transform_results(
            [&](int i) { return hn::LoadU(d, products + (i * kPatch + j) * step); },
            [&](int i, Vector value) { hn::Store(value, d, columns + (i * kPatch + j) * lanes); });
    const Vector add = hn::LoadU(d, bias);
    const int64_t rows = kIsWhole ? kTile : place.rows;
    for (int64_t i = 0; i < rows; ++i)
        WinogradPoints<kTile>::transform_results(
            [&](int j) { return hn::Load(d, columns + (i * kPatch + j) * lanes); },
            [&](int j, Vector value) {
                if (!kIsWhole && j >= place.columns) return;
                const int64_t from = i * place.line_step + j * place.pixel_step;
                float* to = place.results + i * place.result_line_step + j * place.result_step;
                Vector sum = hn::Add(value, add);
                if (kIsWhole) {
                    if (place.addend) sum = hn::Add(sum, load_elements(d, place.addend + from));
                    return hn::StoreU(clip(sum), d, to);
                }
                if (place.addend) sum = hn::Add(sum, load_lanes(place.addend + from, count));
                store_lanes(clip(sum), to, count);
            });
}

// Transforms a panel's channels of a tile.
template <int kTile, class T>
HWY_INLINE void finish_tile(const WinogradOperands& operands, const float* bias,
                            const float* products, int64_t step, TilePlace<T> place,
                            int64_t channels)
{
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    const Bounds clip(*operands.fusion);
    const bool is_whole = place.rows == kTile && place.columns == kTile;
    float* const results = place.results;
    for (int64_t i = 0; i < channels; i += lanes, place.advance(lanes)) {
        if (is_whole && channels - i >= lanes)
            finish_vector<kTile, true>(clip, bias + i, products + i, step, place, lanes);
        else
            finish_vector<kTile, false>(clip, bias + i, products + i, step, place, channels - i);
    }
    if (!needs_activation_pass(*operands.fusion)) return;
    for (int64_t i = 0; i < place.rows; ++i)
        activate(*operands.fusion, results + i * place.result_line_step, place.columns,
                 place.result_step, channels);
}

// Rounds the buffer's values.
template <class T>
HWY_INLINE void round_results(const TilePlace<T>& place, int64_t channels, T* output)
{
    for (int64_t i = 0; i < place.rows; ++i)
        for (int64_t j = 0; j < place.columns; ++j)
            store_floats(place.results + i * place.result_line_step + j * place.result_step,
                         channels, output + i * place.line_step + j * place.pixel_step);
}

// Transforms the tiles of a block; `products` begin with the block's first tile, which is tile
// `begin` of the batch.
template <int kTile, class T>
void finish_tiles(const Winograd& conv, const WinogradOperands& operands,
                  const WinogradPanel& panel, int64_t begin, int64_t tiles, const float* products)
{
    constexpr bool kIsNarrow = !std::is_same<T, float>::value;
    constexpr int64_t kMostLanes = 2 * HWY_MAX_BYTES / sizeof(float);
    HWY_ALIGN float buffer[kIsNarrow ? kTile * kTile * kMostLanes : 1];
    const window_axis &height = conv.axes[1], &width = conv.axes[2];
    const int64_t first = panel.index * conv.panel_lanes;
    const int64_t panel_width = conv.panel_width(panel.index);
    const int64_t channels = std::min(panel_width, conv.output_channels - first);
    for (int64_t tile = 0; tile < tiles; ++tile, products += panel_width) {
        const TilePosition from = conv.find_tile(begin + tile);
        const int64_t pixel =
            from.image * conv.output_plane + from.row * width.output + from.column;
        const int64_t at = pixel * conv.output_step + first;
        T* output = static_cast<T*>(operands.output) + at;
        TilePlace<T> place = {};
        place.rows = std::min<int64_t>(kTile, height.output - from.row);
        place.columns = std::min<int64_t>(kTile, width.output - from.column);
        place.line_step = width.output * conv.output_step;
        place.pixel_step = conv.output_step;
        place.addend = operands.addend ? static_cast<const T*>(operands.addend) + at : nullptr;
        if constexpr (kIsNarrow) {
            place.results = buffer;
            place.result_line_step = kTile * kMostLanes;
            place.result_step = kMostLanes;
        } else {
            place.results = output;
            place.result_line_step = place.line_step;
            place.result_step = place.pixel_step;
        }
        finish_tile<kTile>(operands, panel.bias + first, products, conv.product_step(), place,
                           channels);
        if constexpr (kIsNarrow) round_results(place, channels, output);
    }
}

template <class T>
void finish_panel_of(const Winograd& conv, const WinogradOperands& operands,
                     const WinogradPanel& panel, int64_t begin, int64_t tiles,
                     const float* products)
{
    const auto finish = conv.tile == 4 ? finish_tiles<4, T> : finish_tiles<6, T>;
    finish(conv, operands, panel, begin, tiles, products);
}

// Calls body with the constants kFirst..kLast-1.
template <int kFirst, int kLast, class Body>
HWY_INLINE void repeat(const Body& body)
{
    if constexpr (kFirst < kLast) {
        body(std::integral_constant<int, kFirst>());
        repeat<kFirst + 1, kLast>(body);
    }
}

// Transforms a vector of filters of an input channel from nine taps, `width` apart, to positions,
// `step` floats apart. With constant indices the values between the two transforms stay in
// registers.
template <int kTile, class T>
HWY_INLINE void transform_filter_vector(const T* taps, int64_t width, float* to, int64_t step)
{
    constexpr int kPatch = kTile + 2;
    const Floats d;
    Vector rows[kPatch][3];
    repeat<0, 3>([&](auto j) {
        WinogradPoints<kTile>::transform_filter(
            [&](int i) { return load_elements(d, taps + (i * 3 + j) * width); },
            [&](int i, Vector value) { rows[i][j] = value; });
    });
    repeat<0, kPatch>([&](auto i) {
        WinogradPoints<kTile>::transform_filter(
            [&](int j) { return rows[i][j]; },
            [&](int j, Vector value) { hn::StoreU(value, d, to + (i * kPatch + j) * step); });
    });
}

template <int kTile, class T>
void transform_filters_of(const Winograd& conv, const void* from, int64_t channels, int64_t width,
                          float* to)
{
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    const int64_t step = width * (channels + 1);
    for (int64_t i = 0; i < conv.positions(); ++i)
        std::fill_n(to + i * step, width, 0.0f);
    constexpr int64_t kAheadChannels = 8, kLine = kCacheLine / sizeof(T);
    const T* taps = static_cast<const T*>(from);
    for (int64_t channel = 0; channel < channels; ++channel, taps += 9 * width) {
        to += width;
        // The filters come from memory, and the hardware prefetcher starts too late.
        for (int64_t i = 0; i < 9 * width; i += kLine)
            __builtin_prefetch(taps + kAheadChannels * 9 * width + i);
        for (int64_t i = 0; i < width; i += lanes)
            transform_filter_vector<kTile>(taps + i, width, to + i, step);
    }
}

template <int kTile>
void transform_filters_to(const Winograd& conv, const void* taps, int64_t channels, int64_t width,
                          float* to)
{
    const auto transform = conv.data_type == TENGINE_DT_FP32 ? transform_filters_of<kTile, float>
                           : conv.data_type == TENGINE_DT_FP16
                               ? transform_filters_of<kTile, Half>
                               : transform_filters_of<kTile, BFloat16>;
    transform(conv, taps, channels, width, to);
}

void transform_tiles(const Winograd& conv, const void* images, int64_t begin, int64_t first,
                     int64_t last, float* inputs)
{
    const auto transform = conv.data_type == TENGINE_DT_FP32   ? transform_tiles_of<float>
                           : conv.data_type == TENGINE_DT_FP16 ? transform_tiles_of<Half>
                                                               : transform_tiles_of<BFloat16>;
    transform(conv, images, begin, first, last, inputs);
}

void transform_filters(const Winograd& conv, const void* taps, int64_t channels, int64_t width,
                       float* to)
{
    const auto transform = conv.tile == 4 ? transform_filters_to<4> : transform_filters_to<6>;
    transform(conv, taps, channels, width, to);
}

void finish_panel(const Winograd& conv, const WinogradOperands& operands,
                  const WinogradPanel& panel, int64_t begin, int64_t tiles, const float* products)
{
    const auto finish = conv.data_type == TENGINE_DT_FP32   ? finish_panel_of<float>
                        : conv.data_type == TENGINE_DT_FP16 ? finish_panel_of<Half>
                                                            : finish_panel_of<BFloat16>;
    finish(conv, operands, panel, begin, tiles, products);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(transform_tiles);
HWY_EXPORT(transform_filters);
HWY_EXPORT(multiply_tiles);
HWY_EXPORT(finish_panel);

}  // namespace

void transform_tiles(const Winograd& conv, const void* images, int64_t begin, int64_t first,
                     int64_t last, float* inputs)
{
    HWY_DYNAMIC_DISPATCH(transform_tiles)(conv, images, begin, first, last, inputs);
}

void transform_filters(const Winograd& conv, const void* taps, int64_t channels, int64_t width,
                       float* to)
{
    HWY_DYNAMIC_DISPATCH(transform_filters)(conv, taps, channels, width, to);
}

void multiply_tiles(const Winograd& conv, const float* inputs, const WinogradPanel& panel,
                    int64_t tiles, float* products)
{
    HWY_DYNAMIC_DISPATCH(multiply_tiles)(conv, inputs, panel, tiles, products);
}

void finish_panel(const Winograd& conv, const WinogradOperands& operands,
                  const WinogradPanel& panel, int64_t begin, int64_t tiles, const float* products)
{
    HWY_DYNAMIC_DISPATCH(finish_panel)(conv, operands, panel, begin, tiles, products);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
