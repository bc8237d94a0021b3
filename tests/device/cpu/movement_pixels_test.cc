// SPDX-License-Identifier: Apache-2.0
// Kernels that move or mix elements of NHWC tensors against the reference, bit by bit.
#include <gtest/gtest.h>

#include "device/cpu/byte_node.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

constexpr int kTypes[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};

void set_text(ByteNode& node, const char* name, const std::string& value)
{
    EXPECT_EQ(set_node_text(node.node(), name, value.c_str(), value.size()), TENGINE_OK);
}

TEST(MovementPixels, DepthToSpace)
{
    for (const int block : {1, 2, 3})
        for (const int channels : {1, 5, 40})
            for (const char* mode : {"DCR", "CRD"}) {
                ByteNode node;
                node.bytes("x", {2, channels * block * block, 3, 4}, TENGINE_DT_INT8);
                node.make("DepthToSpace", {"x"});
                node.set("blocksize", block);
                set_text(node, "mode", mode);
                node.infer();
                node.compare("depth_to_space.x.nhwc", {1, 3});
            }
}

TEST(MovementPixels, Slice)
{
    ByteNode node;
    node.bytes("x", {3, 20, 9, 8}, TENGINE_DT_UINT8);
    node.builder().ints("starts", {1, 7, -1});
    node.builder().ints("ends", {20, -6, 2});
    node.builder().ints("axes", {2, 3, 1});
    node.builder().ints("steps", {2, -1, -3});
    node.make("Slice", {"x", "starts", "ends", "axes", "steps"});
    node.infer();
    node.compare("slice.x.nhwc", {1, 3});
}

void resize(const char* expected, const std::string& mode, const std::vector<int>& shape,
            const std::vector<float>& scales, int type, const char* coordinates)
{
    SCOPED_TRACE(testing::PrintToString(shape) + mode + coordinates);
    ByteNode node;
    node.bytes("x", shape, type);
    node.floats("scales", {static_cast<int>(scales.size())}, scales);
    node.make("Resize", {"x", "", "scales"});
    set_text(node, "mode", mode);
    set_text(node, "coordinate_transformation_mode", coordinates);
    node.infer();
    node.compare(expected, {1, 3});
}

// Channels around the lengths of vectors.
TEST(MovementPixels, Resize)
{
    for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"})
        for (const int channels : {1, 3, 8, 17, 36})
            for (const std::vector<float>& scales : std::vector<std::vector<float>>{
                     {1, 1, 2, 2}, {1, 1, 1, 2.7f}, {1, 1, 3, 1}, {1, 1, 0.4f, 0.7f}})
                for (const int type : kTypes) {
                    const std::vector<int> shape = {2, channels, 5, 6};
                    resize("resize.x.nearest_nhwc", "nearest", shape, scales, type, coordinates);
                    resize("resize.s8.linear_nhwc", "linear", shape, scales, type, coordinates);
                }
}

TEST(MovementPixels, OtherResizesAreLeftToTheReference)
{
    const int type = TENGINE_DT_INT8;
    resize("reference.nearest", "nearest", {2, 3, 5, 6}, {1, 2, 2, 2}, type, "half_pixel");
    resize("reference.bytes", "linear", {3, 5, 6}, {2, 1, 2}, type, "half_pixel");
    resize("reference.bytes", "linear", {2, 3, 5, 6}, {1, 2, 2, 1}, type, "half_pixel");
    resize("reference", "linear", {2, 3, 5, 6}, {1, 2, 2, 2}, type, "half_pixel");
    resize("reference", "cubic", {2, 3, 5, 6}, {1, 1, 2, 2}, type, "half_pixel");
}

}  // namespace
}  // namespace tengine::test
