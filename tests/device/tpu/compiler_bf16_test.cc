// SPDX-License-Identifier: Apache-2.0
// bf16 on the TPU against the CPU, which accumulates in double and rounds once: within one rounding
// of the result and the error of fp32 sums.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "base/half.h"
#include "device/tpu/device_run.h"
#include "operator/param.h"

namespace tengine::tpu {
namespace {

using Halves = std::vector<uint16_t>;

Halves random_halves(int64_t number, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    Halves halves(static_cast<size_t>(number));
    for (uint16_t& half : halves)
        half = fp32_to_bf16(values(random));
    return halves;
}

int64_t product_of(const std::vector<int>& dims)
{
    int64_t product = 1;
    for (int dim : dims)
        product *= dim;
    return product;
}

class Bf16Model
{
  public:
    explicit Bf16Model(test::IrBuilder& builder) : builder_(builder) {}

    std::string input(const std::vector<int>& dims)
    {
        builder_.input("x", dims, TENGINE_DT_BF16);
        return "x";
    }
    std::string constant(const std::vector<int>& dims)
    {
        const std::string name = "c" + std::to_string(number_++);
        builder_.constant(name, dims,
                          random_halves(product_of(dims), static_cast<unsigned>(number_)),
                          TENGINE_DT_BF16);
        return name;
    }
    std::string add(const std::string& op, std::vector<std::string> inputs)
    {
        const std::string name = "y" + std::to_string(number_++);
        node_ = builder_.add(op, std::move(inputs), {name});
        return name;
    }
    void set(const char* name, const std::vector<int64_t>& values)
    {
        EXPECT_EQ(set_node_ints(node_, name, values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    }
    test::IrBuilder& builder() { return builder_; }

  private:
    test::IrBuilder& builder_;
    node* node_ = nullptr;
    int number_ = 0;
};

Halves run_on(const std::string& device, const Build& build)
{
    DeviceRun run(device, {}, build);
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    const Halves values = random_halves(
        get_ir_graph_tensor(run.source(), run.source()->input_tensors[0])->elem_num, 7);
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    run.feed("x", Bytes(bytes, bytes + values.size() * sizeof(uint16_t)));
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_TRUE(device == "CPU" || run.nodes_on("CPU") == 0) << run.refusals();
    const Bytes outputs = run.outputs();
    Halves halves(outputs.size() / sizeof(uint16_t));
    std::memcpy(halves.data(), outputs.data(), outputs.size());
    return halves;
}

// `terms`: products of one sum, each of at most 1, over all layers.
void expect_near(const std::function<std::string(Bf16Model&)>& make, double terms,
                 double roundings = 1)
{
    const Build build = [&](test::IrBuilder& builder) {
        Bf16Model model(builder);
        builder.outputs({make(model).c_str()});
    };
    const Halves ours = run_on("TPU", build), reference = run_on("CPU", build);
    ASSERT_EQ(ours.size(), reference.size());
    const double sum_error = terms * terms * std::ldexp(1.0, -24);
    for (size_t i = 0; i < ours.size(); ++i) {
        const double expected = bf16_to_fp32(reference[i]);
        EXPECT_NEAR(bf16_to_fp32(ours[i]), expected,
                    roundings * std::ldexp(std::abs(expected) + terms / 64 * (roundings - 1), -8) +
                        sum_error)
            << i;
    }
}

TEST(TpuCompilerBf16, Products)
{
    expect_near(
        [](Bf16Model& model) {
            const std::string y = model.add(
                "Conv",
                {model.input({1, 7, 9, 8}), model.constant({33, 7, 3, 3}), model.constant({33})});
            model.set("pads", {1, 1, 1, 1});
            return model.add("Relu", {y});
        },
        64);
    expect_near(
        [](Bf16Model& model) {
            return model.add(
                "Gemm", {model.input({5, 70}), model.constant({70, 40}), model.constant({40})});
        },
        71);
    expect_near(
        [](Bf16Model& model) {
            return model.add("MatMul", {model.input({2, 5, 35}), model.constant({35, 40})});
        },
        35);
}

TEST(TpuCompilerBf16, ElementsAndPools)
{
    const auto with_window = [](const char* op) {
        return [op](Bf16Model& model) {
            const std::string y = model.add(op, {model.input({2, 5, 9, 8})});
            model.set("kernel_shape", {3, 3});
            model.set("strides", {2, 2});
            model.set("pads", {1, 1, 1, 1});
            return y;
        };
    };
    expect_near(with_window("MaxPool"), 0);
    expect_near(with_window("AveragePool"), 9);
    expect_near(
        [](Bf16Model& model) {
            return model.add("GlobalAveragePool", {model.input({2, 5, 9, 8})});
        },
        72);
    for (const char* op : {"Add", "Mul"})
        expect_near(
            [op](Bf16Model& model) {
                return model.add(op, {model.input({2, 5, 9, 8}), model.constant({5, 1, 1})});
            },
            2);
    expect_near(
        [](Bf16Model& model) {
            return model.add("Clip",
                             {model.input({3, 9}),
                              model.builder()
                                  .constant("low", {}, Halves{fp32_to_bf16(-0.5f)}, TENGINE_DT_BF16)
                                  ->name});
        },
        0);
}

TEST(TpuCompilerBf16, Movement)
{
    expect_near(
        [](Bf16Model& model) {
            const std::string x = model.input({2, 5, 4, 6});
            const std::string y = model.add("Transpose", {x});
            model.set("perm", {0, 2, 3, 1});
            return y;
        },
        0);
    expect_near(
        [](Bf16Model& model) {
            model.builder().ints("pads", {0, 1, 2, 1, 0, 0, 1, 3});
            return model.add("Pad", {model.input({2, 5, 4, 6}), "pads"});
        },
        0);
}

}  // namespace
}  // namespace tengine::tpu
