// SPDX-License-Identifier: Apache-2.0
// The instructions of a product: for each patch of the result that fits into the accumulators and
// each block of output channels, a product for each tile, then the activation.
#include <algorithm>
#include <cstring>

#include "device/tpu/compiler/emitter.h"
#include "device/tpu/compiler/product_layer.h"

namespace tengine::tpu {
namespace {

// Numbers from `first` on in `parts` of nearly the same size.
int part_begin(int first, int number, int parts, int index)
{
    return first + static_cast<int>(int64_t{number} * index / parts);
}

int parts_of(int number, int64_t limit)
{
    return static_cast<int>((number + limit - 1) / limit);
}

}  // namespace

// Whole images while they fit, else rows, else pieces of a row.
std::vector<ProductLayer::Patch> ProductLayer::make_patches(const Box& box) const
{
    const int limit = sums_limit();
    const int width = output.shape.w;
    const int64_t image = int64_t{box.rows()} * width;
    const int image_parts = parts_of(box.images(), std::max<int64_t>(1, limit / image));
    const int row_parts = parts_of(box.rows(), std::max(1, limit / width));
    const int column_parts = parts_of(width, limit);
    std::vector<Patch> patches;
    for (int n = 0; n < image_parts; ++n)
        for (int row = 0; row < row_parts; ++row)
            for (int column = 0; column < column_parts; ++column) {
                Patch patch;
                patch.box.n0 = part_begin(box.n0, box.images(), image_parts, n);
                patch.box.n1 = part_begin(box.n0, box.images(), image_parts, n + 1);
                patch.box.y0 = part_begin(box.y0, box.rows(), row_parts, row);
                patch.box.y1 = part_begin(box.y0, box.rows(), row_parts, row + 1);
                patch.x0 = part_begin(0, width, column_parts, column);
                patch.x1 = part_begin(0, width, column_parts, column + 1);
                patches.push_back(patch);
            }
    return patches;
}

void ProductLayer::emit_products(Emitter& emitter, const Work& work, const Block& block,
                                 const Patch& patch, uint32_t sums) const
{
    const Place& input = work.inputs[0];
    const int64_t columns = patch.x1 - patch.x0;
    const Step stride = work.sampled[0] ? Step{} : Step{y.stride, x.stride};
    const std::vector<Loop> loops = {
        {patch.box.images(), {input.image, 0, patch.box.rows() * columns}},
        {patch.box.rows(), {input.row * stride.y, 0, columns}},
        {columns, {input.pixel * stride.x, 0, 1}},
    };
    Instruction product;
    product.opcode = Opcode::kMatrixMultiply;
    product.columns = static_cast<uint16_t>(block.number);
    product.d.address = sums;
    const uint16_t mode = static_cast<uint16_t>(
        (is_float ? kFloat : 0) | (is_wide_ ? kWideWeights : 0) | (signed_input ? kSignedA : 0));
    bool is_first = true;
    for (const Piece& piece : block.pieces) {
        product.length = static_cast<uint32_t>(piece.length);
        product.a.address = static_cast<uint32_t>(
            input.at(patch.box.n0, patch.box.y0 * stride.y - y.pad_begin + piece.y * y.dilation,
                     patch.x0 * stride.x - x.pad_begin + piece.x * x.dilation) +
            int64_t{piece.channel} * element_bytes);
        product.flags = static_cast<uint16_t>(mode | (is_first ? 0 : kAccumulate));
        emitter.add_products(product, loops, piece.tile);
        is_first = false;
    }
}

void ProductLayer::emit_activation(Emitter& emitter, const Work& work, const Block& block,
                                   const Patch& patch, uint32_t sums,
                                   uint32_t parameter_address) const
{
    const Place& place = work.output;
    const int64_t columns = patch.x1 - patch.x0;
    const std::vector<Loop> loops = {
        {patch.box.images(), {patch.box.rows() * columns, 0, place.image}},
        {patch.box.rows(), {columns, 0, place.row}},
        {columns, {1, 0, place.pixel}},
    };
    Instruction activate;
    activate.opcode = Opcode::kActivate;
    activate.flags =
        static_cast<uint16_t>((is_float ? kFloat : 0) | (epilogue.is_signed ? kSignedD : 0) |
                              (epilogue.table.empty() ? 0 : kTable));
    activate.length = static_cast<uint32_t>(block.number);
    activate.a.address = sums;
    activate.b.address = parameter_address;
    activate.d.address = static_cast<uint32_t>(place.at(patch.box.n0, patch.box.y0, patch.x0) +
                                               int64_t{block.first} * element_bytes);
    if (!epilogue.table.empty()) activate.table = work.blobs[1];
    if (is_float) {
        activate.low_real = epilogue.low;
        activate.high_real = epilogue.high;
    } else {
        activate.zero_d = epilogue.zero;
        activate.lowest = epilogue.lowest;
        activate.highest = epilogue.highest;
    }
    emitter.add_grids(activate, loops);
}

void ProductLayer::emit_turn(Emitter& emitter, const Work& work, const Block& block,
                             const Patch& patch)
{
    const auto half = static_cast<uint32_t>(config_.accumulator_rows / 2);
    const bool alternates = patch.vectors() <= half;
    const uint32_t sums = alternates && turn_ % 2 == 1 ? half : 0;
    uint32_t at = work.blobs[0];
    if (streams_parameters_) {
        at += turn_ % 2 * static_cast<uint32_t>(config_.columns) * kParameterBytes;
        emitter.read_host(parameter_host_ + static_cast<uint64_t>(block.first) * kParameterBytes,
                          at, {}, int64_t{block.number} * kParameterBytes);
    } else {
        at += static_cast<uint32_t>(block.first) * kParameterBytes;
    }
    emit_products(emitter, work, block, patch, sums);
    emit_activation(emitter, work, block, patch, sums, at);
    ++turn_;
}

// A block of one tile keeps it for all patches; with several, each patch fetches them anyway, and
// all channels of a patch are made before the next, in the order they lie.
void ProductLayer::emit(Emitter& emitter, const Work& work)
{
    const std::vector<Patch> patches = make_patches(work.box);
    if (tiles_stay()) {
        for (const Block& block : blocks_)
            for (const Patch& patch : patches)
                emit_turn(emitter, work, block, patch);
    } else {
        for (const Patch& patch : patches)
            for (const Block& block : blocks_)
                emit_turn(emitter, work, block, patch);
    }
}

}  // namespace tengine::tpu
