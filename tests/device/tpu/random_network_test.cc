// SPDX-License-Identifier: Apache-2.0
// Random networks on random machines: the TPU computes the CPU's bits for values that stay in the
// buffer, are framed, shared between readers, or spilled.
#include <unistd.h>

#include <cstdio>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "device/tpu/device_run.h"
#include "device/tpu/quantized_model.h"
#include "graph/core.h"

namespace tengine::tpu {
namespace {

struct Known
{
    std::string name;
    std::vector<int> dims;
};

class RandomNetwork
{
  public:
    RandomNetwork(test::IrBuilder& builder, unsigned seed)
        : random_(seed),
          model_(builder, seed, seed % 2 ? TENGINE_DT_INT8 : TENGINE_DT_UINT8,
                 seed % 3 ? TENGINE_DT_INT8 : TENGINE_DT_UINT8)
    {
        const std::vector<int> dims = {pick(1, 2), pick(1, 20), pick(4, 14), pick(4, 14)};
        known_.push_back({model_.input(dims), dims});
        const int steps = pick(3, 14);
        for (int i = 0; i < steps; ++i)
            known_.push_back(grow(
                known_[static_cast<size_t>(pick(std::max(0, static_cast<int>(known_.size()) - 4),
                                                static_cast<int>(known_.size()) - 1))]));
        const std::string& last = known_.back().name;
        const std::string& other =
            known_[static_cast<size_t>(pick(1, static_cast<int>(known_.size()) - 1))].name;
        if (other == last)
            builder.outputs({last});
        else
            builder.outputs({last, other});
    }

  private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

    // Adds a layer on `x`.
    Known grow(const Known& x)
    {
        switch (pick(0, 7)) {
            case 0:
            case 1:
                return conv(x);
            case 2:
                return depthwise(x);
            case 3:
                return pool(x);
            case 4:
                return pair(x);
            case 5:
                return concat(x);
            case 6:
                return shuffle(x);
            default:
                return {model_.lookup(x.name), x.dims};
        }
    }

    Known conv(const Known& x)
    {
        ConvOptions options;
        options.outputs = pick(1, 40);
        options.kernel_h = pick(1, std::min(3, x.dims[2]));
        options.kernel_w = pick(1, std::min(3, x.dims[3]));
        options.stride = pick(1, 2);
        options.pads = {pick(0, 1), pick(0, 1), pick(0, 1), pick(0, 1)};
        options.per_channel = pick(0, 1);
        const auto& pads = options.pads;
        const auto size = [&](int input, int64_t padding, int kernel) {
            return static_cast<int>((input + padding - kernel) / options.stride + 1);
        };
        return {model_.conv(x.name, x.dims[1], options),
                {x.dims[0], options.outputs, size(x.dims[2], pads[0] + pads[2], options.kernel_h),
                 size(x.dims[3], pads[1] + pads[3], options.kernel_w)}};
    }

    Known depthwise(const Known& x)
    {
        ConvOptions options;
        options.outputs = options.group = x.dims[1];
        return {model_.conv(x.name, x.dims[1], options), x.dims};
    }

    Known pool(const Known& x)
    {
        const int stride = pick(1, 2);
        const auto size = [stride](int input) { return (input + 2 - 3) / stride + 1; };
        if (x.dims[2] < 2 || x.dims[3] < 2) return {model_.lookup(x.name), x.dims};
        const std::vector<int> dims = {x.dims[0], x.dims[1], size(x.dims[2]), size(x.dims[3])};
        if (pick(0, 1)) return {model_.max_pool(x.name, 3, stride, 1), dims};
        return {model_.average_pool(x.name, 3, stride, 1, pick(0, 1)), dims};
    }

    // Combines it with another value of the same shape, or with a gate of its own.
    Known pair(const Known& x)
    {
        const char* op = pick(0, 1) ? "QLinearAdd" : "QLinearMul";
        for (const Known& other : known_)
            if (other.dims == x.dims && other.name != x.name)
                return {model_.pair(op, other.name, x.name), x.dims};
        return {model_.pair(op, x.name, model_.global_average_pool(x.name)), x.dims};
    }

    Known concat(const Known& x)
    {
        for (const Known& other : known_) {
            std::vector<int> dims = x.dims;
            dims[1] = other.dims[1];
            if (other.dims != dims) continue;
            const std::string joined = model_.plain("Concat", {other.name, x.name});
            model_.set_int(joined, "axis", 1);
            dims[1] += x.dims[1];
            return {joined, dims};
        }
        return {model_.lookup(x.name), x.dims};
    }

    Known shuffle(const Known& x)
    {
        const std::string turned = model_.plain("Transpose", {x.name});
        model_.set_ints(turned, "perm", {0, 1, 3, 2});
        return {turned, {x.dims[0], x.dims[1], x.dims[3], x.dims[2]}};
    }

    std::mt19937 random_;
    QuantizedModel model_;
    std::vector<Known> known_;
};

std::string random_machine(unsigned seed)
{
    std::mt19937 random(seed);
    const auto pick = [&random](std::initializer_list<int> values) {
        return values.begin()[random() % values.size()];
    };
    const std::string path =
        testing::TempDir() + "tpu_random_machine." + std::to_string(getpid()) + ".json";
    std::FILE* out = std::fopen(path.c_str(), "w");
    if (!out) return "edge";
    std::fprintf(
        out,
        "{\"base\": \"edge\", \"rows\": %d, \"columns\": %d, \"unified_buffer_bytes\": %d, "
        "\"accumulator_rows\": %d, \"weight_fifo_tiles\": %d}",
        pick({3, 8, 16, 32}), pick({5, 8, 16, 32}), pick({16384, 24000, 40000, 524288}),
        pick({7, 16, 100, 1024}), pick({1, 2, 3, 4}));
    std::fclose(out);
    return path;
}

// Like expect_same_bits(), but a small machine may refuse nodes that do not fit.
void expect_bits_of_cpu(const Build& build, const std::string& machine, unsigned seed)
{
    DeviceRun on_tpu("TPU", {{"config", machine}}, build);
    DeviceRun on_cpu("CPU", {}, build);
    for (DeviceRun* run : {&on_tpu, &on_cpu}) {
        ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        run->feed_all(seed);
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    if (on_tpu.nodes_on("CPU") > 0) {
        EXPECT_NE(on_tpu.refusals().find("one row of work"), std::string::npos)
            << on_tpu.refusals();
    }
    const graph* made = on_tpu.execution();
    for (int i = 0; i < get_vector_num(made->subgraph_list); ++i)
        EXPECT_EQ(get_ir_graph_subgraph(made, i)->core->redo_num, 0);
    EXPECT_EQ(on_tpu.outputs(), on_cpu.outputs());
}

TEST(TpuRandomNetwork, HasTheBitsOfTheCpu)
{
    for (unsigned seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        expect_bits_of_cpu([seed](test::IrBuilder& builder) { RandomNetwork(builder, seed); },
                           random_machine(seed), seed);
    }
}

}  // namespace
}  // namespace tengine::tpu
