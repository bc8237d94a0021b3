// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding replaces the nodes that models have for it. The bound of its error is that of the
// nodes: both products and their sum are rounded, each to half a unit, in either.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "graph/context.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "optimizer/rotation_model.h"
#include "support/test_device.h"

namespace tengine::test {
namespace {

void expect_operator(const Rotation& rotation, double error_of_table)
{
    SCOPED_TRACE(rotation.nodes + "; tables: " + rotation.source);
    RotationModel model(rotation), nodes(show_results(rotation));
    expect_rotation(rotation, model.run(), error_of_table);
    EXPECT_TRUE(model.is_recognised());
    expect_rotation(rotation, nodes.run(), error_of_table);
    EXPECT_FALSE(nodes.is_recognised());
}

TEST(RecogniseRotary, EveryFormBecomesTheOperator)
{
    for (const Rotation& rotation : kRotations) {
        expect_operator(rotation, 0);
        RotationModel model(rotation);
        model.run();
        EXPECT_EQ(model.operators(), Operators{"RotaryEmbedding"});
    }
}

TEST(RecogniseRotary, NeighboursMayBeBetweenReshapes)
{
    for (const Rotation& rotation : kReshapedRotations)
        expect_operator(rotation, 0);
}

TEST(RecogniseRotary, TablesMayHaveBatchesAndMoreAxes)
{
    for (Rotation rotation : kRotations) {
        const int width = rotation.table.back();
        for (const Dims& dims : {Dims{1, kTokens, width}, Dims{1, 1, kTokens, width},
                                 Dims{kBatch, 1, kTokens, width}}) {
            rotation.table = dims;
            expect_operator(rotation, 0);
        }
    }
}

TEST(RecogniseRotary, TokensMayBeBeforeHeads)
{
    for (Rotation rotation : kRotations) {
        for (const auto& [from, to] :
             {std::pair("[2,3,6,4,2]", "[2,6,3,4,2]"), std::pair("[2,3,6,8]", "[2,6,3,8]")})
            if (rotation.nodes.find(from) != std::string::npos)
                rotation.nodes = exchange(rotation.nodes, from, to);
        rotation.x = kTokensFirst;
        const int width = rotation.table.back();
        for (const Dims& dims : {Dims{kTokens, 1, width}, Dims{1, kTokens, 1, width},
                                 Dims{kBatch, kTokens, 1, width}}) {
            rotation.table = dims;
            expect_operator(rotation, 0);
        }
        RotationModel model(rotation);
        model.run();
        EXPECT_EQ(model.operators(), (Operators{"Reshape", "RotaryEmbedding", "Reshape"}));
    }
}

TEST(RecogniseRotary, OneHeadNeedsNoAxis)
{
    for (Rotation rotation : {kRotations[0], kRotations[3]}) {
        rotation.x = kOneHead;
        const int width = rotation.table.back();
        for (const Dims& dims :
             {Dims{kTokens, width}, Dims{1, kTokens, width}, Dims{kBatch, kTokens, width}}) {
            rotation.table = dims;
            expect_operator(rotation, 0);
        }
    }
}

// The bound of the nodes: x and the table, the products and their sum are rounded.
TEST(RecogniseRotary, PrecisionsOf16BitsHaveTheOperator)
{
    for (const auto& [precision, unit] :
         {std::pair(TENGINE_MODE_FP16, 0x1p-11), std::pair(TENGINE_MODE_BF16, 0x1p-8)}) {
        for (const Rotation& rotation : kRotations) {
            RotationModel model(rotation), nodes(show_results(rotation));
            expect_rotation(rotation, model.run(precision), 0x1p-24, 4.1 * unit);
            EXPECT_TRUE(model.is_recognised());
            expect_rotation(rotation, nodes.run(precision), 0x1p-24, 4.1 * unit);
            EXPECT_FALSE(nodes.is_recognised());
        }
    }
}
// ---- tables that are not constant ----

const char* const kWideSources[] = {
    "w = Concat angles angles axis=-1; cos = Cos w; sin = Sin w",
    "w = Concat angles angles axis=2; i = Cos w; j = Sin w; cos = Mul i scale; sin = Mul scale j",
    "i = Cos angles; j = Sin angles; cos = Concat i i axis=2; sin = Concat j j axis=2",
    "w = Concat angles angles axis=-1; i = Cos w; j = Sin w; k = Squeeze i [0]; "
    "l = Squeeze j [0]; cos = Unsqueeze k [0]; sin = Reshape l [1,1,6,8]",
    "w = Concat angles angles axis=-1; r = Squeeze w [0]; g = Gather r [0,1,2,3,4,5]; "
    "cos = Cos g; sin = Sin g",
};

const char* const kWideNeighbourSources[] = {
    "a1 = Unsqueeze angles [-1]; a2 = Concat a1 a1 axis=-1; w = Reshape a2 [1,6,8]; cos = Cos w; "
    "sin = Sin w",
    "a1 = Unsqueeze angles [3]; a2 = Expand a1 [1,6,4,2]; w = Reshape a2 [6,8]; cos = Cos w; "
    "sin = Sin w",
};

TEST(RecogniseRotary, TablesMayBeComputed)
{
    for (const bool is_interleaved : {false, true}) {
        Rotation rotation = kRotations[is_interleaved ? 4 : 0];
        rotation.table = {1, kTokens, kSize};
        std::vector<std::string> sources(std::begin(kWideSources), std::end(kWideSources));
        if (is_interleaved)
            sources.assign(std::begin(kWideNeighbourSources), std::end(kWideNeighbourSources));
        for (const std::string& source : sources) {
            rotation.source = source;
            expect_operator(rotation, kErrorOfCosine);
        }
    }
}

TEST(RecogniseRotary, NarrowTablesMayBeInputs)
{
    for (Rotation rotation : kRotations) {
        if (rotation.has_wide_tables) continue;
        for (const Dims& dims : {Dims{kTokens, kHalf}, Dims{kBatch, 1, kTokens, kHalf}}) {
            rotation.table = dims;
            rotation.source = "input";
            expect_operator(rotation, 0);
            rotation.source = "cos = Cos angles; sin = Sin angles";
            expect_operator(rotation, kErrorOfCosine);
        }
    }
}

// Queries and keys, layer after layer, read the same tables.
TEST(RecogniseRotary, RotationsShareTheirTables)
{
    Rotation rotation = kRotations[0];
    rotation.table = {1, kTokens, kSize};
    rotation.source = kWideSources[0];
    rotation.nodes +=
        "; b2 = Slice z [4] [99] [-1] [1]; f2 = Slice z [0] [4] [-1] [1]; n2 = Neg b2; "
        "t2 = Concat n2 f2 axis=-1; u2 = Mul t2 sin; v2 = Mul z cos; y2 = Add v2 u2";
    rotation.outputs = {"y", "y2"};
    RotationModel model(rotation);
    expect_rotation(rotation, model.run(), kErrorOfCosine);
    const Operators list = model.operators();
    EXPECT_EQ(std::count(list.begin(), list.end(), "RotaryEmbedding"), 2);
    EXPECT_EQ(std::count(list.begin(), list.end(), "Slice"), 2);
}
// ---- devices ----

class RotaryForDevice : public testing::Test
{
  protected:
    // "RotaryEmbedding:A", in the order of the graph, on a device A with these operators.
    std::vector<std::string> place(const Rotation& rotation, const std::vector<std::string>& taken)
    {
        TestDevice a("A", taken);
        const std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context(
            create_ir_context("rotary"), destroy_ir_context);
        EXPECT_EQ(add_ir_context_device(context.get(), a.get(), nullptr, 0), TENGINE_OK);
        EXPECT_EQ(set_ir_context_option(context.get(), "split.report", "none"), TENGINE_OK);
        RotationModel model(rotation, context.get());
        expect_rotation(rotation, model.run(), rotation.source == "constant" ? 0 : kErrorOfCosine);
        std::vector<std::string> places;
        const graph& made = *model.get()->core->execution;
        for (int i = 0; i < made.node_num; ++i)
            places.push_back(std::string(get_ir_node_op(made.node_list[i])) + ":" +
                             made.node_list[i]->device->name);
        return places;
    }
};

using Places = std::vector<std::string>;
const std::vector<std::string> kNodes = {"Slice", "Neg", "Concat", "Mul", "Add"};

std::vector<std::string> with(std::vector<std::string> list, const std::string& another)
{
    list.push_back(another);
    return list;
}

TEST_F(RotaryForDevice, GetsTheOperatorThatItHas)
{
    for (const Rotation& rotation : kRotations) {
        EXPECT_EQ(place(rotation, {"RotaryEmbedding"}), Places{"RotaryEmbedding:A"});
        EXPECT_EQ(place(rotation, {"Neg"}), Places{"RotaryEmbedding:CPU"});
    }
}

TEST_F(RotaryForDevice, KeepsTheNodesWhereItHasNoOperator)
{
    EXPECT_EQ(place(kRotations[0], kNodes),
              (Places{"Slice:A", "Slice:A", "Neg:A", "Concat:A", "Mul:A", "Mul:A", "Add:A"}));
    EXPECT_EQ(place(kRotations[0], with(kNodes, "RotaryEmbedding")), Places{"RotaryEmbedding:A"});
}

// A Reshape that only the CPU has would be between the device's other nodes.
TEST_F(RotaryForDevice, KeepsTheNodesWhereTheOperatorNeedsOthersThatItHasNot)
{
    Rotation rotation = kRotations[0];
    rotation.x = kTokensFirst;
    rotation.table = {kTokens, 1, kSize};
    const std::vector<std::string> operators = with(kNodes, "RotaryEmbedding");
    EXPECT_EQ(place(rotation, operators).size(), 7u);
    EXPECT_EQ(place(rotation, with(operators, "Reshape")),
              (Places{"Reshape:A", "RotaryEmbedding:A", "Reshape:A"}));
    EXPECT_EQ(place(rotation, {"RotaryEmbedding"}),
              (Places{"Reshape:CPU", "RotaryEmbedding:A", "Reshape:CPU"}));
}

}  // namespace
}  // namespace tengine::test
