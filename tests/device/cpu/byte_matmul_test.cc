// SPDX-License-Identifier: Apache-2.0
// The fast kernels of int8 and uint8 matrix products against the reference, on every instruction
// set this machine has, with int8 instructions and without, with one worker and several. Integer
// results are identical; floats are within the bound of dynamic_matmul_pixels.cc.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/runnable.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;

size_t count(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

class Int8Product
{
  public:
    explicit Int8Product(unsigned seed) : random_(seed) {}

    void bytes(const char* name, const std::vector<int>& dims, int type, bool is_constant = true)
    {
        std::vector<uint8_t> values(count(dims));
        for (uint8_t& value : values)
            value = static_cast<uint8_t>(random_());
        builder_.constant(name, dims, values, type);
        if (!is_constant) builder_.find(name)->tensor_type = TENSOR_TYPE_VAR;
    }
    void floats(const char* name, const std::vector<int>& dims, float lowest, float highest)
    {
        std::uniform_real_distribution<float> distribution(lowest, highest);
        std::vector<float> values(count(dims));
        for (float& value : values)
            value = distribution(random_);
        builder_.floats(name, dims, values);
    }
    void integers(const char* name, const std::vector<int>& dims)
    {
        std::vector<int32_t> values(count(dims));
        for (int32_t& value : values)
            value = static_cast<int32_t>(random_() % 20000) - 10000;
        builder_.constant(name, dims, values, TENGINE_DT_INT32);
    }
    void zero(const char* name, int type, int value)
    {
        builder_.constant(name, {}, std::vector<uint8_t>{static_cast<uint8_t>(value)}, type);
    }
    void add(const char* op, const std::vector<std::string>& inputs)
    {
        node_ = builder_.add(op, inputs, {"y"});
    }
    node* operator->() { return node_; }

    void infer() { ASSERT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message(); }

    // Compares all fast kernels that accept the node; at least one does in a build with vectors.
    void compare(const char* fast)
    {
        infer();
        const std::vector<const Kernel*> kernels = cpu::list_runnable_kernels(*node_);
        ASSERT_STREQ(kernels.back()->name, "reference");
        if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has no vectors";
        ASSERT_STREQ(kernels.front()->name, fast);
        const std::vector<uint8_t> expected = run(*kernels.back(), 1);
        for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
            cpu::force_vector_target(target);
            for (const int thread_num : {1, 3}) {
                check(run(*kernels.front(), thread_num), expected);
                const cpu::ForcedFeatures none(0);
                check(run(*kernels.front(), thread_num), expected);
            }
        }
        cpu::force_vector_target(-1);
    }

  private:
    std::vector<uint8_t> run(const Kernel& kernel, int thread_num)
    {
        tensor* y = builder_.find("y");
        std::vector<uint8_t> values(static_cast<size_t>(y->elem_num * y->elem_size), 0xee);
        y->data = values.data();
        cpu::PreparedKernel(kernel, node_, thread_num).run();
        y->data = nullptr;
        return values;
    }

    void check(const std::vector<uint8_t>& actual, const std::vector<uint8_t>& expected)
    {
        if (builder_.find("y")->data_type != TENGINE_DT_FP32) {
            EXPECT_EQ(actual, expected);
            return;
        }
        const tensor* bias = builder_.find("bias");
        for (size_t i = 0; i < actual.size() / sizeof(float); ++i) {
            float is, should;
            std::memcpy(&is, actual.data() + i * sizeof is, sizeof is);
            std::memcpy(&should, expected.data() + i * sizeof should, sizeof should);
            const float term =
                bias ? std::abs(bias->f32[i % static_cast<size_t>(bias->elem_num)]) : 0;
            ASSERT_NEAR(is, should, 4 * 1.2e-7f * (std::abs(should) + 2 * term)) << i;
        }
    }

    std::mt19937 random_;
    IrBuilder builder_;
    node* node_ = nullptr;
};

struct Sizes
{
    int m, k, n;
};
constexpr Sizes kSizes[] = {{1, 64, 10}, {3, 5, 33}, {17, 130, 70}, {40, 768, 64}, {2, 2, 1}};
constexpr int kTypes[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};

