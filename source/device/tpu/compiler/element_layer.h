// SPDX-License-Identifier: Apache-2.0
// Elementwise layers: sums and products of two values, look-ups in a table, clamps.
#pragma once

#include "device/tpu/compiler/layer.h"
#include "device/tpu/machine/isa.h"

namespace tengine::tpu {

// An input without images, rows or columns of its own is one vector for all.
class PairLayer : public Layer
{
  public:
    // Opcode, flags and numbers; grid and addresses are set later.
    Instruction operation;

    bool can_flatten() const override;
    bool can_follow(int input) const override;
    void emit(Emitter& emitter, const Work& work) override;
};

class LookupLayer : public Layer
{
  public:
    std::vector<uint8_t> table;

    bool can_flatten() const override { return true; }
    bool can_follow(int) const override { return true; }
    std::vector<size_t> blobs() const override { return {table.size()}; }
    std::vector<uint64_t> pack(Emitter& emitter) override;
    void emit(Emitter& emitter, const Work& work) override;
};

// bf16 clamped to a range, as a product with one.
class ClampLayer : public Layer
{
  public:
    float low = 0, high = 0;

    bool can_flatten() const override { return true; }
    bool can_follow(int) const override { return true; }
    std::vector<size_t> blobs() const override;
    std::vector<uint64_t> pack(Emitter& emitter) override;
    void emit(Emitter& emitter, const Work& work) override;
};

}  // namespace tengine::tpu
