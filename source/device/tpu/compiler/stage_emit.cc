// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/stage_emit.h"

#include <algorithm>

namespace tengine::tpu {
namespace {

Place place_of(const Shape& shape, const Frame& frame, int element_bytes)
{
    Place place;
    place.pixel = int64_t{shape.c} * element_bytes;
    place.row = place.pixel * (frame.left + shape.w + frame.right);
    place.image = place.row * (frame.top + shape.h + frame.bottom);
    return place;
}

class StageEmitter
{
  public:
    StageEmitter(const Network& network, const Plan& plan, size_t index,
                 const std::vector<std::vector<uint64_t>>& blobs, Emitter* emitter)
        : network_(network),
          homes_(plan.homes),
          stage_(plan.stages[index]),
          blobs_(blobs),
          emitter_(*emitter),
          begin_(plan.scratch_begin[index]),
          scratch_(lay_out(plan.homes, stage_, plan.cuts[index])),
          chunks_(chunks_of(stage_.output().shape, plan.cuts[index])),
          doubled_(plan.cuts[index].doubled && chunks_.size() > 1),
          bands_(stage_.sources.size())
    {
    }

    void run()
    {
        emitter_.tag(stage_.layers[0]->node);
        load_blobs();
        fill_result_frame();
        for (size_t source = 0; source < bands_.size(); ++source)
            fill_band_sides(source);
        fetch(0);
        for (size_t i = 0; i < chunks_.size(); ++i) {
            if (doubled_ && i + 1 < chunks_.size()) fetch(i + 1);
            compute(i);
            write(i);
            if (!doubled_ && i + 1 < chunks_.size()) fetch(i + 1);
        }
    }

  private:
    // The contents of the two buffers of a band.
    struct Band
    {
        BandShape of[2];
        bool filled[2] = {false, false};
        size_t slot = 1;              // that was filled last
        size_t of_chunk[2] = {0, 0};  // slots of even and odd chunks
    };

    const Home& home(const Ref& ref) const { return homes_[static_cast<size_t>(ref.value)]; }
    const Layer& layer_of(const Source& source) const { return *stage_.layers[source.layer]; }
    Frame frame_of(const Source& source) const
    {
        return layer_of(source).frame(static_cast<int>(source.input));
    }

    void load_blobs();
    void fill_result_frame();
    void fill_band_sides(size_t source);
    void fetch(size_t chunk);
    void fetch_band(size_t source, size_t chunk);
    Place band_place(size_t source, size_t slot) const;
    Place resident_place(const Ref& ref) const;
    Place source_place(size_t source, size_t chunk) const;
    Place output_place(size_t chunk) const;
    Work work_of(size_t layer, size_t chunk) const;
    void compute(size_t chunk);
    void write(size_t chunk);

