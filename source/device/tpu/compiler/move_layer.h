// SPDX-License-Identifier: Apache-2.0
// Copies: pieces of inputs to pieces of the result (Concat, Split, Slice, Pad, Resize), and whole
// tensors in another order (Transpose, and Reshape if input and result have different orders in
// memory).
#pragma once

#include <array>

#include "device/tpu/compiler/layer.h"

namespace tengine::tpu {

// Axes in the order n, y, x, c.
struct Piece
{
    int input = 0;
    std::array<int, 4> begin{}, end{};      // in the result
    std::array<int, 4> from{};              // of the first element in the input
    std::array<int, 4> step{1, 1, 1, 1};    // in the input; 1 for channels
    std::array<int, 4> repeat{1, 1, 1, 1};  // copies of each input element; along y and x only

    int source(size_t axis, int position) const
    {
        return from[axis] + (position - begin[axis]) / repeat[axis] * step[axis];
    }
};

class MoveLayer : public Layer
{
  public:
    std::vector<Piece> pieces;  // in the order of their inputs
    // Whether elements outside all pieces are `fill`, whose bytes are all the same.
    bool fills = false;
    uint8_t fill = 0;

    Box needs(int input, const Box& box) const override;
    void emit(Emitter& emitter, const Work& work) override;

  private:
    void emit_piece(Emitter& emitter, const Work& work, const Piece& piece, Box box) const;
};

// A layer without inputs and pieces yet.
std::unique_ptr<MoveLayer> make_move(const Ref& output, int element_bytes);

// Elements in the order of the result: nested loops, outermost first, with the distances of both in
// elements.
class ReorderLayer : public Layer
{
  public:
    struct Axis
    {
        int64_t count, from, to;
    };
    std::vector<Axis> axes;

    // Merges axes; returns the number of instructions.
    int64_t simplify();

    Box needs(int input, const Box& box) const override;
    bool is_whole() const override { return true; }
    void emit(Emitter& emitter, const Work& work) override;
};

}  // namespace tengine::tpu
