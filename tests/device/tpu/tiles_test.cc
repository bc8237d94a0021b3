// SPDX-License-Identifier: Apache-2.0
// Weights are converted to tiles once, for all shapes that a graph is prepared for, and the
// programs are those that are compiled from the beginning.
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <string>

#include "base/sha256.h"
#include "device/tpu/compiler/product_layer.h"
#include "device/tpu/device_run.h"
#include "device/tpu/quantized_model.h"
#include "scheduler/temporary_folder.h"

namespace tengine::tpu {
namespace {

void build_network(QuantizedModel& model, const std::vector<int>& dims)
{
    ConvOptions wide, depthwise;
    wide.weight_zero = 5;
    wide.outputs = depthwise.outputs = depthwise.group = 12;
    const std::string a = model.conv(model.input(dims), dims[1], wide);
    const std::string b = model.conv(a, 12, depthwise);
    model.finish(model.conv(model.pair("QLinearAdd", a, b), 12));
}

Build network_of(const std::vector<int>& dims)
{
    return [dims](test::IrBuilder& builder) {
        QuantizedModel model(builder, 3, TENGINE_DT_UINT8, TENGINE_DT_UINT8);
        build_network(model, dims);
    };
}

void reshape(DeviceRun& run, const std::vector<int>& dims)
{
    graph* source = run.source();
    ASSERT_EQ(set_ir_tensor_shape(source->tensor_list[source->input_tensors[0]], dims.data(),
                                  static_cast<int>(dims.size())),
              TENGINE_OK);
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
}

const std::vector<int> kSmall = {1, 7, 6, 5}, kLarge = {2, 7, 13, 17};

std::string read_only_file(const test::TemporaryFolder& folder)
{
    EXPECT_EQ(folder.list().size(), 1u);
    std::ifstream file(folder.list().at(0), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class TpuTiles : public testing::TestWithParam<const char*>
{
};

// All weights become 255 without the graph's knowledge, which compares only two bytes. Only tiles
// that are made afterwards would show it.
TEST_P(TpuTiles, AreMadeOnce)
{
    DeviceRun fresh("TPU", {}, network_of(kLarge));
    ASSERT_EQ(fresh.prerun(), TENGINE_OK) << tengine_error_message();
    fresh.feed_all(1);
    ASSERT_EQ(fresh.run(), TENGINE_OK) << tengine_error_message();

    DeviceRun run("TPU", {{"run.shape_cache", GetParam()}}, network_of(kSmall));
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    int changed = 0;
    for (int i = 0; i < run.source()->tensor_num; ++i) {
        tensor* weights = run.source()->tensor_list[i];
        if (weights->tensor_type != TENSOR_TYPE_CONST || weights->dim_num != 4) continue;
        std::memset(weights->data, 255, get_ir_tensor_bytes(weights));
        ++changed;
    }
    ASSERT_EQ(changed, 3);
    reshape(run, kLarge);
    run.feed_all(1);
    ASSERT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.nodes_on("CPU"), 0);
    EXPECT_EQ(run.outputs(), fresh.outputs());
}

TEST_P(TpuTiles, ProgramsAreThoseFromScratch)
{
    const test::TemporaryFolder folder;
    const OptionValues options = {{"save_program", folder.path()}, {"run.shape_cache", GetParam()}};
    DeviceRun fresh("TPU", options, network_of(kLarge));
    ASSERT_EQ(fresh.prerun(), TENGINE_OK) << tengine_error_message();
    const std::string expected = read_only_file(folder);
    DeviceRun run("TPU", options, network_of(kSmall));
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_NE(read_only_file(folder), expected);
    reshape(run, kLarge);
    EXPECT_EQ(read_only_file(folder), expected);
}

INSTANTIATE_TEST_SUITE_P(Kept, TpuTiles, testing::Values("0", "3"));

using Change = std::function<void(ProductLayer*)>;

// Returns the hash of a convolution of 8 channels to 6, changed and then set up.
std::string describe(const Change& change)
{
    static const int8_t weights[8 * 6 * 9] = {};
    Config config;
    EXPECT_EQ(load_config("edge", &config), TENGINE_OK);
    ProductLayer layer(config);
    layer.inputs = {{0, {1, 9, 9, 8}}};
    layer.output = {1, {1, 9, 9, 6}};
    layer.x = layer.y = {9, 9, 3, 1, 1, 1, 1};
    layer.weights = {weights, TENGINE_DT_INT8, true, 72, 3, 1, 9, {0}};
    layer.input_zero = 3;
    change(&layer);
    layer.set_up();
    sha256_t hash;
    start_sha256(&hash);
    layer.describe_tiles(&hash);
    std::array<uint8_t, SHA256_BYTES> digest;
    finish_sha256(&hash, digest.data());
    return {digest.begin(), digest.end()};
}

TEST(TpuTilesKey, HasAllThatTilesAndSumsDependOn)
{
    const std::map<const char*, Change> changes = {
        {"weights",
         [](ProductLayer* of) {
             of->weights.data = static_cast<const int8_t*>(of->weights.data) + 1;
         }},
        {"type", [](ProductLayer* of) { of->weights.data_type = TENGINE_DT_UINT8; }},
        {"stride_output", [](ProductLayer* of) { ++of->weights.stride_output; }},
        {"stride_y", [](ProductLayer* of) { ++of->weights.stride_y; }},
        {"stride_x", [](ProductLayer* of) { ++of->weights.stride_x; }},
        {"stride_c", [](ProductLayer* of) { ++of->weights.stride_c; }},
        {"zero point", [](ProductLayer* of) { of->weights.zero_points = {1}; }},
        {"zero points", [](ProductLayer* of) { of->weights.zero_points = {0, 0, 0, 0, 0, 0}; }},
        {"float", [](ProductLayer* of) { of->is_float = true; }},
        {"no zero of the input", [](ProductLayer* of) { of->input_zero = 0; }},
        {"group", [](ProductLayer* of) { of->group = 2; }},
        {"inputs", [](ProductLayer* of) { of->inputs[0].shape.c = 4; }},
        {"outputs", [](ProductLayer* of) { of->output.shape.c = 4; }},
        {"height of the kernel", [](ProductLayer* of) { of->y.kernel = 2; }},
        {"width of the kernel", [](ProductLayer* of) { of->x.kernel = 2; }},
        {"dilation", [](ProductLayer* of) { of->x.dilation = 2; }},
    };
    const std::string plain = describe([](ProductLayer*) {});
    EXPECT_EQ(describe([](ProductLayer* of) { of->output.shape.h = of->inputs[0].shape.h = 5; }),
              plain);
    for (const auto& [name, change] : changes)
        EXPECT_NE(describe(change), plain) << name;
}

}  // namespace
}  // namespace tengine::tpu
