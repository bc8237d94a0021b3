// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/simulator/machine_matrix.h"

#include <algorithm>

#include "device/tpu/simulator/machine_product.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// Vectors that are gathered for one call of a kernel: with 256 rows they still fit in L1.
constexpr int64_t kVectorBlock = 32;

// Calls function(offset in the buffer) for vectors [begin, end) of a grid, counted row by row.
template <class Function>
void for_vectors(const Instruction& in, int64_t begin, int64_t end, Function function)
{
    unsigned o = static_cast<unsigned>(begin / in.inner);
    unsigned i = static_cast<unsigned>(begin % in.inner);
    for (int64_t v = begin; v < end; ++v) {
        function(vector_offset(in.a, o, i));
        if (++i == in.inner) {
            i = 0;
            ++o;
        }
    }
}

// Converts `length` elements to 16-bit integers.
void widen_vector(const uint8_t* from, int64_t length, uint16_t flags, int16_t* to)
{
    if (flags & kWideA) {
        for (int64_t k = 0; k < length; ++k)
            to[k] = static_cast<int16_t>(load_16(from + 2 * k));
    } else if (flags & kSignedA) {
        for (int64_t k = 0; k < length; ++k)
            to[k] = static_cast<int8_t>(from[k]);
    } else {
        for (int64_t k = 0; k < length; ++k)
            to[k] = from[k];
    }
}

}  // namespace

MatrixUnit::MatrixUnit(const Config& config) : rows_(config.rows), columns_(config.columns)
{
    const int64_t even_rows = (rows_ + 1) / 2 * 2;
    const auto size = [](int64_t elements, size_t bytes) {
        return static_cast<size_t>(elements) + kProductSlack / bytes;
    };
    integer_tile_.resize(size(even_rows * columns_, sizeof(int16_t)));
    integer_vectors_.resize(static_cast<size_t>(kVectorBlock * even_rows));
    float_tile_.resize(size(rows_ * columns_, sizeof(float)));
    float_vectors_.resize(static_cast<size_t>(kVectorBlock * rows_));
}

void MatrixUnit::reset(const uint8_t* weights)
{
    weights_ = weights;
    fifo_.clear();
    next_ = 0;
    tile_ = {nullptr, false};
}

void MatrixUnit::read_weights(const Instruction& in)
{
    const bool is_wide = (in.flags & kWideWeights) != 0;
    const int64_t bytes = rows_ * columns_ * (is_wide ? 2 : 1);
    const uint8_t* tile = weights_ + in.host_address;
    for (unsigned i = 0; i < in.tiles; ++i, tile += bytes)
        fifo_.push_back({tile, is_wide});
}

// Interleaves pairs of rows; an odd last row gets a partner of zeros.
void MatrixUnit::load_integer_tile()
{
    for (int64_t k = 0; k < rows_; ++k) {
        int16_t* to = integer_tile_.data() + k / 2 * columns_ * 2 + k % 2;
        const uint8_t* from = tile_.data + k * columns_ * (tile_.is_wide ? 2 : 1);
        if (tile_.is_wide) {
            for (int64_t c = 0; c < columns_; ++c)
                to[2 * c] = static_cast<int16_t>(load_16(from + 2 * c));
        } else {
            for (int64_t c = 0; c < columns_; ++c)
                to[2 * c] = static_cast<int8_t>(from[c]);
        }
    }
    has_integer_tile_ = true;
}

void MatrixUnit::load_float_tile()
{
    for (int64_t e = 0; e < rows_ * columns_; ++e)
        float_tile_[static_cast<size_t>(e)] = load_bf16(tile_.data + 2 * e);
    has_float_tile_ = true;
}

void MatrixUnit::multiply_integers(const Instruction& in, MachineMemory* memory)
{
    if (!has_integer_tile_) load_integer_tile();
    const int64_t number = int64_t{in.outer} * in.inner, length = in.length;
    const int64_t pairs = (length + 1) / 2;
    for (int64_t begin = 0; begin < number; begin += kVectorBlock) {
        const int64_t end = std::min(begin + kVectorBlock, number);
        int16_t* to = integer_vectors_.data();
        for_vectors(in, begin, end, [&](uint64_t offset) {
            widen_vector(memory->buffer.data() + offset, length, in.flags, to);
            if (length % 2 != 0) to[length] = 0;
            to += 2 * pairs;
        });
        int32_t* sums = memory->sums.data() + (in.d.address + begin) * columns_;
        tpu::multiply_integers({end - begin, pairs, in.columns, integer_vectors_.data(),
                                integer_tile_.data(), columns_, sums, columns_,
                                (in.flags & kAccumulate) != 0});
    }
}

void MatrixUnit::multiply_floats(const Instruction& in, MachineMemory* memory)
{
    if (!has_float_tile_) load_float_tile();
    const int64_t number = int64_t{in.outer} * in.inner, length = in.length;
    for (int64_t begin = 0; begin < number; begin += kVectorBlock) {
        const int64_t end = std::min(begin + kVectorBlock, number);
        float* to = float_vectors_.data();
        for_vectors(in, begin, end, [&](uint64_t offset) {
            const uint8_t* from = memory->buffer.data() + offset;
            for (int64_t k = 0; k < length; ++k)
                *to++ = load_bf16(from + 2 * k);
        });
        int32_t* sums = memory->sums.data() + (in.d.address + begin) * columns_;
        tpu::multiply_floats({end - begin, length, in.columns, float_vectors_.data(),
                              float_tile_.data(), columns_, sums, columns_,
                              (in.flags & kAccumulate) != 0});
    }
}

int MatrixUnit::multiply(const Instruction& in, MachineMemory* memory)
{
    if (in.flags & kNextTile) {
        if (next_ == fifo_.size())
            return tengine_error_set(TENGINE_EDEVICE, "the weight FIFO has no tile for a product");
        tile_ = fifo_[next_++];
        has_integer_tile_ = has_float_tile_ = false;
    }
    const bool is_float = (in.flags & kFloat) != 0;
    if (!tile_.data || (is_float && !tile_.is_wide))
        return tengine_error_set(TENGINE_EDEVICE, "the array has no %stile for a product",
                                 is_float ? "bf16 " : "");
    if (is_float) {
        multiply_floats(in, memory);
    } else {
        multiply_integers(in, memory);
    }
    return TENGINE_OK;
}

size_t MatrixUnit::memory_bytes() const
{
    return (integer_tile_.capacity() + integer_vectors_.capacity()) * sizeof(int16_t) +
           (float_tile_.capacity() + float_vectors_.capacity()) * sizeof(float);
}

}  // namespace tengine::tpu
