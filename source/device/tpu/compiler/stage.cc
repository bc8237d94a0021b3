// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/stage.h"

#include <algorithm>

#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int kLeastChunks = 8;         // so that transfers overlap with work
constexpr int64_t kLeastBytes = 16384;  // for a chunk that is cut for that reason only

std::vector<int> count_readers(const Network& network)
{
    std::vector<int> readers(network.values.size());
    for (const auto& layer : network.layers)
        for (const Ref& input : layer->inputs)
            ++readers[static_cast<size_t>(input.value)];
    return readers;
}

// Whether a layer may follow the stage that makes input `input`: nothing else reads that, and
// everything else it reads is made before the stage.
bool may_follow(const Network& network, const std::vector<int>& readers,
                const std::vector<int>& maker, const Layer& layer, size_t input,
                const std::vector<Stage>& stages)
{
    const Ref& chain = layer.inputs[input];
    const auto value = static_cast<size_t>(chain.value);
    const int stage = maker[value];
    if (stage < 0 || readers[value] != 1 || network.values[value].is_output) return false;
    if (!layer.can_follow(static_cast<int>(input))) return false;
    const Stage& front = stages[static_cast<size_t>(stage)];
    if (front.output().shape != chain.shape || chain.shape != layer.output.shape) return false;
    if (front.layers[0]->is_whole()) return false;
    for (size_t i = 0; i < layer.inputs.size(); ++i)
        if (i != input && maker[static_cast<size_t>(layer.inputs[i].value)] >= stage) return false;
    return true;
}

void list_sources(Stage* stage)
{
    for (size_t layer = 0; layer < stage->layers.size(); ++layer)
        for (size_t input = 0; input < stage->layers[layer]->inputs.size(); ++input)
            if (layer == 0 || input != stage->chained[layer])
                stage->sources.push_back({layer, input});
}

int64_t align(int64_t bytes)
{
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Takes `bytes` at the end of what is in use.
int64_t take(int64_t* used, int64_t bytes)
{
    const int64_t address = *used;
    *used += align(bytes);
    return address;
}

void place_band(Scratch::Band* band, bool doubled, int64_t* used)
{
    band->address[0] = take(used, band->bytes);
    band->address[1] = doubled ? take(used, band->bytes) : band->address[0];
}

int64_t row_bytes(const Layer& layer, const Shape& shape, int width)
{
    return int64_t{width} * shape.c * layer.element_bytes;
}

// A band holds what any chunk needs.
Scratch::Band size_band(const Stage& stage, const Source& source, const std::vector<Box>& chunks)
{
    const Layer& layer = *stage.layers[source.layer];
    const Frame frame = layer.frame(static_cast<int>(source.input));
    Scratch::Band band;
    for (const Box& chunk : chunks) {
        const BandShape of = band_shape(stage, source, chunk);
        const int width = frame.left + of.shape.w + frame.right;
        band.bytes = std::max(band.bytes, int64_t{of.box.images()} * of.box.rows() *
                                              row_bytes(layer, of.shape, width));
    }
    return band;
}

bool is_resident(const std::vector<Home>& homes, const Ref& ref)
{
    return homes[static_cast<size_t>(ref.value)].resident;
}

// The rows a chunk should have, were there room: as many as the layers make good use of, and few
// enough that transfers of one chunk overlap with the work of another.
Cut preferred_cut(const std::vector<Home>& homes, const Stage& stage)
{
    const Shape& shape = stage.output().shape;
    bool transfers = !is_resident(homes, stage.output());
    for (const Source& source : stage.sources)
        transfers |= !is_resident(homes, stage.input(source));
    const int all = shape.n * shape.h;
    if (!transfers || stage.layers[0]->is_whole()) return {shape.n, shape.h, false};
    int rows = stage.layers[0]->rows_at_once();
    if (rows == 0) {
        const int64_t bytes = row_bytes(*stage.layers[0], shape, shape.w);
        rows = std::max((all + kLeastChunks - 1) / kLeastChunks,
                        static_cast<int>(std::min<int64_t>(all, kLeastBytes / bytes)));
    }
    rows = std::max(1, rows);
    if (rows >= shape.h) return {std::min(shape.n, rows / shape.h), shape.h, true};
    return {1, rows, true};
}

// The next smaller cut: fewer images, then fewer rows.
Cut shrink(const Cut& cut)
{
    Cut smaller = cut;
    if (cut.images > 1)
        smaller.images = cut.images - std::max(1, cut.images / 8);
    else
        smaller.rows = cut.rows - std::max(1, cut.rows / 8);
    return smaller;
}

// Chunks of nearly the same size, as many as there would be anyway.
Cut balance(const Shape& shape, Cut cut)
{
    const auto even = [](int number, int size) {
        const int parts = (number + size - 1) / size;
        return (number + parts - 1) / parts;
    };
    cut.rows = even(shape.h, cut.rows);
    cut.images = even(shape.n, cut.images);
    return cut;
}

}  // namespace

