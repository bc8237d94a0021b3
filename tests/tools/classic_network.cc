// SPDX-License-Identifier: Apache-2.0
#include "tools/classic_network.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

constexpr int64_t kClasses = 1000;

struct Value
{
    std::string name;
    int64_t channels;
};

// Builds a network layer by layer; each function returns its result.
class Layers
{
  public:
    explicit Layers(int64_t extent) : maker_({1, 3, extent, extent}) {}

    Value input() const { return {"x", 3}; }

    // Adds a convolution with padding that keeps the size at stride 1.
    Value conv(const Value& x, int64_t channels, int64_t kernel, int64_t stride = 1,
               int64_t group = 1)
    {
        const int64_t of_group = x.channels / group;
        const std::string name = next("conv");
        // The variance of a Relu's input equals that of its output (He et al., ICCV 2015).
        maker_.constant(name + "_weight", {channels, of_group, kernel, kernel},
                        random(channels * of_group * kernel * kernel, of_group * kernel * kernel));
        maker_.constant(name + "_bias", {channels}, random(channels, 600));
        auto* node = maker_.node("Conv", {x.name, name + "_weight", name + "_bias"}, name);
        const int64_t pad = kernel / 2;
        set_ints(node, "kernel_shape", {kernel, kernel});
        set_ints(node, "strides", {stride, stride});
        set_ints(node, "pads", {pad, pad, pad, pad});
        set_int(node, "group", group);
        return {name, channels};
    }

    Value relu(const Value& x) { return unary("Relu", {x.name}, x.channels); }

    Value relu6(const Value& x)
    {
        if (!has_bounds_) {
            maker_.constant("lowest", {}, {0.0f});
            maker_.constant("highest", {}, {6.0f});
            has_bounds_ = true;
        }
        return unary("Clip", {x.name, "lowest", "highest"}, x.channels);
    }

    Value add(const Value& a, const Value& b) { return unary("Add", {a.name, b.name}, a.channels); }

    Value max_pool(const Value& x)
    {
        const std::string name = next("pool");
        auto* node = maker_.node("MaxPool", {x.name}, name);
        set_ints(node, "kernel_shape", {3, 3});
        set_ints(node, "strides", {2, 2});
        set_ints(node, "pads", {1, 1, 1, 1});
        return {name, x.channels};
    }

    void classify(const Value& x)
    {
        maker_.node("GlobalAveragePool", {x.name}, "pooled");
        maker_.node("Flatten", {"pooled"}, "features");
        maker_.constant("weight", {kClasses, x.channels},
                        random(kClasses * x.channels, x.channels));
        maker_.constant("bias", {kClasses}, random(kClasses, 600));
        set_int(maker_.node("Gemm", {"features", "weight", "bias"}, "y"), "transB", 1);
    }

    std::string write(const std::string& folder) const { return maker_.write(folder); }

  private:
    std::string next(const std::string& stem) { return stem + std::to_string(++number_); }

    Value unary(const std::string& type, const std::vector<std::string>& inputs, int64_t channels)
    {
        const std::string name = next(type);
        maker_.node(type, inputs, name);
        return {name, channels};
    }

    // Returns uniform numbers, with the variance 2 / fan_in.
    std::vector<float> random(int64_t number, int64_t fan_in)
    {
        const float bound = std::sqrt(6.0f / static_cast<float>(fan_in));
        std::vector<float> values(static_cast<size_t>(number));
        for (float& value : values) {
            state_ = state_ * 1664525u + 1013904223u;
            value = bound * (static_cast<float>(state_ >> 8) / 8388608.0f - 1.0f);
        }
        return values;
    }

    ModelMaker maker_;
    int number_ = 0;
    bool has_bounds_ = false;
    uint32_t state_ = 1;
};

Value add_bottleneck(Layers& net, const Value& x, int64_t width, int64_t stride)
{
    Value y = net.relu(net.conv(x, width, 1));
    y = net.relu(net.conv(y, width, 3, stride));
    y = net.conv(y, 4 * width, 1);
    const bool same = stride == 1 && x.channels == 4 * width;
    return net.relu(net.add(y, same ? x : net.conv(x, 4 * width, 1, stride)));
}

Value add_inverted_residual(Layers& net, const Value& x, int64_t expansion, int64_t channels,
                            int64_t stride)
{
    Value y = expansion == 1 ? x : net.relu6(net.conv(x, expansion * x.channels, 1));
    y = net.relu6(net.conv(y, y.channels, 3, stride, y.channels));
    y = net.conv(y, channels, 1);
    return stride == 1 && x.channels == channels ? net.add(x, y) : y;
}

}  // namespace

std::string make_resnet50(const std::string& folder, int64_t extent)
{
    Layers net(extent);
    Value x = net.max_pool(net.relu(net.conv(net.input(), 64, 7, 2)));
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
        for (int block = 0; block < blocks[stage]; ++block)
            x = add_bottleneck(net, x, int64_t{64} << stage, stage > 0 && block == 0 ? 2 : 1);
    }
    net.classify(x);
    return net.write(folder);
}

std::string make_mobilenet_v2(const std::string& folder, int64_t extent)
{
    struct Stage
    {
        int64_t expansion, channels;
        int blocks;
        int64_t stride;
    };
    Layers net(extent);
    Value x = net.relu6(net.conv(net.input(), 32, 3, 2));
    for (const Stage& stage :
         {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
          Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}}) {
        for (int block = 0; block < stage.blocks; ++block)
            x = add_inverted_residual(net, x, stage.expansion, stage.channels,
                                      block == 0 ? stage.stride : 1);
    }
    net.classify(net.relu6(net.conv(x, 1280, 1)));
    return net.write(folder);
}

}  // namespace tengine::program
