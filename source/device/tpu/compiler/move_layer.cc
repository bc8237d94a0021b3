// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/move_layer.h"

#include <algorithm>

#include "device/tpu/compiler/emitter.h"

namespace tengine::tpu {
namespace {

// The part of a piece that is in the box; empty boxes have no rows.
Box clip(const Piece& piece, const Box& box)
{
    Box clipped;
    clipped.n0 = std::max(box.n0, piece.begin[0]);
    clipped.n1 = std::min(box.n1, piece.end[0]);
    clipped.y0 = std::max(box.y0, piece.begin[1]);
    clipped.y1 = std::min(box.y1, piece.end[1]);
    if (clipped.n0 >= clipped.n1 || clipped.y0 >= clipped.y1) return {};
    return clipped;
}

}  // namespace

std::unique_ptr<MoveLayer> make_move(const Ref& output, int element_bytes)
{
    auto move = std::make_unique<MoveLayer>();
    move->output = output;
    move->element_bytes = element_bytes;
    return move;
}

// Steps along images are 1, so that the needed images are adjacent.
Box MoveLayer::needs(int input, const Box& box) const
{
    Piece wanted;
    wanted.input = input;
    const auto is_before = [](const Piece& a, const Piece& b) { return a.input < b.input; };
    const auto own = std::equal_range(pieces.begin(), pieces.end(), wanted, is_before);
    Box needed;
    for (auto piece_at = own.first; piece_at != own.second; ++piece_at) {
        const Piece& piece = *piece_at;
        const Box part = clip(piece, box);
        if (part.rows() == 0) continue;
        const int ends[] = {piece.source(1, part.y0), piece.source(1, part.y1 - 1)};
        const Box rows = {piece.source(0, part.n0), piece.source(0, part.n1 - 1) + 1,
                          std::min(ends[0], ends[1]), std::max(ends[0], ends[1]) + 1};
        if (needed.rows() == 0) needed = rows;
        needed = {std::min(needed.n0, rows.n0), std::max(needed.n1, rows.n1),
                  std::min(needed.y0, rows.y0), std::max(needed.y1, rows.y1)};
    }
    return needed;
}

void MoveLayer::emit_piece(Emitter& emitter, const Work& work, const Piece& piece, Box box) const
{
    const Place& input = work.inputs[static_cast<size_t>(piece.input)];
    const Place& result = work.output;
    const int columns = piece.end[2] - piece.begin[2];
    Instruction copy;
    copy.opcode = Opcode::kCopy;
    copy.length = static_cast<uint32_t>((piece.end[3] - piece.begin[3]) * element_bytes);
    const auto emit = [&](int row, int column, const std::vector<Loop>& loops) {
        copy.a.address = static_cast<uint32_t>(
            input.at(piece.source(0, box.n0), piece.source(1, row), piece.source(2, column)) +
            int64_t{piece.from[3]} * element_bytes);
        copy.d.address = static_cast<uint32_t>(result.at(box.n0, row, column) +
                                               int64_t{piece.begin[3]} * element_bytes);
        emitter.add_elements(copy, loops, 1);
    };
    const Loop images = {box.images(), {input.image, 0, result.image}};
    if (piece.repeat[1] == 1 && piece.repeat[2] == 1) {
        emit(box.y0, piece.begin[2],
             {images,
              {box.rows(), {input.row * piece.step[1], 0, result.row}},
              {columns, {input.pixel * piece.step[2], 0, result.pixel}}});
        return;
    }
    for (int row = box.y0; row < box.y1; ++row)
        for (int turn = 0; turn < piece.repeat[2]; ++turn)
            emit(row, piece.begin[2] + turn,
                 {images,
                  {columns / piece.repeat[2],
                   {input.pixel * piece.step[2], 0, result.pixel * piece.repeat[2]}}});
}

void MoveLayer::emit(Emitter& emitter, const Work& work)
{
    if (fills)
        emitter.fill(static_cast<uint32_t>(work.output.at(work.box.n0, work.box.y0, 0)),
                     {{work.box.images(), {0, 0, work.output.image}},
                      {work.box.rows(), {0, 0, work.output.row}}},
                     int64_t{output.shape.w} * output.shape.c * element_bytes, fill);
    for (const Piece& piece : pieces) {
        const Box box = clip(piece, work.box);
        if (box.rows() > 0) emit_piece(emitter, work, piece, box);
    }
}

// A loop merges with the loop around it where its end is the next step of the other.
int64_t ReorderLayer::simplify()
{
    std::vector<Axis> merged;
    for (const Axis& axis : axes) {
        if (axis.count == 1) continue;
        if (!merged.empty() && merged.back().from == axis.count * axis.from &&
            merged.back().to == axis.count * axis.to)
            merged.back() = {merged.back().count * axis.count, axis.from, axis.to};
        else
            merged.push_back(axis);
    }
    axes = merged;
    const size_t innermost = !axes.empty() && axes.back().from == 1 && axes.back().to == 1;
    int64_t instructions = 1;
    for (size_t i = 0; i + 2 + innermost < axes.size(); ++i)
        instructions *= axes[i].count;
    return instructions;
}

Box ReorderLayer::needs(int, const Box&) const
{
    const Shape& shape = inputs[0].shape;
    return {0, shape.n, 0, shape.h};
}

void ReorderLayer::emit(Emitter& emitter, const Work& work)
{
    Instruction copy;
    copy.opcode = Opcode::kCopy;
    copy.length = static_cast<uint32_t>(element_bytes);
    copy.a.address = static_cast<uint32_t>(work.inputs[0].at(0, 0, 0));
    copy.d.address = static_cast<uint32_t>(work.output.at(0, 0, 0));
    std::vector<Loop> loops;
    for (const Axis& axis : axes)
        loops.push_back({axis.count, {axis.from * element_bytes, 0, axis.to * element_bytes}});
    emitter.add_elements(copy, loops, 1);
}

}  // namespace tengine::tpu
