// SPDX-License-Identifier: Apache-2.0
// A layer: one node of the graph with all numbers resolved. It gives the part of its inputs that
// some rows of its result need, and computes them between places in the buffer. plan.h and stage.h
// choose places and order. Layers of each family: <family>_layer.{h,cc}.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/tpu/compiler/shape.h"

namespace tengine::tpu {

class Emitter;

// The host address of a blob that the layer loads itself.
constexpr uint64_t kLoadedLater = UINT64_MAX;

// A value as a layer sees it.
struct Ref
{
    int value = -1;  // index in Network::values
    Shape shape;
};

struct Step
{
    int y = 1, x = 1;
    bool skips() const { return y > 1 || x > 1; }
};

// The arguments of one call of Layer::emit().
struct Work
{
    Box box;                    // the result's
    std::vector<Place> inputs;  // of the result
    std::vector<bool> sampled;  // by input: it holds only the rows and columns of Layer::step()
    Place output;
    std::vector<uint32_t> blobs;  // addresses in the buffer, in the order of Layer::blobs()
};

class Layer
{
  public:
    Layer() = default;
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;
    virtual ~Layer() = default;

    int node = 0;  // position in the part, for kTag
    std::vector<Ref> inputs;
    Ref output;
    int element_bytes = 1;

    // Rows of an input that a box of the result needs. They may lie beyond the image only if the
    // value has a frame.
    virtual Box needs(int input, const Box& box) const;
    virtual Frame frame(int) const { return {}; }
    virtual uint8_t frame_value(int) const { return 0; }
    // The steps between the rows and columns of an input that are read; a band need not hold the
    // others.
    virtual Step step(int) const { return {}; }
    // Whether the result needs all of the inputs, is computed at once, and all of these are dense.
    virtual bool is_whole() const { return false; }
    // Whether the layer can be seen as one column of vectors: results depend only on their own
    // vector. flatten() then changes all shapes.
    virtual bool can_flatten() const { return false; }
    void flatten();
    // Whether the result may be computed in the memory of `input`, element by element.
    virtual bool can_follow(int) const { return false; }

    // Sizes of the constants that must be in the buffer, each for the whole layer.
    virtual std::vector<size_t> blobs() const { return {}; }
    // The most rows of the result that one pass can use efficiently; 0: no limit.
    virtual int rows_at_once() const { return 0; }
    // Drops some of the constants when they are too large for the buffer.
    virtual void reduce_blobs() {}

    // Adds constants to the program; returns the host addresses of the blobs.
    virtual std::vector<uint64_t> pack(Emitter&) { return {}; }
    virtual void emit(Emitter& emitter, const Work& work) = 0;
};

}  // namespace tengine::tpu
