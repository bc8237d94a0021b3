// SPDX-License-Identifier: Apache-2.0
// DeformConv, Col2Im and AffineGrid: cases the suite leaves out, and refusals.
#include "node_case.h"

namespace tengine::test {
namespace {

using cpu::Half;
using Dims = std::vector<int>;
using Floats = std::vector<float>;

// One axis: taps of a signal 1, 2, 4, 8 with offsets of half an element.
TEST(DeformConv, ReadsBetweenElements)
{
    NodeCase made("DeformConv");
    made.values<Half>({1, 1, 4}, {1, 2, 4, 8}).values<Half>({1, 1, 1}, {2});
    made.values<Half>({1, 1, 4}, {0.5f, -1, 9, 0.5f}).values<Half>({1}, {1});
    made.values<Half>({1, 1, 4}, {1, 1, 1, 0.5f}).expect({4, 3, 1, 5}, 0);
}

// Without offsets it is a convolution; each group of input channels has a weight of its own.
TEST(DeformConv, HasGroups)
{
    NodeCase made("DeformConv");
    made.values<float>({1, 2, 1, 3}, {1, 2, 3, 10, 20, 30});
    made.values<float>({2, 1, 1, 2}, {1, 2, 3, 4});
    made.values<float>({1, 4, 1, 2}, Floats(8, 0)).number("group", 2);
    made.expect({5, 8, 110, 180}, 0);
}

TEST(DeformConv, RefusesWhatDoesNotFit)
{
    const auto expect = [](const Dims& input, const Dims& weight, const Dims& offset,
                           const Dims& mask, int group, int offset_group, const char* part) {
        NodeCase made("DeformConv");
        made.pattern(input, 1).pattern(weight, 2).pattern(offset, 3).absent().pattern(mask, 4);
        made.number("group", group).number("offset_group", offset_group);
        made.expect_failure(TENGINE_EINVAL, part);
    };
    const Dims x = {1, 2, 3, 3}, w = {2, 2, 2, 2}, offset = {1, 8, 2, 2}, mask = {1, 4, 2, 2};
    expect({1, 2, 3}, w, offset, mask, 1, 1, "input has rank 3 and weight rank 4");
    expect(x, w, offset, mask, 2, 1,
           "weight has 2 output channels and 2 input channels, input has");
    expect(x, w, offset, mask, 1, 3, "2 input channels do not divide into 3 groups of offsets");
    expect(x, w, {1, 4, 2, 2}, mask, 1, 1, "offset 'i2' has rank 4 and 16 values, expected 1 bat");
    expect(x, w, offset, {1, 4, 2, 1}, 1, 1, "mask 'i4' has rank 4 and 8 values, expected 1 bat");
    NodeCase bias("DeformConv");
    bias.pattern(x, 1).pattern(w, 2).pattern(offset, 3).pattern({3}, 4).expect_failure(
        TENGINE_EINVAL, "bias has rank 1 and 3 values, expected a list of 2");
}

NodeCase make_col2im(const Dims& input, const std::vector<int64_t>& image,
                     const std::vector<int64_t>& block)
{
    NodeCase made("Col2Im");
    made.values(input, std::vector<int32_t>(static_cast<size_t>(input[1] * input[2]), 1));
    made.values({static_cast<int>(image.size())}, image);
    made.values({static_cast<int>(block.size())}, block);
    return made;
}

TEST(Col2Im, AddsWhatOverlaps)
{
    NodeCase made = make_col2im({1, 2, 3}, {4}, {2});
    EXPECT_EQ(values_of<int32_t>(made.evaluate()), (std::vector<int32_t>{1, 2, 2, 1}));
}

TEST(Col2Im, RefusesWhatDoesNotFit)
{
    make_col2im({1, 2, 3}, {4}, {2, 1})
        .expect_failure(TENGINE_EINVAL, "image_shape has 1 values and block_shape 2");
    make_col2im({1, 2, 3}, {4}, {0})
        .expect_failure(TENGINE_EINVAL, "along axis 0 the image has 4 elements and the block 0");
    make_col2im({1, 2, 3}, {4}, {5})
        .expect_failure(TENGINE_EINVAL,
                        "along axis 0 a block takes 5 elements, the padded image has 4");
    make_col2im({1, 3, 3}, {4}, {2})
        .expect_failure(TENGINE_EINVAL,
                        "has 3 channels and 3 windows, but blocks have 2 elements and there are 3");
    make_col2im({1, 2, 2}, {4}, {2}).expect_failure(TENGINE_EINVAL, "has 2 channels and 2 windows");
    make_col2im({1, 2, 3}, {4}, {2})
        .list("pads", {1})
        .expect_failure(TENGINE_EINVAL, "pads has 1 values, expected 2");
    make_col2im({1, 2, 3}, {4}, {2})
        .list("strides", {1, 1})
        .expect_failure(TENGINE_EINVAL, "strides has 2 values, expected 1");
    NodeCase flat("Col2Im");
    flat.pattern({2, 3}, 1).values<int64_t>({1}, {4}).values<int64_t>({1}, {2});
    flat.expect_failure(TENGINE_EINVAL, "input 'i0' has rank 2, expected 3");
}

// Pixels of a picture of one row and two columns.
TEST(AffineGrid, PlacesPixels)
{
    NodeCase made("AffineGrid");
    made.values<Half>({1, 2, 3}, {1, 0, 0.5f, 0, 2, 0.25f});
    made.values<int64_t>({4}, {1, 3, 1, 2}).expect({0, 0.25f, 1, 0.25f}, 0);
}

TEST(AffineGrid, RefusesWhatDoesNotFit)
{
    const auto expect = [](const Dims& theta, const std::vector<int64_t>& size, const char* part) {
        NodeCase made("AffineGrid");
        made.pattern(theta, 1).values({static_cast<int>(size.size())}, size);
        made.expect_failure(TENGINE_EINVAL, part);
    };
    expect({1, 2, 3}, {1, 1, 2}, "size has 3 values, expected 4 or 5");
    expect({2, 2, 3}, {1, 1, 2, 2}, "has rank 3 and 12 values, expected 1 x 2 x 3");
    expect({1, 2, 3}, {1, 1, 2, 2, 2}, "has rank 3 and 6 values, expected 1 x 3 x 4");
}

}  // namespace
}  // namespace tengine::test
