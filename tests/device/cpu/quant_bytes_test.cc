// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear and Lookup against their references, bit
// by bit.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "device/cpu/byte_node.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

constexpr int kTypes[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};
constexpr int kLengths[] = {1, 7, 13, 17, 64, 131, 40000};

// Ties, values around them and far beyond the 8-bit range, and NaN.
std::vector<float> make_values(size_t number, std::mt19937& random)
{
    using Limits = std::numeric_limits<float>;
    const float special[] = {Limits::quiet_NaN(),
                             Limits::infinity(),
                             -Limits::infinity(),
                             Limits::denorm_min(),
                             Limits::max(),
                             Limits::lowest(),
                             -0.0f,
                             2147483648.0f};
    std::vector<float> values(number);
    for (size_t i = 0; i < number; ++i) {
        const float tie = static_cast<float>(static_cast<int>(random() % 1200) - 600) / 2;
        const float kinds[] = {tie, std::nextafter(tie, 1000.0f), tie / 7,
                               special[random() % std::size(special)]};
        values[i] = kinds[random() % std::size(kinds)];
    }
    return values;
}

TEST(QuantizeLinear, HasTheBitsOfTheReference)
{
    for (const int length : kLengths)
        for (const int type : kTypes)
            for (const float scale : {1.0f, 0.1f, 3e-39f, 0.0f, -2.0f}) {
                SCOPED_TRACE(length);
                SCOPED_TRACE(scale);
                ByteNode node;
                node.floats("x", {length}, make_values(static_cast<size_t>(length), node.random()));
                node.floats("scale", {}, {scale});
                node.bytes("zero", {}, type);
                node.make("QuantizeLinear", {"x", "scale", "zero"});
                node.infer();
                node.compare("quantize.s8.tensor", {1, 3});
            }
}

TEST(QuantizeLinear, HasTheBitsOfTheReferenceWithAScaleForEachChannel)
{
    for (const int axis : {0, 1, 2})
        for (const int type : kTypes) {
            const std::vector<int> shape = {3, 5, 6, 9};
            const int channels = shape[static_cast<size_t>(axis)];
            ByteNode node;
            node.floats("x", shape, make_values(3 * 5 * 6 * 9, node.random()));
            std::vector<float> scales;
            for (int i = 0; i < channels; ++i)
                scales.push_back(0.3f * static_cast<float>(i + 1));
            node.floats("scale", {channels}, scales);
            node.bytes("zero", {channels}, type);
            node.make("QuantizeLinear", {"x", "scale", "zero"});
            node.set("axis", axis);
            node.infer();
            node.compare("quantize.s8.axis");
        }
}

TEST(DequantizeLinear, HasTheBitsOfTheReference)
{
    for (const int length : kLengths)
        for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8, TENGINE_DT_INT32})
            for (const float scale : {0.1f, 3e-39f, 1e37f}) {
                SCOPED_TRACE(length);
                ByteNode node;
                node.bytes("zero", {}, type == TENGINE_DT_INT32 ? TENGINE_DT_INT8 : type);
                if (type == TENGINE_DT_INT32) {
                    std::vector<int32_t> values(static_cast<size_t>(length));
                    for (int32_t& value : values)
                        value = static_cast<int32_t>(node.random()());
                    node.builder().constant("x", {length}, values, type);
                } else {
                    node.bytes("x", {length}, type);
                }
                node.floats("scale", {}, {scale});
                node.make("DequantizeLinear",
                          {"x", "scale", type == TENGINE_DT_INT32 ? "" : "zero"});
                node.infer();
                node.compare("dequantize.s8.tensor", {1, 3});
            }
}

TEST(DequantizeLinear, HasTheBitsOfTheReferenceWithAScaleForEachChannel)
{
    for (const int axis : {0, 1, 2})
        for (const int type : kTypes) {
            const std::vector<int> shape = {4, 6, 2, 19};
            const int channels = shape[static_cast<size_t>(axis)];
            ByteNode node;
            node.bytes("x", shape, type);
            std::vector<float> scales;
            for (int i = 0; i < channels; ++i)
                scales.push_back(0.3f * static_cast<float>(i + 1));
            node.floats("scale", {channels}, scales);
            node.bytes("zero", {channels}, type);
            node.make("DequantizeLinear", {"x", "scale", "zero"});
            node.set("axis", axis);
            node.infer();
            node.compare("dequantize.s8.axis");
        }
}

TEST(DequantizeLinear, LeavesAScaleForEachElementToTheReference)
{
    ByteNode node;
    node.bytes("x", {9, 4}, TENGINE_DT_INT8);
    node.floats("scale", {4}, {1, 2, 3, 4});
    node.make("DequantizeLinear", {"x", "scale"});
    node.infer();
    node.compare("reference");
}

TEST(DynamicQuantizeLinear, HasTheBitsOfTheReference)
{
    for (const int length : kLengths)
        for (const float high : {0.0f, 1.0f, 300.0f})
            for (const float low : {0.0f, -0.3f, -90.0f}) {
                SCOPED_TRACE(length);
                ByteNode node;
                std::uniform_real_distribution<float> distribution(low, high);
                std::vector<float> values(static_cast<size_t>(length));
                for (float& value : values)
                    value = distribution(node.random());
                if (length > 20) values[11] = std::numeric_limits<float>::quiet_NaN();
                node.floats("x", {length}, values);
                node.make("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
                node.infer();
                node.compare("dynamic_quantize.s8.tensor", {1, 3});
            }
}

TEST(Lookup, HasTheBytesOfTheReference)
{
    for (const int length : {1, 15, 16, 63, 65, 129, 70001})
        for (const int x_type : kTypes)
            for (const int y_type : kTypes) {
                SCOPED_TRACE(length);
                ByteNode node;
                node.bytes("x", {length}, x_type);
                node.bytes("table", {256}, y_type);
                node.make("tengine.Lookup", {"x", "table"});
                node.infer();
                node.compare("lookup.s8.table");
            }
}

}  // namespace
}  // namespace tengine::test
