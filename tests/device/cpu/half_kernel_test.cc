// SPDX-License-Identifier: Apache-2.0
// Fast kernels of fp16 and bf16: they compute what the same kernel computes from the same numbers
// in fp32, rounded once, bit by bit; on every instruction set this machine has, with one worker and
// several. The fp32 results are checked in kernel_test.cc and reduce_test.cc.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "base/half.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_list.h"
#include "device/cpu/kernel_runner.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/table_cases.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::cpu {
namespace {

float round_to(int data_type, float value)
{
    return data_type == TENGINE_DT_FP16 ? fp16_to_fp32(fp32_to_fp16(value))
                                        : bf16_to_fp32(fp32_to_bf16(value));
}

std::vector<float> round_all(int data_type, std::vector<float> values)
{
    for (float& value : values)
        value = round_to(data_type, value);
    return values;
}

void expect_same(const std::vector<float>& actual, const std::vector<float>& expected)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
        const bool is_nan = std::isnan(actual[i]) && std::isnan(expected[i]);
        ASSERT_TRUE(is_nan || fp32_to_bits(actual[i]) == fp32_to_bits(expected[i]))
            << "element " << i << ": " << actual[i] << ", expected " << expected[i];
    }
}

template <class Body>
void for_each_target(const Body& body)
{
    for (int target = 0; target < get_vector_target_num(); ++target) {
        force_vector_target(target);
        SCOPED_TRACE(get_vector_target_name(target));
        body();
    }
    force_vector_target(-1);
}

class Float16KernelTest : public testing::TestWithParam<Case>
{
  protected:
    // Fills inputs with numbers rounded to the type. Integers, and inputs whose values the case
    // states, keep theirs.
    static void fill(int data_type, KernelRunner* runner)
    {
        for (size_t input = 0; input < runner->input_num(); ++input) {
            const tools::Operand& operand = GetParam().inputs[input];
            if (operand.is_absent || !operand.values.empty()) continue;
            if (operand.data_type != tools::kCaseType) continue;
            const bool has_range = operand.low != operand.high;
            std::mt19937 generator(static_cast<uint32_t>(input + 1));
            std::uniform_real_distribution<float> distribution(
                has_range ? static_cast<float>(operand.low) : -4.0f,
                has_range ? static_cast<float>(operand.high) : 4.0f);
            std::vector<float> values(runner->input_size(static_cast<int>(input)));
            for (float& value : values)
                value = round_to(data_type, distribution(generator));
            const bool sums = GetParam().op.find("Reduce") == 0;
            if (input == 0 && values.size() > 5 && !sums) {
                values[3] = std::numeric_limits<float>::infinity();
                values[5] = NAN;
            }
            runner->fill(static_cast<int>(input), values);
        }
    }

    static void compare(int data_type)
    {
        KernelRunner halves(GetParam(), data_type), floats(GetParam());
        fill(data_type, &halves);
        fill(data_type, &floats);
        const std::vector<const Kernel*> kernels = halves.kernels();
        for (const Kernel* kernel : kernels) {
            if (is_reference(*kernel)) continue;
            SCOPED_TRACE(kernel->name);
            for_each_target([&] {
                const std::vector<float> expected = round_all(data_type, floats.run(*kernel, 1));
                for (const int thread_num : {1, 3})
                    expect_same(halves.run(*kernel, thread_num), expected);
                if (kernel->in_place_input >= 0 &&
                    halves.input_size(kernel->in_place_input) == expected.size())
                    expect_same(halves.run_in_place(*kernel, 2), expected);
            });
        }
    }

    // Expects results within a rounding of the plain kernel's, or of its terms if they cancel.
    static void compare_with_reference(int data_type)
    {
        KernelRunner runner(GetParam(), data_type);
        fill(data_type, &runner);
        const std::vector<const Kernel*> kernels = runner.kernels();
        const std::vector<float> expected = runner.run(*kernels.back(), 1);
        const std::vector<float> actual = runner.run(*kernels.front(), 1);
        const double step = data_type == TENGINE_DT_FP16 ? 0x1p-10 : 0x1p-7;
        for (size_t i = 0; i < expected.size(); ++i) {
            if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])))
                continue;
            ASSERT_LE(std::fabs(double{actual[i]} - expected[i]),
                      step * std::fabs(expected[i]) + 0x1p-14)
                << "element " << i;
        }
    }
};

TEST_P(Float16KernelTest, RoundsTheResultInFp32Once)
{
    if (get_vector_target_num() == 0 || !kHasHalves) GTEST_SKIP() << "no kernels for fp16 and bf16";
    for (const int data_type : {TENGINE_DT_FP16, TENGINE_DT_BF16}) {
        SCOPED_TRACE(get_data_type_name(data_type));
        compare(data_type);
        compare_with_reference(data_type);
    }
}

const OperatorNames kOperators = {"Add",
                                  "AveragePool",
                                  "BatchNormalization",
                                  "Clip",
                                  "Div",
                                  "Erf",
                                  "Exp",
                                  "Gelu",
                                  "GlobalAveragePool",
                                  "GlobalMaxPool",
                                  "HardSigmoid",
                                  "HardSwish",
                                  "LayerNormalization",
                                  "LeakyRelu",
                                  "Max",
                                  "MaxPool",
                                  "Mul",
                                  "Neg",
                                  "PRelu",
                                  "Pow",
                                  "RMSNormalization",
                                  "ReduceL1",
                                  "ReduceMean",
                                  "Relu",
                                  "RotaryEmbedding",
                                  "Sigmoid",
                                  "Softmax",
                                  "Sqrt",
                                  "Sub",
                                  "Swish",
                                  "Tanh"};

