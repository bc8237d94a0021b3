// SPDX-License-Identifier: Apache-2.0
#include "device/acl/small_network.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "operator/param.h"

namespace tengine::acl {

// ---- nodes ----

std::string NetworkWriter::add(const std::string& op, const std::vector<std::string>& inputs,
                               int channels)
{
    const std::string name = op + std::to_string(values_.size());
    EXPECT_NE(builder_.add(op, inputs, {name}), nullptr) << name;
    channels_[name] = channels;
    values_.push_back(name);
    return name;
}

std::string NetworkWriter::constant(const std::vector<int>& dims, float low, float high)
{
    const std::string name = "constant" + std::to_string(constants_++);
    std::uniform_real_distribution<float> range(low, high);
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    std::vector<float> values(number);
    for (float& value : values)
        value = range(random_);
    builder_.floats(name, dims, values);
    return name;
}

std::string NetworkWriter::input(const std::vector<int>& dims)
{
    builder_.input("x", dims);
    channels_["x"] = dims[1];
    return "x";
}

std::string NetworkWriter::conv(const std::string& from, int channels, int size, int stride,
                                int group)
{
    const int inputs = channels_[from] / group;
    // Keeps the size of the values from layer to layer, as trained weights do.
    const float limit = std::sqrt(6.0F / static_cast<float>(inputs * size * size));
    const std::string weight = constant({channels, inputs, size, size}, -limit, limit);
    const std::string bias = constant({channels}, -0.2F, 0.2F);
    const std::string name = add("Conv", {from, weight, bias}, channels);
    const int64_t pad = size / 2, pads[] = {pad, pad, pad, pad}, strides[] = {stride, stride};
    EXPECT_EQ(set_node_ints(last(), "pads", pads, 4), TENGINE_OK);
    EXPECT_EQ(set_node_ints(last(), "strides", strides, 2), TENGINE_OK);
    EXPECT_EQ(set_node_int(last(), "group", group), TENGINE_OK);
    return name;
}

std::string NetworkWriter::norm(const std::string& from)
{
    const std::vector<int> dims = {channels_[from]};
    const std::string scale = constant(dims, 0.8F, 1.2F), shift = constant(dims, -0.2F, 0.2F);
    const std::string mean = constant(dims, -0.2F, 0.2F), variance = constant(dims, 0.5F, 1.5F);
    return add("BatchNormalization", {from, scale, shift, mean, variance}, dims[0]);
}

std::string NetworkWriter::clip6(const std::string& from)
{
    const std::string low = constant({}, 0, 0), high = constant({}, 6, 6);
    return add("Clip", {from, low, high}, channels_[from]);
}

std::string NetworkWriter::sum(const std::string& a, const std::string& b)
{
    return add("Add", {a, b}, channels_[a]);
}

std::string NetworkWriter::concat(const std::string& a, const std::string& b)
{
    const std::string name = add("Concat", {a, b}, channels_[a] + channels_[b]);
    EXPECT_EQ(set_node_int(last(), "axis", 1), TENGINE_OK);
    return name;
}

std::string NetworkWriter::max_pool(const std::string& from)
{
    const std::string name = add("MaxPool", {from}, channels_[from]);
    const int64_t kernel[] = {3, 3}, strides[] = {2, 2};
    EXPECT_EQ(set_node_ints(last(), "kernel_shape", kernel, 2), TENGINE_OK);
    EXPECT_EQ(set_node_ints(last(), "strides", strides, 2), TENGINE_OK);
    return name;
}

std::string NetworkWriter::features(const std::string& from)
{
    return add("Flatten", {add("GlobalAveragePool", {from}, channels_[from])}, channels_[from]);
}

std::string NetworkWriter::dense(const std::string& from, int features)
{
    const float limit = std::sqrt(3.0F / static_cast<float>(channels_[from]));
    const std::string weight = constant({features, channels_[from]}, -limit, limit);
    const std::string bias = constant({features}, -0.2F, 0.2F);
    const std::string name = add("Gemm", {from, weight, bias}, features);
    EXPECT_EQ(set_node_int(last(), "transB", 1), TENGINE_OK);
    return name;
}

// ---- blocks ----

std::string NetworkWriter::fire(const std::string& from, int squeezed, int expanded)
{
    const std::string x = relu(conv(from, squeezed, 1));
    return concat(relu(conv(x, expanded, 1)), relu(conv(x, expanded, 3)));
}

std::string NetworkWriter::inverted_residual(const std::string& from, int expansion, int channels,
                                             int stride)
{
    const int inputs = channels_[from], inside = expansion * inputs;
    std::string x = expansion == 1 ? from : clip6(norm(conv(from, inside, 1)));
    x = clip6(norm(conv(x, inside, 3, stride, inside)));
    x = norm(conv(x, channels, 1));
    return inputs == channels && stride == 1 ? sum(from, x) : x;
}

std::string NetworkWriter::residual(const std::string& from, int channels, int stride)
{
    std::string x = relu(norm(conv(from, channels, 3, stride)));
    x = norm(conv(x, channels, 3));
    const bool is_same = stride == 1 && channels_[from] == channels;
    return relu(sum(x, is_same ? from : norm(conv(from, channels, 1, stride))));
}

// ---- networks ----

namespace {

// As SqueezeNet 1.1.
std::string write_fires(NetworkWriter& writer)
{
    std::string x = writer.relu(writer.conv(writer.input({1, 3, 35, 37}), 16, 3, 2));
    x = writer.fire(writer.max_pool(x), 8, 16);
    x = writer.fire(writer.max_pool(x), 12, 20);
    return writer.features(writer.relu(writer.conv(x, 10, 1)));
}

// As MobileNet v2.
std::string write_inverted_residuals(NetworkWriter& writer)
{
    std::string x = writer.clip6(writer.norm(writer.conv(writer.input({1, 3, 33, 31}), 12, 3, 2)));
    x = writer.inverted_residual(x, 3, 12, 1);
    x = writer.inverted_residual(x, 3, 20, 2);
    x = writer.inverted_residual(x, 3, 20, 1);
    x = writer.clip6(writer.norm(writer.conv(x, 48, 1)));
    return writer.dense(writer.features(x), 10);
}

// As ResNet 18.
std::string write_residuals(NetworkWriter& writer)
{
    std::string x = writer.relu(writer.norm(writer.conv(writer.input({1, 3, 45, 43}), 16, 7, 2)));
    x = writer.residual(writer.max_pool(x), 16, 1);
    x = writer.residual(x, 28, 2);
    return writer.dense(writer.features(x), 10);
}

void set_outputs(test::IrBuilder& builder, const std::vector<std::string>& names)
{
    std::vector<int32_t> tensors;
    for (const std::string& name : names)
        tensors.push_back(builder.find(name)->index);
    EXPECT_EQ(
        set_ir_graph_output_tensor(builder.get(), tensors.data(), static_cast<int>(tensors.size())),
        TENGINE_OK);
}

// Lowest and highest of every computed tensor and of the input, 0 included.
std::map<std::string, std::pair<float, float>> find_ranges(const SmallNetwork& network)
{
    std::vector<std::string> values;
    AclRun run({{}}, [&](test::IrBuilder& builder) {
        NetworkWriter writer(builder);
        network.write(writer);
        values = writer.values();
        set_outputs(builder, values);
    });
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    run.feed_all(kSmallNetworkSeed);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    std::map<std::string, std::pair<float, float>> ranges;
    values.push_back("x");
    for (const std::string& value : values) {
        const std::vector<float> found = run.output(value);
        const auto [low, high] = std::minmax_element(found.begin(), found.end());
        ranges[value] = {std::min(*low, 0.0F), std::max(*high, 0.0F)};
    }
    return ranges;
}

}  // namespace

const std::vector<SmallNetwork>& list_small_networks()
{
    static const std::vector<SmallNetwork> networks = {
        {"Fires", write_fires},
        {"InvertedResiduals", write_inverted_residuals},
        {"Residuals", write_residuals},
    };
    return networks;
}

Build build_network(const SmallNetwork& network)
{
    return [&network](test::IrBuilder& builder) {
        NetworkWriter writer(builder);
        set_outputs(builder, {network.write(writer)});
    };
}

Build build_calibrated_network(const SmallNetwork& network, int precision)
{
    const auto ranges = find_ranges(network);
    const int lowest = precision == TENGINE_MODE_INT8 ? -128 : 0;
    return [&network, ranges, lowest](test::IrBuilder& builder) {
        NetworkWriter writer(builder);
        set_outputs(builder, {network.write(writer)});
        for (const auto& [value, range] : ranges) {
            const float scale = (range.second - range.first) / 255;
            const int zero_point = lowest - static_cast<int>(std::lround(range.first / scale));
            EXPECT_EQ(
                set_ir_tensor_quantization_parameter(builder.find(value), &scale, &zero_point, 1),
                TENGINE_OK);
        }
    };
}

}  // namespace tengine::acl
