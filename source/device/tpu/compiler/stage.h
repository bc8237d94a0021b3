// SPDX-License-Identifier: Apache-2.0
// Stages: layers that are computed together, chunk by chunk of rows of their result. The first
// layer writes the result and those after it change it in place, such as the addition of a
// residual. Inputs from host memory come in bands of rows, two that alternate where there is room,
// so that one is filled while the other is in use; results go there likewise.
#pragma once

#include <vector>

#include "device/tpu/compiler/network.h"

namespace tengine::tpu {

// Where a value lives.
struct Home
{
    bool resident = false;  // in the buffer from the stage that makes it to the last that reads it
    uint32_t address = 0;   // the value's, frame included
    Frame frame;
    uint8_t frame_value = 0;
    uint64_t host = 0;  // where it is in host memory, unless resident
};

// An input of one of a stage's layers that is not the result of the layer in front.
struct Source
{
    size_t layer, input;
};

struct Stage
{
    std::vector<Layer*> layers;
    std::vector<size_t> chained;  // the chain's input of each layer after the first
    std::vector<Source> sources;

    const Ref& output() const { return layers.back()->output; }
    const Ref& input(const Source& source) const
    {
        return layers[source.layer]->inputs[source.input];
    }
};

// How a stage is cut: chunks of whole images or of rows of one.
struct Cut
{
    int images = 1, rows = 1;
    bool doubled = false;  // bands alternate
};

// The part of a source that a band holds for a chunk of the result: rows of the source's shape, or
// of what Layer::step() leaves of it.
struct BandShape
{
    Shape shape;
    Box box;
    Step step;
};
BandShape band_shape(const Stage& stage, const Source& source, const Box& chunk);

// The stages of a network, in its order.
std::vector<Stage> make_stages(const Network& network);

// The boxes of a cut, in order.
std::vector<Box> chunks_of(const Shape& shape, const Cut& cut);

// Bytes of the buffer that a stage needs beside resident values, and where each thing lies, from 0.
struct Scratch
{
    struct Band
    {
        int64_t address[2] = {0, 0};
        int64_t bytes = 0;  // one buffer's; 0: the value is resident
    };
    std::vector<std::vector<int64_t>> blobs;  // by layer
    std::vector<Band> sources;                // by source
    Band output;
    int64_t bytes = 0;
};
Scratch lay_out(const std::vector<Home>& homes, const Stage& stage, const Cut& cut);

// The largest cut that is worth it and whose scratch fits into `room`; TENGINE_ERANGE when not even
// one row does.
int choose_cut(const std::vector<Home>& homes, const Stage& stage, int64_t room, Cut* out_cut);

}  // namespace tengine::tpu
