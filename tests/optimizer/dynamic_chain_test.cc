// SPDX-License-Identifier: Apache-2.0
// Products of tensors that are quantised in each run, merged and as a quantiser writes them: the
// values are equal, up to the rounding of three floats instead of one.
#include <cmath>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;
constexpr const char* kUnmerged = "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add";

// x is 3x5. `more` are outputs in addition to y.
class Chain
{
  public:
    explicit Chain(std::initializer_list<device*> devices = {}) : graph(devices)
    {
        graph.input("x", {3, 5}, ramp(15, -1.3f, 0.31f));
        builder().add("DynamicQuantizeLinear", {"x"}, {"x_q", "x_s", "x_z"});
    }

    IrBuilder& builder() { return graph.builder(); }

    // Adds the sums <name>_sums of x by 5x4 int8, and <name>_f, these as floats.
    void add_product(const std::string& name, float scale)
    {
        builder().constant(name + "_w", {5, 4}, bytes(name), TENGINE_DT_INT8);
        builder().floats(name + "_ws", {4}, {scale, 0.5f * scale, 2 * scale, 0.7f * scale});
        builder().add("MatMulInteger", {"x_q", name + "_w", "x_z"}, {name + "_sums"});
        node* cast = builder().add("Cast", {name + "_sums"}, {name + "_f"});
        EXPECT_EQ(set_node_int(cast, "to", 1), TENGINE_OK);
    }
    // Adds the form of ONNX Runtime's quantizer, with a bias.
    void add_scales(const std::string& name, const std::string& y)
    {
        builder().add("Mul", {"x_s", name + "_ws"}, {name + "_s"});
        builder().add("Mul", {name + "_f", name + "_s"}, {name + "_y"});
        builder().floats(name + "_b", {4}, {0.25f, -1, 0, 3});
        builder().add("Add", {name + "_b", name + "_y"}, {y});
    }

    PrecisionGraph graph;

  private:
    static std::vector<int8_t> bytes(const std::string& name)
    {
        std::vector<int8_t> values;
        for (int i = 0; i < 20; ++i)
            values.push_back(static_cast<int8_t>(i * 37 % 255 - 127 + name[0] % 2));
        return values;
    }
};

// The roundings of a factor, of two products and of a sum with a bias of at most 3; on one side
// once, on the other several times.
void expect_near(const Floats& made, const Floats& expected)
{
    ASSERT_EQ(made.size(), expected.size());
    for (size_t i = 0; i < made.size(); ++i)
        EXPECT_NEAR(made[i], expected[i], 8 * 0x1p-24 * (std::fabs(expected[i]) + 6)) << i;
}

// Runs without merging: the sums are outputs, too.
Floats run_unmerged()
{
    Chain chain;
    chain.add_product("a", 0.01f);
    chain.add_scales("a", "y");
    chain.builder().outputs({"y", "a_sums"});
    const Floats result = chain.graph.run(kFloat);
    EXPECT_EQ(chain.graph.operators(), kUnmerged);
    return result;
}

TEST(DynamicChain, BecomesOneNode)
{
    Chain chain;
    chain.add_product("a", 0.01f);
    chain.add_scales("a", "y");
    chain.builder().outputs({"y"});
    const Floats merged = chain.graph.run(kFloat);
    EXPECT_EQ(chain.graph.operators(), "DynamicQuantizeMatMul");
    EXPECT_NE(chain.graph.find("a_sums"), nullptr) << "named like the product";
    expect_near(merged, run_unmerged());
    EXPECT_EQ(chain.graph.run(kInt8), merged) << "an integer run is one with integer nodes";
}

TEST(DynamicChain, QuantizesOnceForSeveralProducts)
{
    Chain chain;
    chain.add_product("a", 0.01f);
    chain.add_scales("a", "y");
    chain.add_product("b", 0.02f);
    chain.add_scales("b", "z");
    chain.builder().outputs({"y", "z"});
    expect_near(chain.graph.run(kFloat), run_unmerged());
    EXPECT_EQ(chain.graph.operators(),
              "DynamicQuantizeLinear MatMulIntegerToFloat MatMulIntegerToFloat");
}

