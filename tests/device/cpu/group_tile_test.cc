// SPDX-License-Identifier: Apache-2.0
// The tiles of group_tile.h that this processor has instructions for, of every height and width,
// against plain sums. Input and weights end at the end of their memory: the address sanitizer
// detects reads beyond it.
#include "device/cpu/kernel/product/tile/group_tile.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/runnable.h"

namespace tengine::cpu {
namespace {

struct NamedFormat
{
    const char* word;  // of runnable.h
    const TileFormat* format;
};

const NamedFormat kFormats[] = {
    {"avx512_vnni", &avx512_vnni_format}, {"avx_vnni", &avx_vnni_format}, {"i8mm", &i8mm_format},
    {"i8mm", &i8mm_unsigned_format},      {"dotprod", &dotprod_format},
};

bool runs(const NamedFormat& named)
{
    for (const SpecialInstructions& special : list_special_instructions())
        if (special.runs && std::string(special.word) == named.word) return true;
    return false;
}

// Rows of several K segments of these lengths, one after the other, and their products.
class Product
{
  public:
    Product(const TileFormat& format, int64_t rows, bool is_wide, bool flips, int64_t length)
        : format_(format), columns_(is_wide ? format.columns : format.columns / 2)
    {
        std::mt19937 random(static_cast<unsigned>(length));
        const int64_t group = format.group, left = length % group;
        const int64_t groups = length / group + (left > 0);
        std::vector<char> input(static_cast<size_t>(rows * kSegments * length));
        for (char& byte : input)
            byte = static_cast<char>(random());
        std::vector<char> weights(static_cast<size_t>(kSegments * groups * columns_ * group));
        std::vector<int32_t> start(static_cast<size_t>(columns_));
        for (int32_t& value : start)
            value = static_cast<int32_t>(random() % 100000) - 50000;
        for (int64_t row = 0; row < rows; ++row)
            expected_.insert(expected_.end(), start.begin(), start.end());
        const int64_t segments[kSegments] = {0, length};

        for (int64_t i = 0; i < kSegments * length; ++i) {
            const int64_t at = i % length;
            const bool is_last = left > 0 && at >= length - left;
            const int64_t place = is_last ? at - (length - group) : at % group;
            const int64_t from = i / length * groups + at / group;
            for (int64_t column = 0; column < columns_; ++column) {
                const auto weight = static_cast<int8_t>(random());
                weights[static_cast<size_t>((from * columns_ + column) * group + place)] = weight;
                for (int64_t row = 0; row < rows; ++row) {
                    const char byte = input[static_cast<size_t>(row * kSegments * length + i)];
                    expected_[static_cast<size_t>(row * columns_ + column)] +=
                        value_of(byte, flips) * weight;
                }
            }
        }
        GroupTile tile = {};
        tile.input = input.data();
        tile.input_step = kSegments * length;
        tile.segments = segments;
        tile.segment_num = kSegments;
        tile.groups = length / group;
        tile.last_shift = left > 0 ? left - group : 0;
        tile.flip = flips ? 0x80808080u : 0;
        tile.is_wide = is_wide;
        tile.start = start.data();
        tile.weights = weights.data();
        sums_.resize(expected_.size());
        tile.sums = sums_.data();
        format.multiply(tile, rows);
    }

    const std::vector<int32_t>& sums() const { return sums_; }
    const std::vector<int32_t>& expected() const { return expected_; }

  private:
    static constexpr int64_t kSegments = 2;

    int32_t value_of(char byte, bool flips) const
    {
        const auto bits = static_cast<uint8_t>(byte ^ (flips ? 0x80 : 0));
        return format_.is_unsigned ? bits : static_cast<int8_t>(bits);
    }

    const TileFormat& format_;
    const int64_t columns_;
    std::vector<int32_t> sums_, expected_;
};

// i8mm has a format for each signedness, and flips no bit.
bool may_flip(const NamedFormat& named)
{
    return std::string(named.word) != "i8mm";
}

TEST(GroupTile, IsThePlainSum)
{
    bool any = false;
    for (const NamedFormat& named : kFormats) {
        if (!runs(named)) continue;
        any = true;
        const TileFormat& format = *named.format;
        for (int64_t rows = 1; rows <= format.most_rows; ++rows)
            for (const bool is_wide : {false, true})
                for (const bool flips : {false, true})
                    for (int64_t length = format.group; length < 40; ++length) {
                        if (flips && !may_flip(named)) continue;
                        const Product product(format, rows, is_wide, flips, length);
                        ASSERT_EQ(product.sums(), product.expected())
                            << named.word << ": " << rows << " rows, wide " << is_wide << ", flips "
                            << flips << ", " << length << " bytes";
                    }
    }
    if (!any) GTEST_SKIP() << "this processor has no instructions for bytes";
}

}  // namespace
}  // namespace tengine::cpu
