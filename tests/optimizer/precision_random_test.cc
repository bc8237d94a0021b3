// SPDX-License-Identifier: Apache-2.0
// Random quantised networks: integers against the exact float arithmetic of every node.
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kValues = 4 * 36;

// Layers of shape 1 x 4 x 6 x 6, each followed by a quantisation, that read any earlier layers. The
// quantised values of all are outputs. With `cuts` layers do not read these but quantised inputs,
// <name>_given: then every layer is independent.
class RandomNet
{
  public:
    RandomNet(unsigned seed, bool cuts) : random_(seed), cuts_(cuts)
    {
        Floats values;
        for (int i = 0; i < kValues; ++i)
            values.push_back(real(-2, 2));
        net_.input("x", {1, 4, 6, 6}, values);
        quantised("x");
        for (int i = 0; i < 12; ++i)
            add_layer("l" + std::to_string(i));
        std::vector<int32_t> outputs;
        for (const std::string& name : names_)
            outputs.push_back(net_.builder().find(name + "_q")->index);
        EXPECT_EQ(set_ir_graph_output_tensor(net_.builder().get(), outputs.data(),
                                             static_cast<int>(outputs.size())),
                  TENGINE_OK);
    }

    PrecisionGraph& net() { return net_; }
    const std::vector<std::string>& names() const { return names_; }

  private:
    float real(float low, float high)
    {
        return std::uniform_real_distribution<float>(low, high)(random_);
    }
    int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

    void quantised(const std::string& name)
    {
        const int type = whole(0, 1) ? TENGINE_DT_INT8 : TENGINE_DT_UINT8;
        const int zero = type == TENGINE_DT_INT8 ? whole(-128, 127) : whole(0, 255);
        const std::string source = net_.pair(name, real(0.01f, 0.04f), zero, type);
        sources_.push_back(cuts_ ? cut(name, type) : source);
        names_.push_back(name);
    }

    std::string cut(const std::string& name, int type)
    {
        net_.builder().input(name + "_given", {1, 4, 6, 6}, type);
        net_.builder().add("DequantizeLinear",
                           {name + "_given", name + "_q_scale", name + "_q_zero"},
                           {name + "_source"});
        return name + "_source";
    }
    std::string any() { return sources_[static_cast<size_t>(whole(0, int(sources_.size()) - 1))]; }

    void add_conv(const std::string& name, const std::string& result)
    {
        std::vector<int> weights;
        Floats scales, bias;
        for (int i = 0; i < 4 * 4 * 9; ++i)
            weights.push_back(whole(-127, 127));
        for (int i = 0; i < 4; ++i) {
            scales.push_back(real(0.0001f, 0.002f));
            bias.push_back(real(-1, 1));
        }
        const std::string w = net_.bytes(name + "_w", {4, 4, 3, 3}, weights, scales);
        net_.builder().floats(name + "_b", {4}, bias);
        node* conv = net_.builder().add("Conv", {any(), w, name + "_b"}, {result});
        const int64_t pads[] = {1, 1, 1, 1};
        EXPECT_EQ(set_node_ints(conv, "pads", pads, 4), TENGINE_OK);
    }

    void add_pool(const char* op, const std::string& result)
    {
        node* pool = net_.builder().add(op, {any()}, {result});
        const int64_t kernel[] = {3, 3}, pads[] = {1, 1, 1, 1};
        EXPECT_EQ(set_node_ints(pool, "kernel_shape", kernel, 2), TENGINE_OK);
        EXPECT_EQ(set_node_ints(pool, "pads", pads, 4), TENGINE_OK);
    }

    void add_norm(const std::string& name, const std::string& result)
    {
        std::vector<std::string> inputs = {any()};
        for (const char* part : {"_gamma", "_beta", "_mean", "_variance"}) {
            Floats values;
            for (int i = 0; i < 4; ++i)
                values.push_back(part == std::string("_variance") ? real(0.5f, 2) : real(-1, 1));
            inputs.push_back(name + part);
            net_.builder().floats(inputs.back(), {4}, values);
        }
        net_.builder().add("BatchNormalization", inputs, {result});
    }

    void add_gate(const std::string& name, const std::string& result)
    {
        const std::string x = any();
        net_.builder().add(whole(0, 1) ? "Sigmoid" : "Tanh", {x}, {name + "_gate"});
        net_.builder().add("Mul", {name + "_gate", x}, {result});
    }

    void add_layer(const std::string& name)
    {
        const bool clamped = whole(0, 2) == 0;
        const std::string result = clamped ? name + "_before" : name;
        switch (whole(0, 7)) {
            case 0:
                net_.builder().add("Add", {any(), any()}, {result});
                break;
            case 1:
                net_.builder().add("Mul", {any(), any()}, {result});
                break;
            case 2:
                net_.builder().add(whole(0, 1) ? "Tanh" : "HardSwish", {any()}, {result});
                break;
            case 3:
                add_pool(whole(0, 1) ? "AveragePool" : "MaxPool", result);
                break;
            case 4:
                add_norm(name, result);
                break;
            case 5:
                add_gate(name, result);
                break;
            default:
                add_conv(name, result);
                break;
        }
        if (clamped) net_.builder().add("Relu", {result}, {name});
        quantised(name);
    }

    std::mt19937 random_;
    const bool cuts_;
    PrecisionGraph net_;
    std::vector<std::string> names_, sources_;
};

// A float run of the single layers, on the values that the integer run computed, gives the same
// values within one step: errors of layers cannot add up.
TEST(PrecisionRandom, EveryLayerIsWithinAStepOfTheExactResult)
{
    int64_t values = 0, equal = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        RandomNet whole(seed, false), layers(seed, true);
        whole.net().run(TENGINE_MODE_INT8, "x_q");
        const std::string operators = " " + whole.net().operators();
        EXPECT_EQ(operators.find(" DequantizeLinear"), std::string::npos) << operators;
        const auto bytes_of = [&](RandomNet& net, const std::string& name) {
            return net.net().builder().find(name);
        };
        for (const std::string& name : whole.names())
            set_ir_tensor_data(bytes_of(layers, name + "_given"),
                               bytes_of(whole, name + "_q")->data, false);
        layers.net().run(TENGINE_MODE_FP32, "x_q");
        for (const std::string& name : whole.names()) {
            const tensor* made = bytes_of(whole, name + "_q");
            const tensor* exact = bytes_of(layers, name + "_q");
            for (int i = 0; i < kValues; ++i) {
                const bool is_signed = made->data_type == TENGINE_DT_INT8;
                const int a = is_signed ? made->i8[i] : made->u8[i];
                const int b = is_signed ? exact->i8[i] : exact->u8[i];
                ASSERT_LE(std::abs(a - b), 1) << "seed " << seed << ", layer " << name;
                equal += a == b;
            }
            values += kValues;
        }
    }
    EXPECT_GT(static_cast<double>(equal), 0.999 * static_cast<double>(values));
}

}  // namespace
