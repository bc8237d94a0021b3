// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax with vectors against the reference, bit by bit.
#include <cstring>
#include <gtest/gtest.h>

#include "device/cpu/byte_node.h"

namespace tengine::test {
namespace {

constexpr int kTypes[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};

class SoftmaxNode : public ByteNode
{
  public:
    SoftmaxNode(const std::vector<int>& shape, int x_type, int y_type, float x_scale, float y_scale,
                int axis = -1)
    {
        bytes("x", shape, x_type);
        bytes("x_zero", {}, x_type);
        bytes("y_zero", {}, y_type);
        floats("x_scale", {}, {x_scale});
        floats("y_scale", {}, {y_scale});
        make("com.microsoft.QLinearSoftmax", {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
        set("opset", 13);
        set("axis", axis);
        infer();
    }
};

// Rows around the lengths of vectors, and around the length from which on results are a table.
TEST(Int8Softmax, HasTheBytesOfTheReference)
{
    for (const int n : {1, 2, 7, 31, 32, 33, 63, 64, 130, 1000})
        for (const int x_type : kTypes)
            for (const int y_type : kTypes)
                for (const float scale : {0.0f, 0.02f, 0.3f}) {
                    SCOPED_TRACE(n);
                    SoftmaxNode node({2, 3, n}, x_type, y_type, scale, 1.0f / 256);
                    node.compare("softmax.s8.table", {1, 3});
                }
}

// Rows of equal elements, with the largest sums; results that are all 0, or beyond the 8-bit range.
TEST(Int8Softmax, TakesExtremes)
{
    for (const int type : kTypes)
        for (const float scale : {1e-38f, 1e-7f, 1.0f, 1e38f})
            for (const uint8_t byte : {0, 127, 128, 255}) {
                SoftmaxNode node({3, 300}, type, type, 0.1f, scale);
                std::memset(node.find("x")->data, byte, 900);
                node.compare("softmax.s8.table", {1});
            }
}

TEST(Int8Softmax, LeavesOtherAxesToTheReference)
{
    SoftmaxNode node({2, 3, 4}, TENGINE_DT_INT8, TENGINE_DT_INT8, 0.1f, 0.1f, 1);
    node.compare("reference");
}

}  // namespace
}  // namespace tengine::test
