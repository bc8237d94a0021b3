// SPDX-License-Identifier: Apache-2.0
// The programs that the compiler makes for each family of operators compute the bits that the CPU
// computes: on the default machine, and on small ones where tensors, weights or parameters do not
// fit.
#include <unistd.h>

#include <cstdio>
#include <gtest/gtest.h>
#include <string>

#include "device/tpu/device_run.h"
#include "device/tpu/quantized_model.h"

namespace tengine::tpu {
namespace {

using Model = std::function<void(QuantizedModel&)>;

// Machines as JSON files: rows, columns, buffer, accumulator rows, FIFO.
class Machines
{
  public:
    static std::string file(const std::string& name, const std::string& members)
    {
        const std::string path =
            testing::TempDir() + "tpu_" + name + "." + std::to_string(getpid()) + ".json";
        std::FILE* out = std::fopen(path.c_str(), "w");
        EXPECT_NE(out, nullptr);
        std::fprintf(out, "{\"base\": \"edge\", \"name\": \"%s\", %s}", name.c_str(),
                     members.c_str());
        std::fclose(out);
        return path;
    }
};

std::vector<std::string> machines()
{
    return {"edge", Machines::file("tiny", R"("rows": 4, "columns": 8, "unified_buffer_bytes": 8192,
                                      "accumulator_rows": 16, "weight_fifo_tiles": 1)"),
            Machines::file("small", R"("rows": 16, "columns": 16, "unified_buffer_bytes": 32768,
                                       "accumulator_rows": 64, "weight_fifo_tiles": 3)")};
}

void expect_same(const Model& model, int data_type = TENGINE_DT_INT8,
                 int weight_type = TENGINE_DT_INT8, unsigned seed = 1)
{
    for (const std::string& machine : machines()) {
        SCOPED_TRACE("config " + machine + ", seed " + std::to_string(seed));
        expect_same_bits(
            [&](test::IrBuilder& builder) {
                QuantizedModel quantized(builder, seed, data_type, weight_type);
                model(quantized);
            },
            {{"config", machine}}, seed);
    }
}

void expect_same_conv(const std::vector<int>& dims, const ConvOptions& options,
                      int data_type = TENGINE_DT_INT8, int weight_type = TENGINE_DT_INT8)
{
    expect_same(
        [&](QuantizedModel& model) {
            model.finish(model.conv(model.input(dims), dims[1], options));
        },
        data_type, weight_type);
}

ConvOptions window(int outputs, int kernel, int stride, int pad)
{
    ConvOptions options;
    options.outputs = outputs;
    options.kernel_h = options.kernel_w = kernel;
    options.stride = stride;
    options.pads = {pad, pad, pad, pad};
    return options;
}

TEST(TpuCompiler, Convolutions)
{
    expect_same_conv({1, 8, 9, 9}, window(8, 3, 1, 1));
    expect_same_conv({2, 3, 15, 13}, window(33, 7, 2, 3));
    expect_same_conv({1, 35, 7, 5}, window(17, 1, 1, 0));
    expect_same_conv({3, 33, 8, 9}, window(65, 1, 2, 0));
    expect_same_conv({1, 16, 6, 40}, window(5, 5, 1, 2));
    expect_same_conv({1, 1, 5, 5}, window(1, 5, 1, 0));
}

TEST(TpuCompiler, ConvolutionsOfEveryType)
{
    for (int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
        for (int weight_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
            for (int weight_zero : {0, 128, 5}) {
                ConvOptions options = window(19, 3, 1, 1);
                options.per_channel = true;
                options.weight_zero = weight_zero;
                expect_same_conv({1, 7, 6, 5}, options, data_type, weight_type);
            }
}

TEST(TpuCompiler, GroupsAndDilations)
{
    for (int group : {2, 6, 12, 24}) {
        ConvOptions options = window(24, 3, 1, 1);
        options.group = group;
        options.per_channel = true;
        expect_same_conv({1, 24, 7, 6}, options);
    }
    ConvOptions multiplied = window(40, 3, 2, 1);
    multiplied.group = 20;
    expect_same_conv({2, 20, 9, 7}, multiplied);
    ConvOptions wide = window(80, 1, 1, 0);
    wide.group = 2;
    expect_same_conv({1, 10, 5, 5}, wide);
    ConvOptions dilated = window(9, 3, 1, 2);
    dilated.dilation = 2;
    dilated.bias = false;
    expect_same_conv({1, 10, 9, 9}, dilated);
    ConvOptions lopsided = window(9, 2, 2, 0);
    lopsided.kernel_w = 3;
    lopsided.pads = {1, 0, 0, 2};
    expect_same_conv({1, 6, 8, 7}, lopsided);
}

TEST(TpuCompiler, MatrixProducts)
{
    for (int rows : {1, 5, 70})
        expect_same([rows](QuantizedModel& model) {
            model.finish(model.gemm(model.input({rows, 50}), 50, 45, true, rows % 2 == 1));
        });
    expect_same(
        [](QuantizedModel& model) {
            model.finish(model.matmul(model.input({2, 3, 40}), 40, 21));
        },
        TENGINE_DT_UINT8, TENGINE_DT_UINT8);
}

TEST(TpuCompiler, Pools)
{
    for (int kernel : {2, 3})
        for (int stride : {1, 2}) {
            expect_same([=](QuantizedModel& model) {
                model.finish(model.max_pool(model.input({2, 13, 9, 8}), kernel, stride, 1));
            });
            for (bool counts_padding : {false, true})
                expect_same(
                    [=](QuantizedModel& model) {
                        model.finish(model.average_pool(model.input({1, 13, 9, 8}), kernel, stride,
                                                        1, counts_padding));
                    },
                    TENGINE_DT_UINT8);
        }
    expect_same([](QuantizedModel& model) {
        model.finish(model.global_average_pool(model.input({2, 37, 7, 7})));
    });
    // All channels together exceed the buffer.
    expect_same_bits(
        [](test::IrBuilder& builder) {
            QuantizedModel model(builder, 1, TENGINE_DT_INT8);
            model.finish(model.global_average_pool(model.input({2, 64, 100, 100})));
        },
        {}, 1);
    expect_same_bits(
        [](test::IrBuilder& builder) {
            QuantizedModel model(builder, 1, TENGINE_DT_UINT8);
            model.finish(model.max_pool(model.input({1, 100, 12, 3000}), 3, 2, 1));
        },
        {}, 1);
}

TEST(TpuCompiler, SumsAndProductsOfTwo)
{
    for (const char* op : {"QLinearAdd", "QLinearMul"})
        for (int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
            const std::vector<std::vector<int>> shapes = {
                {2, 33, 5, 6}, {1, 33, 1, 1}, {2, 33, 1, 1}, {2, 33, 1, 6}};
            for (const std::vector<int>& shape : shapes) {
                expect_same(
                    [&](QuantizedModel& model) {
                        const std::string x = model.input({2, 33, 5, 6});
                        model.finish(model.pair(op, x, model.input(shape)));
                    },
                    data_type);
                expect_same(
                    [&](QuantizedModel& model) {
                        const std::string x = model.input({2, 33, 5, 6});
                        model.finish(model.pair(op, model.bytes(shape), x));
                    },
                    data_type);
            }
            expect_same(
                [&](QuantizedModel& model) {
                    const std::string x = model.input({3, 20});
                    model.finish(
                        model.pair(op, model.pair(op, x, model.bytes({})), model.bytes({20})));
                },
                data_type);
        }
}

TEST(TpuCompiler, Lookups)
{
    expect_same([](QuantizedModel& model) {
        model.finish(model.lookup(model.input({1, 40, 30, 20})));
    });
    expect_same([](QuantizedModel& model) {
        const std::string x = model.input({1, 6, 8, 8});
        model.finish(model.lookup(model.lookup(model.conv(x, 6, window(12, 3, 1, 1)))));
    });
}

TEST(TpuCompiler, Movement)
{
    const auto expect_moved = [](const std::function<std::string(QuantizedModel&)>& move) {
        expect_same([&](QuantizedModel& model) { model.finish(move(model)); });
    };
    for (int axis : {0, 1, 2, 3})
        expect_moved([axis](QuantizedModel& model) {
            const std::string x = model.input({2, 5, 4, 6});
            const std::string joined = model.plain("Concat", {x, model.lookup(x), x});
            model.set_int(joined, "axis", axis);
            return joined;
        });
    // More levels than one: two steps, the last group shorter than the others.
    for (int axis : {0, 1, 2, 3})
        expect_moved([axis](QuantizedModel& model) {
            const std::string parts[] = {model.input({2, 3, 2, 3}), model.input({2, 3, 2, 3}),
                                         model.input({2, 3, 2, 3})};
            std::vector<std::string> inputs;
            for (size_t i = 0; i < 70; ++i)
                inputs.push_back(parts[i * i % 5 % 3]);
            const std::string joined = model.plain("Concat", inputs);
            model.set_int(joined, "axis", axis);
            return joined;
        });
    expect_moved([](QuantizedModel& model) {
        return model.plain("Slice",
                           {model.input({2, 6, 9, 8}), model.ints({1, 1, 2}), model.ints({6, 9, 8}),
                            model.ints({1, 2, 3}), model.ints({1, 2, 3})});
    });
    expect_moved([](QuantizedModel& model) {
        return model.plain("Pad", {model.input({1, 5, 4, 6}), model.ints({0, 1, 2, 1, 0, 0, 1, 3}),
                                   model.bytes({})});
    });
    expect_moved([](QuantizedModel& model) {
        const std::string x = model.input({1, 5, 4, 6});
        const std::string scales = "factors";
        model.builder().floats(scales, {4}, {1, 1, 2, 3});
        const std::string y = model.plain("Resize", {x, "", scales});
        model.set_text(y, "mode", "nearest");
        model.set_text(y, "coordinate_transformation_mode", "asymmetric");
        model.set_text(y, "nearest_mode", "floor");
        return y;
    });
    for (const std::vector<int64_t>& order :
         std::vector<std::vector<int64_t>>{{0, 2, 3, 1}, {1, 0, 3, 2}, {0, 1, 3, 2}})
        expect_moved([&](QuantizedModel& model) {
            const std::string y = model.plain("Transpose", {model.input({2, 5, 4, 6})});
            model.set_ints(y, "perm", order);
            return y;
        });
    expect_moved([](QuantizedModel& model) {
        return model.plain("Reshape", {model.input({2, 6, 4, 5}), model.ints({2, 2, 3, 20})});
    });
    expect_moved([](QuantizedModel& model) {
        return model.gemm(model.plain("Flatten", {model.input({3, 6, 4, 5})}), 120, 10);
    });
}

std::string shuffle(QuantizedModel& model, const std::string& x, int channels, int size)
{
    const std::string split =
        model.plain("Reshape", {x, model.ints({1, 2, channels / 2, size, size})});
    const std::string turned = model.plain("Transpose", {split});
    model.set_ints(turned, "perm", {0, 2, 1, 3, 4});
    return model.plain("Reshape", {turned, model.ints({1, channels, size, size})});
}

TEST(TpuCompiler, ShuffledChannels)
{
    for (int channels : {8, 58, 116})
        for (int size : {5, 7, 14, 28}) {
            const Build build = [=](test::IrBuilder& builder) {
                QuantizedModel model(builder, 3);
                const std::string x = model.input({1, channels, size, size});
                const std::string y = shuffle(model, model.lookup(x), channels, size);
                // A window that reaches beyond the shuffled elements.
                model.finish(model.pair("QLinearAdd", model.lookup(y),
                                        model.conv(y, channels, window(channels, 3, 1, 1))));
            };
            SCOPED_TRACE(std::to_string(channels) + " x " + std::to_string(size));
            expect_same_bits(build);
        }
}

TEST(TpuCompiler, ResidualNetwork)
{
    expect_same([](QuantizedModel& model) {
        std::string x = model.conv(model.input({2, 3, 20, 20}), 3, window(16, 7, 2, 3));
        x = model.max_pool(x, 3, 2, 1);
        for (int block = 0; block < 3; ++block) {
            std::string y = model.conv(x, 16, window(8, 1, 1, 0));
            y = model.conv(model.lookup(y), 8, window(8, 3, 1, 1));
            y = model.conv(y, 8, window(16, 1, 1, 0));
            x = model.lookup(model.pair("QLinearAdd", y, x));
        }
        x = model.global_average_pool(x);
        model.finish(model.gemm(model.plain("Flatten", {x}), 16, 10, true));
    });
}

TEST(TpuCompiler, MobileNetwork)
{
    expect_same([](QuantizedModel& model) {
        std::string x = model.conv(model.input({1, 3, 18, 18}), 3, window(12, 3, 2, 1));
        for (int block = 0; block < 2; ++block) {
            std::string y = model.lookup(model.conv(x, 12, window(48, 1, 1, 0)));
            ConvOptions depthwise = window(48, 3, 1, 1);
            depthwise.group = 48;
            y = model.lookup(model.conv(y, 48, depthwise));
            const std::string gate =
                model.conv(model.global_average_pool(y), 48, window(48, 1, 1, 0));
            y = model.pair("QLinearMul", y, model.lookup(gate));
            x = model.pair("QLinearAdd", x, model.conv(y, 48, window(12, 1, 1, 0)));
        }
        model.finish(x);
    });
}

}  // namespace
}  // namespace tengine::tpu
