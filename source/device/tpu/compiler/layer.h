// SPDX-License-Identifier: Apache-2.0
// A layer: one node of the graph with every number resolved, which knows what it needs for some
// rows of its result and how to compute them from and to places in the buffer. plan.h and stage.h
// decide what lies where, and when. Layers of each family: <family>_layer.{h,cc}.
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
    std::vector<Place> inputs;  // in the order of Layer::inputs
    std::vector<bool> sampled;  // by input: it holds only what Layer::step() says
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

    // Rows of an input that a box of the result needs. They lie beyond the image only with a frame.
    virtual Box needs(int input, const Box& box) const;
    virtual Frame frame(int) const { return {}; }
    virtual uint8_t frame_value(int) const { return 0; }
    // The steps between the rows and columns that are read of an input, those that the result's
    // rows and columns stand for; a band need not hold the others.
    virtual Step step(int) const { return {}; }
    // The result needs all of the inputs, is made in one go, and all lie dense.
    virtual bool is_whole() const { return false; }
    // May be seen as one column of vectors: results depend on nothing beside their own vector. Then
    // flatten() changes all shapes.
    virtual bool can_flatten() const { return false; }
    void flatten();
    // `input` is element by element where the result is, so that it may be there already.
    virtual bool can_follow(int) const { return false; }

    // Sizes of the constants that must be in the buffer, each for the whole layer.
    virtual std::vector<size_t> blobs() const { return {}; }
    // Rows of the result that one pass can make good use of; 0: no limit.
    virtual int rows_at_once() const { return 0; }
    // Gives up some of the constants, which are too much for the buffer.
    virtual void reduce_blobs() {}

    // Puts constants into the program; returns where in host memory the blobs are.
    virtual std::vector<uint64_t> pack(Emitter&) { return {}; }
    virtual void emit(Emitter& emitter, const Work& work) = 0;
};

}  // namespace tengine::tpu