BandShape band_shape(const Stage& stage, const Source& source, const Box& chunk)
{
    const Layer& layer = *stage.layers[source.layer];
    const auto input = static_cast<int>(source.input);
    BandShape band;
    band.shape = stage.input(source).shape;
    band.step = layer.step(input);
    band.box = layer.needs(input, chunk);
    if (band.step.skips()) {
        band.shape.h = layer.output.shape.h;
        band.shape.w = layer.output.shape.w;
        band.box = chunk;
    }
    return band;
}

std::vector<Stage> make_stages(const Network& network)
{
    const std::vector<int> readers = count_readers(network);
    std::vector<int> maker(network.values.size(), -1);  // stage that makes a value
    std::vector<Stage> stages;
    for (const auto& layer : network.layers) {
        int best = -1;
        size_t chain = 0;
        for (size_t input = 0; input < layer->inputs.size(); ++input) {
            const int stage = maker[static_cast<size_t>(layer->inputs[input].value)];
            if (stage > best && may_follow(network, readers, maker, *layer, input, stages)) {
                best = stage;
                chain = input;
            }
        }
        if (best < 0) {
            best = static_cast<int>(stages.size());
            stages.emplace_back();
        }
        Stage& stage = stages[static_cast<size_t>(best)];
        stage.layers.push_back(layer.get());
        stage.chained.push_back(chain);
        maker[static_cast<size_t>(layer->output.value)] = best;
    }
    for (Stage& stage : stages)
        list_sources(&stage);
    return stages;
}

std::vector<Box> chunks_of(const Shape& shape, const Cut& cut)
{
    std::vector<Box> chunks;
    for (int n = 0; n < shape.n; n += cut.images)
        for (int y = 0; y < shape.h; y += cut.rows)
            chunks.push_back(
                {n, std::min(shape.n, n + cut.images), y, std::min(shape.h, y + cut.rows)});
    return chunks;
}

Scratch lay_out(const std::vector<Home>& homes, const Stage& stage, const Cut& cut)
{
    Scratch scratch;
    const Shape& shape = stage.output().shape;
    const std::vector<Box> chunks = chunks_of(shape, cut);
    const bool doubled = cut.doubled && chunks.size() > 1;
    int64_t used = 0;
    for (const Layer* layer : stage.layers) {
        scratch.blobs.emplace_back();
        for (size_t bytes : layer->blobs())
            scratch.blobs.back().push_back(take(&used, static_cast<int64_t>(bytes)));
    }
    for (const Source& source : stage.sources) {
        Scratch::Band band;
        if (!is_resident(homes, stage.input(source))) band = size_band(stage, source, chunks);
        place_band(&band, doubled, &used);
        scratch.sources.push_back(band);
    }
    if (!is_resident(homes, stage.output())) {
        scratch.output.bytes = int64_t{chunks[0].images()} * chunks[0].rows() *
                               row_bytes(*stage.layers[0], shape, shape.w);
        place_band(&scratch.output, doubled, &used);
    }
    scratch.bytes = used;
    return scratch;
}

int choose_cut(const std::vector<Home>& homes, const Stage& stage, int64_t room, Cut* out_cut)
{
    const Cut preferred = preferred_cut(homes, stage);
    const auto try_from = [&](Cut cut, int least_rows) {
        for (; cut.images >= 1 && cut.rows >= least_rows; cut = shrink(cut)) {
            const Cut even = balance(stage.output().shape, cut);
            if (lay_out(homes, stage, even).bytes <= room) {
                *out_cut = even;
                return true;
            }
            if (stage.layers[0]->is_whole()) return false;
        }
        return false;
    };
    if (preferred.doubled && try_from(preferred, std::max(1, preferred.rows / 4)))
        return TENGINE_OK;
    Cut single = preferred;
    single.doubled = false;
    if (try_from(single, 1)) return TENGINE_OK;
    Cut least = single;
    if (!stage.layers[0]->is_whole()) least.images = least.rows = 1;
    return tengine_error_set(
        TENGINE_ERANGE, "one row of work takes %lld bytes of the unified buffer, which has %lld",
        static_cast<long long>(lay_out(homes, stage, least).bytes), static_cast<long long>(room));
}

}  // namespace tengine::tpu