TEST(Float16KernelTable, HasACaseOfAFastKernelForEachOperator)
{
    if (get_vector_target_num() == 0 || !kHasHalves) GTEST_SKIP() << "no kernels for fp16 and bf16";
    for (const int data_type : {TENGINE_DT_FP16, TENGINE_DT_BF16})
        expect_fast_kernels(tools::list_cases(), kOperators, data_type);
}

INSTANTIATE_TEST_SUITE_P(Kernel, Float16KernelTest,
                         testing::ValuesIn(choose_cases(tools::list_cases(), kOperators,
                                                        TENGINE_DT_FP16)),
                         test_name);

// ---- conversions ----

// All values of 16 bits, and floats of all magnitudes, some of them after the last full vector.
TEST(FloatRowsTest, AreThoseOfTheBase)
{
    if (get_vector_target_num() == 0 || !kHasHalves) GTEST_SKIP() << "no kernels for fp16 and bf16";
    std::vector<uint16_t> halves(0x10003);
    for (size_t i = 0; i < halves.size(); ++i)
        halves[i] = static_cast<uint16_t>(i);
    std::vector<float> floats;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 32749)
        floats.push_back(bits_to_fp32(static_cast<uint32_t>(bits)));
    for (const uint32_t bits : {0x33000000u, 0x33000001u, 0x387fffffu, 0x477fefffu, 0x477ff000u,
                                0x7f800000u, 0x7f800001u, 0xffffffffu, 0x7f7fffffu, 0x3f808000u})
        floats.push_back(bits_to_fp32(bits));
    for (const int data_type : {TENGINE_DT_FP16, TENGINE_DT_BF16}) {
        SCOPED_TRACE(get_data_type_name(data_type));
        const bool is_fp16 = data_type == TENGINE_DT_FP16;
        for_each_target([&] {
            const FloatRows rows = find_float_rows(data_type);
            std::vector<float> wide(halves.size());
            rows.widen(halves.data(), static_cast<int64_t>(halves.size()), wide.data());
            std::vector<float> expected;
            for (const uint16_t half : halves)
                expected.push_back(is_fp16 ? fp16_to_fp32(half) : bf16_to_fp32(half));
            expect_same(wide, expected);
            std::vector<uint16_t> narrow(floats.size());
            rows.narrow(floats.data(), static_cast<int64_t>(floats.size()), narrow.data());
            for (size_t i = 0; i < floats.size(); ++i)
                ASSERT_EQ(narrow[i], is_fp16 ? fp32_to_fp16(floats[i]) : fp32_to_bf16(floats[i]))
                    << floats[i];
        });
    }
}

// ---- Cast ----

struct FloatType
{
    int data_type;
    int onnx_type;
};

constexpr FloatType kTypes[] = {{TENGINE_DT_FP32, 1}, {TENGINE_DT_FP16, 10}, {TENGINE_DT_BF16, 16}};

// The bytes of a kernel's result.
std::vector<uint8_t> run_cast(const Kernel& kernel, node* node, int thread_num)
{
    tensor* output = get_ir_node_output(node, 0);
    std::vector<uint8_t> bytes(static_cast<size_t>(output->elem_num) * output->elem_size, 0xff);
    output->data = bytes.data();
    PreparedKernel(kernel, node, thread_num).run();
    output->data = nullptr;
    return bytes;
}

TEST(CastKernelTest, IsThatOfTheReference)
{
    if (get_vector_target_num() == 0 || !kHasHalves) GTEST_SKIP() << "no kernels for fp16 and bf16";
    constexpr int kCount = 40009;
    for (const FloatType& from : kTypes)
        for (const FloatType& to : kTypes) {
            if (from.data_type == to.data_type) continue;
            test::IrBuilder builder;
            std::vector<uint32_t> bits(kCount);
            for (int i = 0; i < kCount; ++i)
                bits[static_cast<size_t>(i)] = static_cast<uint32_t>(i) * 2654435761u;
            // NaN are quiet: kernels may treat signalling ones differently.
            if (from.data_type == TENGINE_DT_BF16)
                for (uint32_t& pair : bits)
                    pair |= 0x00400040u;
            std::vector<uint8_t> bytes(kCount * (from.data_type == TENGINE_DT_FP32 ? 4 : 2));
            std::memcpy(bytes.data(), bits.data(), bytes.size());
            builder.constant("x", {kCount}, bytes, from.data_type);
            node* node = builder.add("Cast", {"x"}, {"y"});
            ASSERT_EQ(set_node_int(node, "to", to.onnx_type), TENGINE_OK);
            ASSERT_EQ(node->op.infer_shape(node), TENGINE_OK) << tengine_error_message();
            const std::vector<const Kernel*> kernels = list_accepting_kernels(*node);
            ASSERT_EQ(kernels.size(), 2u);
            const std::vector<uint8_t> expected = run_cast(*kernels[1], node, 1);
            for_each_target([&] {
                for (const int thread_num : {1, 3})
                    EXPECT_EQ(run_cast(*kernels[0], node, thread_num), expected);
            });
        }
}

}  // namespace
}  // namespace tengine::cpu