    const Network& network_;
    const std::vector<Home>& homes_;
    const Stage& stage_;
    const std::vector<std::vector<uint64_t>>& blobs_;
    Emitter& emitter_;
    const int64_t begin_;
    const Scratch scratch_;
    const std::vector<Box> chunks_;
    const bool doubled_;
    std::vector<Band> bands_;
};

void StageEmitter::load_blobs()
{
    for (size_t layer = 0; layer < stage_.layers.size(); ++layer) {
        const std::vector<size_t> sizes = stage_.layers[layer]->blobs();
        for (size_t i = 0; i < sizes.size(); ++i)
            if (sizes[i] > 0 && blobs_[layer][i] != kLoadedLater)
                emitter_.read_host(blobs_[layer][i],
                                   static_cast<uint32_t>(begin_ + scratch_.blobs[layer][i]), {},
                                   static_cast<int64_t>(sizes[i]));
    }
}

// Top, bottom and both sides of each image.
void StageEmitter::fill_result_frame()
{
    const Home& result = home(stage_.output());
    if (!result.resident || result.frame.empty()) return;
    const Shape& shape = stage_.output().shape;
    const Frame& frame = result.frame;
    const Place place = resident_place(stage_.output());
    const auto fill = [&](int y, int x, int64_t rows, int64_t bytes) {
        emitter_.fill(static_cast<uint32_t>(place.at(0, y, x)),
                      {{shape.n, {0, 0, place.image}}, {rows, {0, 0, place.row}}}, bytes,
                      result.frame_value);
    };
    fill(-frame.top, -frame.left, 1, frame.top * place.row);
    fill(shape.h, -frame.left, 1, frame.bottom * place.row);
    fill(0, -frame.left, shape.h, frame.left * place.pixel);
    fill(0, shape.w, shape.h, frame.right * place.pixel);
}

// Done once: transfers only ever write between the sides.
void StageEmitter::fill_band_sides(size_t source)
{
    const Scratch::Band& band = scratch_.sources[source];
    const Frame frame = frame_of(stage_.sources[source]);
    if (band.bytes == 0 || (frame.left == 0 && frame.right == 0)) return;
    const Source& of = stage_.sources[source];
    const Ref& ref = stage_.input(of);
    const Place place = place_of(ref.shape, frame, layer_of(of).element_bytes);
    const uint8_t value = layer_of(of).frame_value(static_cast<int>(of.input));
    for (size_t slot = 0; slot < (doubled_ ? 2u : 1u); ++slot) {
        const int64_t address = begin_ + band.address[slot];
        const std::vector<Loop> rows = {{band.bytes / place.row, {0, 0, place.row}}};
        emitter_.fill(static_cast<uint32_t>(address), rows, frame.left * place.pixel, value);
        emitter_.fill(static_cast<uint32_t>(address + (frame.left + ref.shape.w) * place.pixel),
                      rows, frame.right * place.pixel, value);
    }
}

void StageEmitter::fetch(size_t chunk)
{
    for (size_t source = 0; source < bands_.size(); ++source)
        if (scratch_.sources[source].bytes > 0) fetch_band(source, chunk);
}

// The rows of a band lie as its box says: rows beyond the image among them.
Place StageEmitter::band_place(size_t source, size_t slot) const
{
    const Source& of = stage_.sources[source];
    const Frame frame = frame_of(of);
    const Box& box = bands_[source].of[slot].box;
    Place place = place_of(bands_[source].of[slot].shape, frame, layer_of(of).element_bytes);
    place.image = place.row * box.rows();
    place.base = begin_ + scratch_.sources[source].address[slot] + frame.left * place.pixel -
                 box.n0 * place.image - box.y0 * place.row;
    return place;
}

void StageEmitter::fetch_band(size_t source, size_t chunk)
{
    const Source& of = stage_.sources[source];
    const Ref& ref = stage_.input(of);
    Band& band = bands_[source];
    const BandShape wanted = band_shape(stage_, of, chunks_[chunk]);
    const Box& box = wanted.box;
    if (box.rows() == 0) return;
    if (band.filled[band.slot] && band.of[band.slot].box == box) {
        band.of_chunk[chunk % 2] = band.slot;
        return;
    }
    band.slot = doubled_ ? 1 - band.slot : 0;
    band.of[band.slot] = wanted;
    band.filled[band.slot] = true;
    band.of_chunk[chunk % 2] = band.slot;
    const Place place = band_place(source, band.slot);
    const Frame frame = frame_of(of);
    const uint8_t value = layer_of(of).frame_value(static_cast<int>(of.input));
    const int first = std::max(0, box.y0), last = std::min(wanted.shape.h, box.y1);
    const auto fill_rows = [&](int y0, int y1) {
        if (y0 >= y1) return;
        emitter_.fill(static_cast<uint32_t>(place.at(box.n0, y0, -frame.left)),
                      {{box.images(), {0, 0, place.image}}}, (y1 - y0) * place.row, value);
    };
    fill_rows(box.y0, std::min(first, box.y1));
    fill_rows(std::max(last, box.y0), box.y1);
    if (first >= last) return;
    const Place host = place_of(ref.shape, {}, layer_of(of).element_bytes);
    const Step& step = wanted.step;
    emitter_.read_host(home(ref).host + static_cast<uint64_t>(host.at(box.n0, first * step.y, 0)),
                       static_cast<uint32_t>(place.at(box.n0, first, 0)),
                       {{box.images(), {host.image, 0, place.image}},
                        {last - first, {host.row * step.y, 0, place.row}},
                        {wanted.shape.w, {host.pixel * step.x, 0, place.pixel}}},
                       host.pixel);
}

// Framed values are always seen in their own shape.
Place StageEmitter::resident_place(const Ref& ref) const
{
    const Home& of = home(ref);
    const int bytes = network_.values[static_cast<size_t>(ref.value)].element_bytes;
    Place place = place_of(ref.shape, of.frame, bytes);
    place.base = of.address + of.frame.top * place.row + of.frame.left * place.pixel;
    return place;
}

Place StageEmitter::source_place(size_t source, size_t chunk) const
{
    const Ref& ref = stage_.input(stage_.sources[source]);
    if (home(ref).resident) return resident_place(ref);
    return band_place(source, bands_[source].of_chunk[chunk % 2]);
}

Place StageEmitter::output_place(size_t chunk) const
{
    if (home(stage_.output()).resident) return resident_place(stage_.output());
    const Box& box = chunks_[chunk];
    Place place = place_of(stage_.output().shape, {}, stage_.layers[0]->element_bytes);
    place.image = place.row * box.rows();
    place.base = begin_ + scratch_.output.address[doubled_ ? chunk % 2 : 0] - box.n0 * place.image -
                 box.y0 * place.row;
    return place;
}

Work StageEmitter::work_of(size_t layer, size_t chunk) const
{
    Work work;
    work.box = chunks_[chunk];
    work.output = output_place(chunk);
    for (int64_t address : scratch_.blobs[layer])
        work.blobs.push_back(static_cast<uint32_t>(begin_ + address));
    work.inputs.assign(stage_.layers[layer]->inputs.size(), work.output);
    work.sampled.assign(work.inputs.size(), false);
    for (size_t source = 0; source < stage_.sources.size(); ++source)
        if (const Source& of = stage_.sources[source]; of.layer == layer) {
            work.inputs[of.input] = source_place(source, chunk);
            work.sampled[of.input] = scratch_.sources[source].bytes > 0 &&
                                     layer_of(of).step(static_cast<int>(of.input)).skips();
        }
    return work;
}

void StageEmitter::compute(size_t chunk)
{
    for (size_t layer = 0; layer < stage_.layers.size(); ++layer) {
        emitter_.tag(stage_.layers[layer]->node);
        stage_.layers[layer]->emit(emitter_, work_of(layer, chunk));
    }
}

void StageEmitter::write(size_t chunk)
{
    const Ref& ref = stage_.output();
    if (home(ref).resident) return;
    const Box& box = chunks_[chunk];
    const Place place = output_place(chunk);
    const Place host = place_of(ref.shape, {}, stage_.layers[0]->element_bytes);
    emitter_.write_host(
        home(ref).host + static_cast<uint64_t>(host.at(box.n0, box.y0, 0)),
        static_cast<uint32_t>(place.at(box.n0, box.y0, 0)),
        {{box.images(), {place.image, 0, host.image}}, {box.rows(), {place.row, 0, host.row}}},
        host.row);
}

}  // namespace

void emit_stage(const Network& network, const Plan& plan, size_t index,
                const std::vector<std::vector<uint64_t>>& blobs, Emitter* emitter)
{
    StageEmitter(network, plan, index, blobs, emitter).run();
}

}  // namespace tengine::tpu
