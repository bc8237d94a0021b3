// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/element_layer.h"

#include "device/tpu/compiler/emitter.h"

namespace tengine::tpu {
namespace {

constexpr uint16_t kOne = 0x3f80;  // bf16

bool is_vector(const Shape& shape)
{
    return shape.n == 1 && shape.h == 1 && shape.w == 1;
}

// The pitch of a loop over `count` elements; 0 for an input that has only one.
int64_t pitch_of(int64_t pitch, int count)
{
    return count == 1 ? 0 : pitch;
}

std::vector<Loop> loops_over(const Box& box, int width)
{
    return {{box.images(), {}}, {box.rows(), {}}, {width, {}}};
}

void set_operand(std::vector<Loop>* loops, size_t operand, const Place& place, const Shape& shape)
{
    (*loops)[0].pitch[operand] = pitch_of(place.image, shape.n);
    (*loops)[1].pitch[operand] = pitch_of(place.row, shape.h);
    (*loops)[2].pitch[operand] = pitch_of(place.pixel, shape.w);
}

uint32_t address_of(const Place& place, const Shape& shape, const Box& box)
{
    return static_cast<uint32_t>(place.at(shape.n == 1 ? 0 : box.n0, shape.h == 1 ? 0 : box.y0, 0));
}

}  // namespace

bool PairLayer::can_flatten() const
{
    for (const Ref& input : inputs)
        if (input.shape != output.shape && !is_vector(input.shape)) return false;
    return true;
}

bool PairLayer::can_follow(int input) const
{
    return inputs[static_cast<size_t>(input)].shape == output.shape;
}

void PairLayer::emit(Emitter& emitter, const Work& work)
{
    Instruction made = operation;
    made.length = static_cast<uint32_t>(output.shape.c);
    made.a.address = address_of(work.inputs[0], inputs[0].shape, work.box);
    made.b.address = address_of(work.inputs[1], inputs[1].shape, work.box);
    made.d.address = address_of(work.output, output.shape, work.box);
    std::vector<Loop> loops = loops_over(work.box, output.shape.w);
    set_operand(&loops, 0, work.inputs[0], inputs[0].shape);
    set_operand(&loops, 1, work.inputs[1], inputs[1].shape);
    set_operand(&loops, 2, work.output, output.shape);
    emitter.add_elements(made, loops, element_bytes);
}

std::vector<uint64_t> LookupLayer::pack(Emitter& emitter)
{
    return {emitter.add_constant(table.data(), table.size())};
}

void LookupLayer::emit(Emitter& emitter, const Work& work)
{
    Instruction made;
    made.opcode = Opcode::kLookup;
    made.table = work.blobs[0];
    made.length = static_cast<uint32_t>(output.shape.c);
    made.a.address = address_of(work.inputs[0], output.shape, work.box);
    made.d.address = address_of(work.output, output.shape, work.box);
    std::vector<Loop> loops = loops_over(work.box, output.shape.w);
    set_operand(&loops, 0, work.inputs[0], output.shape);
    set_operand(&loops, 2, work.output, output.shape);
    emitter.add_elements(made, loops, element_bytes);
}

std::vector<size_t> ClampLayer::blobs() const
{
    return {static_cast<size_t>(output.shape.c) * sizeof(kOne)};
}

std::vector<uint64_t> ClampLayer::pack(Emitter& emitter)
{
    const std::vector<uint16_t> ones(static_cast<size_t>(output.shape.c), kOne);
    return {emitter.add_constant(ones.data(), ones.size() * sizeof(kOne))};
}

void ClampLayer::emit(Emitter& emitter, const Work& work)
{
    Instruction made;
    made.opcode = Opcode::kMultiply;
    made.flags = kFloat;
    made.low_real = low;
    made.high_real = high;
    made.length = static_cast<uint32_t>(output.shape.c);
    made.a.address = address_of(work.inputs[0], output.shape, work.box);
    made.b.address = work.blobs[0];
    made.d.address = address_of(work.output, output.shape, work.box);
    std::vector<Loop> loops = loops_over(work.box, output.shape.w);
    set_operand(&loops, 0, work.inputs[0], output.shape);
    set_operand(&loops, 2, work.output, output.shape);
    emitter.add_grids(made, loops);
}

}  // namespace tengine::tpu
