// SPDX-License-Identifier: Apache-2.0
// The fast kernels of QLinearAdd and QLinearMul against the reference, bit by bit, for all pairs of
// bytes. The cases of the table are in quantized_case_test.cc.
#include <gtest/gtest.h>

#include "device/cpu/byte_node.h"

namespace tengine::test {
namespace {

struct Scales
{
    float a, b, y;
};

// Ties at every second sum, factors around 1 and in different ranges, one beyond int32's, terms
// that cancel, only results of 0, factors that round to 2^31 and to 0.
const std::vector<Scales> kScales = {
    {0.02f, 0.031f, 0.04f}, {0.5f, 0.25f, 1},        {1, 1, 2},          {1, 0.5f, 1},
    {0.25f, 0.125f, 64},    {3, 0.004f, 1},          {30000, 69000, 1},  {1e4f, 1e3f, 1e-2f},
    {1e-20f, 1e-12f, 1},    {0.99999994f, 0.9f, 1},  {1e-3f, 1e-3f, 50}, {1, 1e-30f, 1},
    {1, 0.5f, 65536},       {1, 1.0f / 2048, 65536}, {0, 0.5f, 1},
};

struct Shapes
{
    std::vector<int> a, b;
};

class BinaryNode : public ByteNode
{
  public:
    BinaryNode(const std::string& op, const Shapes& shapes, int a_type, int b_type,
               int y_type = TENGINE_DT_UINT8)
    {
        bytes("a", shapes.a, a_type);
        bytes("b", shapes.b, b_type);
        bytes("a_zero", {}, a_type);
        bytes("b_zero", {}, b_type);
        bytes("y_zero", {}, y_type);
        for (const char* name : {"a_scale", "b_scale", "y_scale"})
            floats(name, {}, {1});
        make("com.microsoft." + op,
             {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
        infer();
    }

    void scale(const Scales& scales)
    {
        *find("a_scale")->f32 = scales.a;
        *find("b_scale")->f32 = scales.b;
        *find("y_scale")->f32 = scales.y;
    }

    // Sets a[i][j] = i, b[i][j] = j; or b[j] = j.
    void fill_with_pairs()
    {
        for (int i = 0; i < 256 * 256; ++i)
            find("a")->u8[i] = static_cast<uint8_t>(i / 256);
        for (int64_t i = 0; i < find("b")->elem_num; ++i)
            find("b")->u8[i] = static_cast<uint8_t>(i);
    }
};

class QLinearBinaryTest : public testing::TestWithParam<const char*>
{
  protected:
    static std::string kernel()
    {
        return std::string(GetParam()) == "QLinearAdd" ? "add.s8.vector" : "mul.s8.vector";
    }
};

TEST_P(QLinearBinaryTest, HasTheBitsOfTheReferenceForAllPairsOfBytes)
{
    BinaryNode elements(GetParam(), {{256, 256}, {256, 256}}, TENGINE_DT_UINT8, TENGINE_DT_UINT8);
    BinaryNode rows(GetParam(), {{256, 256}, {256}}, TENGINE_DT_UINT8, TENGINE_DT_UINT8);
    for (BinaryNode* node : {&elements, &rows}) {
        node->fill_with_pairs();
        for (const Scales& scales : kScales)
            for (const int zero : {0, 128, 255}) {
                SCOPED_TRACE(
                    testing::PrintToString(std::vector<float>{scales.a, scales.b, scales.y}));
                node->scale(scales);
                node->find("a_zero")->u8[0] = static_cast<uint8_t>(zero);
                node->find("b_zero")->u8[0] = static_cast<uint8_t>(255 - zero);
                node->find("y_zero")->u8[0] = static_cast<uint8_t>(zero / 2);
                node->compare(kernel().c_str(), {1});
            }
    }
}

TEST_P(QLinearBinaryTest, HasTheSameBitsWithSeveralWorkers)
{
    BinaryNode node(GetParam(), {{2, 61, 31, 19}, {61, 1, 1}}, TENGINE_DT_INT8, TENGINE_DT_UINT8);
    node.scale(kScales[1]);
    node.compare(kernel().c_str());
}

INSTANTIATE_TEST_SUITE_P(All, QLinearBinaryTest, testing::Values("QLinearAdd", "QLinearMul"));

}  // namespace
}  // namespace tengine::test
