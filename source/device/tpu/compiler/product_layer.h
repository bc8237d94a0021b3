// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products on the array. A vector of the result is a sum of products of
// runs of the input with tiles of weights: the kernel's columns and channels lie one after the
// other for each row of the window, so that a run may reach over several of them. Output channels
// are made in blocks as wide as the array. Tiles that groups make zero throughout are left out, so
// a depthwise convolution has one tile for each tap and uses only the tile's diagonal.
#pragma once

#include <vector>

#include "base/sha256.h"
#include "device/tpu/compiler/layer.h"
#include "device/tpu/machine/config.h"
#include "device/tpu/machine/isa.h"
#include "operator/onnx/window.h"

namespace tengine::tpu {

// The weights where the graph has them. Strides count elements.
struct WeightSource
{
    const void* data = nullptr;
    int data_type = 0;
    // Whether the weights have one address in all preparations. A constant with memory of its own
    // belongs to the part, and its address may be reused.
    bool stays = false;
    int64_t stride_output = 0, stride_y = 0, stride_x = 0, stride_c = 0;
    std::vector<int> zero_points;  // one, or one for each output channel

    // bf16 as bits; channel `c` counts within the group.
    int at(int output, int y, int x, int c) const;
};

// The epilogue of accumulators. Bytes for integers, `low` and `high` for bf16.
struct Epilogue
{
    uint8_t zero = 0, lowest = 0, highest = 0;
    bool is_signed = false;
    std::vector<uint8_t> table;  // 256 bytes, or empty
    float low = 0, high = 0;
};

class ProductLayer : public Layer
{
  public:
    explicit ProductLayer(const Config& config) : config_(config) {}

    window_axis y = {1, 1, 1, 1, 1, 0, 0}, x = {1, 1, 1, 1, 1, 0, 0};
    int group = 1;
    WeightSource weights;
    bool is_float = false;
    bool signed_input = false;
    uint8_t input_zero = 0;
    std::vector<Parameter> parameters;  // bias without the share of the input's zero point
    Epilogue epilogue;

    // To be called when all members above are set.
    void set_up();

    Box needs(int input, const Box& box) const override;
    Frame frame(int input) const override;
    uint8_t frame_value(int) const override { return input_zero; }
    Step step(int input) const override;
    bool can_flatten() const override;
    std::vector<size_t> blobs() const override;
    int rows_at_once() const override;
    void reduce_blobs() override { streams_parameters_ = true; }
    std::vector<uint64_t> pack(Emitter& emitter) override;
    void emit(Emitter& emitter, const Work& work) override;

    // Hashes everything that tiles and sums depend on, which does not include the size of images.
    void describe_tiles(sha256_t* hash) const;
    // Places the tiles from `*end` on in weight memory, and moves `*end` past them.
    void place_tiles(uint64_t* end);
    void write_tiles(uint8_t* weight_memory) const;
    // The number of sums over the weights of each output channel, 0 if the input's zero point needs
    // none.
    size_t sum_number() const;
    void write_sums(int32_t* sums) const;
    // Adds the compensation: the array computes sums of x * w; the operator has (x - zero) * w = x
    // * w - zero * w.
    void apply_sums(const int32_t* sums);

    int64_t tile_number() const;
    bool is_wide() const { return is_wide_; }

  private:
    // A contiguous range of the input and its tile.
    struct Piece
    {
        int y, x;     // the tap of the window where the range begins
        int channel;  // its first channel
        int length;   // elements; they may extend over following columns
        uint64_t tile = 0;
    };
    // Output channels that are computed together.
    struct Block
    {
        int first, number;
        std::vector<Piece> pieces;
    };

    // A part of the result that fits into the accumulators.
    struct Patch
    {
        Box box;
        int x0, x1;
        int64_t vectors() const { return int64_t{box.images()} * box.rows() * (x1 - x0); }
    };

    void make_block(int first, int number);
    void find_width();
    int sums_limit() const;
    std::vector<Patch> make_patches(const Box& box) const;
    void write_tile(const Block& block, const Piece& piece, uint8_t* tile) const;
    void emit_products(Emitter& emitter, const Work& work, const Block& block, const Patch& patch,
                       uint32_t sums) const;
    void emit_activation(Emitter& emitter, const Work& work, const Block& block, const Patch& patch,
                         uint32_t sums, uint32_t parameter_address) const;

    void emit_turn(Emitter& emitter, const Work& work, const Block& block, const Patch& patch);
    // Whether each block has one tile, which is used for all patches.
    bool tiles_stay() const { return tile_number() == static_cast<int64_t>(blocks_.size()); }

    const Config& config_;
    bool is_wide_ = false;
    bool streams_parameters_ = false;
    std::vector<Block> blocks_;
    uint64_t parameter_host_ = 0;
    uint32_t turn_ = 0;  // alternates halves of the accumulators and places of the parameters
};

}  // namespace tengine::tpu