// Consecutive scales, in either order, without a bias.
TEST(DynamicChain, TakesScalesOneByOne)
{
    for (const bool has_input_first : {true, false}) {
        Chain chain;
        chain.add_product("a", 0.01f);
        chain.builder().add("Mul", {"a_f", has_input_first ? "x_s" : "a_ws"}, {"half"});
        chain.builder().add("Mul", {has_input_first ? "a_ws" : "x_s", "half"}, {"product"});
        chain.builder().add("Relu", {"product"}, {"y"});
        chain.builder().outputs({"y"});
        const Floats merged = chain.graph.run(kFloat);
        EXPECT_EQ(chain.graph.operators(), "DynamicQuantizeMatMul Relu");
        Floats expected = run_unmerged();
        const float bias[] = {0.25f, -1, 0, 3};
        for (size_t i = 0; i < expected.size(); ++i)
            expected[i] = std::max(expected[i] - bias[i % 4], 0.0f);
        expect_near(merged, expected);
    }
}

// The CPU adds another tensor, and computes an activation, before it stores a product; not for one
// that is an output.
TEST(DynamicChain, IsFollowedByASumAndAnActivation)
{
    Floats results[2];
    for (const bool is_output : {true, false}) {
        Chain chain;
        chain.graph.input("z", {3, 4}, ramp(12, 2, -0.4f));
        chain.add_product("a", 0.01f);
        chain.add_scales("a", "product");
        chain.builder().add("Add", {"z", "product"}, {"sum"});
        chain.builder().add("Gelu", {"sum"}, {"y"});
        if (is_output)
            chain.builder().outputs({"y", "product", "sum"});
        else
            chain.builder().outputs({"y"});
        results[is_output] = chain.graph.run(kFloat);
        EXPECT_EQ(chain.graph.operators(), "DynamicQuantizeMatMul Add Gelu");
    }
    expect_near(results[0], results[1]);
}

TEST(DynamicChain, LeavesOtherNodesAsTheyAre)
{
    // Another factor; one that the graph computes; an intermediate result that is read.
    for (const char* factor : {"number", "x"}) {
        Chain chain;
        chain.graph.input("s", {4}, {1, 2, 3, 4});
        chain.builder().floats("number", {1, 1, 4}, {1, 2, 3, 4});
        chain.add_product("a", 0.01f);
        chain.builder().add("Mul", {"a_f", "x_s"}, {"scaled"});
        chain.builder().add("Mul", {"scaled", factor[0] == 'x' ? "s" : factor}, {"y"});
        chain.builder().outputs({"y"});
        chain.graph.run(kFloat);
        EXPECT_EQ(chain.graph.operators(), "DynamicQuantizeLinear MatMulInteger Cast Mul Mul");
    }
    Chain chain;
    chain.add_product("a", 0.01f);
    chain.add_scales("a", "sum");
    chain.builder().add("Add", {"sum", "a_f"}, {"y"});
    chain.builder().outputs({"y"});
    chain.graph.run(kFloat);
    EXPECT_EQ(chain.graph.operators(), std::string(kUnmerged) + " Add");
}

int (*describe)(device*, vector*, vector*, vector*);

TEST(DynamicChain, LeavesTheProductToABetterDevice)
{
    TestDevice device("A", {"MatMulInteger"});
    describe = device.get()->allocator->describe;
    device.get()->allocator->describe = [](::device* self, vector* allowed, vector* blocked,
                                           vector* types) {
        for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8, TENGINE_DT_INT32})
            EXPECT_EQ(push_vector_data(types, &type), 0);
        return describe(self, allowed, blocked, types);
    };
    Chain chain({device.get()});
    chain.add_product("a", 0.01f);
    chain.add_scales("a", "y");
    chain.builder().outputs({"y"});
    const Floats result = chain.graph.run(kFloat);
    EXPECT_EQ(chain.graph.operators(), kUnmerged);
    EXPECT_EQ(chain.graph.find("a_sums")->device, device.get());
    EXPECT_EQ(result, run_unmerged());
}

// The device takes the Mul alone, and does not know the merged node.
TEST(DynamicChain, IsForADeviceThatTakesTheResult)
{
    TestDevice device("A", {"Mul", "Add"});
    Chain chain({device.get()});
    chain.add_product("a", 0.01f);
    chain.add_scales("a", "y");
    chain.builder().outputs({"y"});
    expect_near(chain.graph.run(kFloat), run_unmerged());
    EXPECT_EQ(chain.graph.operators(), "DynamicQuantizeMatMul");
    EXPECT_NE(chain.graph.find("a_sums")->device, device.get());
}

}  // namespace