TEST(Int8MatMul, QGemmHasTheBitsOfTheReference)
{
    for (const Sizes& s : kSizes)
        for (const int type : kTypes)
            for (const bool is_transposed : {true, false})
                for (const bool is_centred : {true, false}) {
                    Int8Product product(5);
                    product.bytes("a", {s.m, s.k}, type, false);
                    product.bytes(
                        "b",
                        is_transposed ? std::vector<int>{s.n, s.k} : std::vector<int>{s.k, s.n},
                        type);
                    product.bytes("a_zero", {}, type);
                    product.zero("b_zero", type,
                                 is_centred ? (type == TENGINE_DT_INT8 ? 0 : 128) : 77);
                    product.bytes("y_zero", {}, type);
                    product.floats("a_scale", {}, 0.01f, 0.02f);
                    product.floats("b_scale", {s.n}, 0.01f, 0.02f);
                    product.floats("y_scale", {}, 0.1f, 0.2f);
                    product.integers("bias", {s.n});
                    product.add("com.microsoft.QGemm", {"a", "a_scale", "a_zero", "b", "b_scale",
                                                        "b_zero", "bias", "y_scale", "y_zero"});
                    ASSERT_EQ(set_node_int(product.operator->(), "transB", is_transposed),
                              TENGINE_OK);
                    product.compare("gemm.s8.packed");
                }
}

// Compares with one scale for A, and with one for each of its rows.
void compare_dynamic(const char* op, const char* fast)
{
    for (const Sizes& s : kSizes)
        for (const int type : kTypes)
            for (const bool has_all : {true, false}) {
                Int8Product product(7);
                product.floats("a", {s.m, s.k}, has_all ? -1.0f : 0.5f, 3.0f);
                product.bytes("b", {s.k, s.n}, type);
                product.floats("b_scale", {has_all ? s.n : 1}, 0.01f, 0.02f);
                product.bytes("b_zero", {1}, type);
                product.floats("bias", {s.n}, -2.0f, 2.0f);
                if (has_all)
                    product.add(op, {"a", "b", "b_scale", "", "bias"});
                else
                    product.add(op, {"a", "b", "b_scale", "b_zero"});
                product.compare(fast);
            }
}

TEST(Int8MatMul, DynamicQuantizeMatMulIsNearTheReference)
{
    compare_dynamic("com.microsoft.DynamicQuantizeMatMul", "dynamic_quantize_matmul.s8.packed");
}

TEST(Int8MatMul, RowQuantizeMatMulIsNearTheReference)
{
    compare_dynamic("tengine.RowQuantizeMatMul", "row_quantize_matmul.s8.packed");
}

TEST(Int8MatMul, MatMulIntegerToFloatIsNearTheReference)
{
    for (const Sizes& s : kSizes)
        for (const int type : kTypes) {
            Int8Product product(9);
            product.bytes("a", {s.m, s.k}, type, false);
            product.bytes("b", {s.k, s.n}, TENGINE_DT_INT8);
            product.floats("a_scale", {}, 0.01f, 0.02f);
            product.floats("b_scale", {s.n}, 0.01f, 0.02f);
            product.bytes("a_zero", {}, type);
            product.add("com.microsoft.MatMulIntegerToFloat",
                        {"a", "b", "a_scale", "b_scale", "a_zero"});
            product.compare("matmul_integer_to_float.s8.packed");
        }
}

TEST(Int8MatMul, MatMulIntegerHasTheSumsOfTheReference)
{
    for (const Sizes& s : kSizes)
        for (const int a_type : kTypes)
            for (const int b_type : kTypes) {
                Int8Product product(11);
                product.bytes("a", {2, s.m, s.k}, a_type, false);
                product.bytes("b", {s.k, s.n}, b_type);
                product.bytes("a_zero", {}, a_type, false);
                product.bytes("b_zero", {s.n}, b_type);
                product.add("MatMulInteger", {"a", "b", "a_zero", "b_zero"});
                product.compare("matmul_integer.s8.packed");
            }
}

}  // namespace
}  // namespace tengine::test
