// SPDX-License-Identifier: Apache-2.0
// The fast kernels of MatMulNBits against exact sums, on every instruction set this machine has,
// with identical bits for one worker and several.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/runnable.h"
#include "operator/onnx/quantized_product_param.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;

struct Case
{
    int rows, k, n, bits, block_size;
    bool has_zero_points = false, has_bias = false;
};

// Few rows and many, columns and rows that do not fill a panel, tile, block or K segment.
const std::vector<Case> kCases = {
    {1, 16, 1, 4, 16},
    {1, 96, 16, 4, 32, true},
    {2, 200, 37, 4, 32, true, true},
    {3, 64, 48, 4, 64},
    {4, 130, 70, 4, 128, true},
    {5, 256, 20, 4, 256, false, true},
    {8, 77, 33, 4, 16, true},
    {9, 77, 33, 4, 16, true, true},
    {13, 600, 65, 4, 32},
    {37, 1100, 41, 4, 32, true},
    {24, 700, 32, 4, 256, true},
    {1, 40, 19, 8, 16, true},
    {2, 96, 17, 8, 32},
    {4, 300, 24, 8, 256, true},
    {7, 130, 35, 8, 64, false, true},
    {30, 600, 50, 8, 32, true},
    {12, 1024, 16, 8, 128},
    {0, 64, 8, 4, 32},
    {1, 96, 16, 2, 32, true},
    {3, 64, 48, 2, 64},
    {9, 77, 33, 2, 16, true, true},
    {30, 600, 50, 2, 32},
};

size_t number(int64_t count)
{
    return static_cast<size_t>(count);
}

// The exact sum, and the magnitudes that bound a result's error.
struct Expected
{
    double sum;
    double magnitude;  // sum of the magnitudes of its products
    double uncentred;  // the same without subtracting zero points first
    double step;       // the largest effect of quantising A to 8 bits
};

// Reads the element bit by bit, the lowest first.
int element_of(const uint8_t* bytes, int64_t index, int bits)
{
    int value = 0;
    for (int bit = 0; bit < bits; ++bit) {
        const int64_t at = index * bits + bit;
        value |= (bytes[at / 8] >> at % 8 & 1) << bit;
    }
    return value;
}

class NbitsNode
{
  public:
    NbitsNode(const Case& c, int accuracy_level) : c_(c)
    {
        std::mt19937 random(23);
        std::normal_distribution<float> normal;
        std::vector<float> a(number(int64_t{c.rows} * c.k));
        for (float& value : a)
            value = normal(random);
        const int blocks = (c.k + c.block_size - 1) / c.block_size;
        const auto bytes = [&](int count) {
            std::vector<uint8_t> values(number(count));
            for (uint8_t& value : values)
                value = static_cast<uint8_t>(random());
            return values;
        };
        std::vector<float> scales(number(c.n * blocks)), bias(number(c.n));
        for (float& value : scales)
            value = 0.01f * normal(random);
        for (float& value : bias)
            value = normal(random);
        const int block_bytes = c.block_size * c.bits / 8, zero_bytes = (blocks * c.bits + 7) / 8;
        builder_.floats("a", {c.rows, c.k}, a);
        builder_.constant("b", {c.n, blocks, block_bytes}, bytes(c.n * blocks * block_bytes),
                          TENGINE_DT_UINT8);
        builder_.floats("scales", {c.n, blocks}, scales);
        builder_.constant("zeros", {c.n, zero_bytes}, bytes(c.n * zero_bytes), TENGINE_DT_UINT8);
        builder_.floats("bias", {c.n}, bias);
        node_ = builder_.add(
            "com.microsoft.MatMulNBits",
            {"a", "b", "scales", c.has_zero_points ? "zeros" : "", "", c.has_bias ? "bias" : ""},
            {"y"});
        for (const auto& [name, value] :
             std::vector<std::pair<const char*, int>>{{"K", c.k},
                                                      {"N", c.n},
                                                      {"bits", c.bits},
                                                      {"block_size", c.block_size},
                                                      {"accuracy_level", accuracy_level}})
            EXPECT_EQ(set_node_int(node_, name, value), TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    std::vector<const Kernel*> kernels() const { return cpu::list_runnable_kernels(*node_); }
    std::string choice(uint64_t features) const { return cpu::choose_kernel(*node_, features); }

    std::vector<float> run(const Kernel& kernel, int thread_num)
    {
        tensor* y = builder_.find("y");
        std::vector<float> values(number(y->elem_num), NAN);
        cpu::PreparedKernel prepared(kernel, node_, thread_num);
        y->data = values.data();
        prepared.run();
        y->data = nullptr;
        return values;
    }

    std::vector<Expected> expect()
    {
        std::vector<Expected> made;
        for (int row = 0; row < c_.rows; ++row)
            for (int n = 0; n < c_.n; ++n)
                made.push_back(expect(builder_.find("a")->f32 + int64_t{row} * c_.k, n));
        return made;
    }

    IrBuilder& builder() { return builder_; }

  private:
    Expected expect(const float* a, int n)
    {
        nbits_shape shape;
        resolve_nbits_shape(node_, &shape);
        const uint8_t* elements =
            builder_.find("b")->u8 + int64_t{n} * shape.blocks * shape.block_bytes;
        const uint8_t* zeros = builder_.find("zeros")->u8 + int64_t{n} * shape.zero_point_step;
        Expected made = {};
        if (c_.has_bias) made.sum = builder_.find("bias")->f32[n];
        made.magnitude = made.uncentred = std::abs(made.sum);
        for (int block = 0; block < shape.blocks; ++block) {
            const double scale = builder_.find("scales")->f32[n * shape.blocks + block];
            const int zero = c_.has_zero_points ? element_of(zeros, block, shape.bits)
                                                : (shape.bits == 2   ? 2
                                                   : shape.bits == 4 ? 8
                                                                     : 128);
            double largest = 0, weights = 0;
            const int first = block * shape.block_size;
            for (int k = first; k < std::min(c_.k, first + shape.block_size); ++k) {
                const int q = element_of(elements, k, shape.bits);
                const double x = a[k], w = (q - zero) * scale;
                made.sum += x * w;
                made.magnitude += std::abs(x * w);
                made.uncentred += std::abs(x * scale) * (q + zero);
                largest = std::max(largest, std::abs(x));
                weights += std::abs(w);
            }
            // Half a step, and the quotient's own rounding.
            made.step += largest / 127 * (0.5 + 3 * 127 * double{FLT_EPSILON}) * weights;
        }
        return made;
    }

    Case c_;
    IrBuilder builder_;
    node* node_;
};

// Returns the bound stated in kernel/matmul/matmul_nbits.cc, plus the rounding of the bias.
double bound_of(const Case& c, const char* kernel, const Expected& expected)
{
    const int blocks = (c.k + c.block_size - 1) / c.block_size;
    const double epsilon = FLT_EPSILON;
    if (!std::strcmp(kernel, "matmul_nbits.f32.packed")) {
        if (c.rows > 8) return (c.k + 5) * epsilon * expected.magnitude;
        return (c.block_size + blocks + 5) * epsilon * expected.uncentred;
    }
    return expected.step + (blocks + 5) * epsilon * (expected.magnitude + expected.step);
}

void compare(const Case& c, NbitsNode* node, const Kernel& kernel, const char* target)
{
    SCOPED_TRACE(testing::Message()
                 << kernel.name << ", " << target << ": " << c.rows << " x " << c.k << " x " << c.n
                 << ", " << c.bits << " bits, blocks of " << c.block_size);
    const std::vector<float> values = node->run(kernel, 1);
    const std::vector<Expected> expected = node->expect();
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(double{values[i]}, expected[i].sum, bound_of(c, kernel.name, expected[i])) << i;
    for (const int thread_num : {2, 5})
        EXPECT_EQ(node->run(kernel, thread_num), values) << thread_num << " threads";
}

void compare_all(int accuracy_level)
{
    for (const Case& c : kCases) {
        NbitsNode node(c, accuracy_level);
        const std::vector<const Kernel*> kernels = node.kernels();
        ASSERT_STREQ(kernels.back()->name, "reference");
        for (const Kernel* kernel : kernels) {
            if (kernel == kernels.back()) break;
            for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
                cpu::force_vector_target(target);
                compare(c, &node, *kernel, cpu::get_vector_target_name(target));
            }
            cpu::force_vector_target(-1);
        }
    }
}

TEST(FastMatMulNBits, AsExactAsFloatsAre)
{
    compare_all(0);
}

TEST(FastMatMulNBits, AsExactAsBytesAre)
{
    compare_all(4);
}

// The largest elements, with 8-bit values of both signs: sums of 16 bits are as large as possible.
TEST(FastMatMulNBits, TakesTheLargestSums)
{
    for (const int bits : {4, 8})
        for (const float sign : {1.0f, -1.0f}) {
            const Case c = {2, 512, 20, bits, 256, true};
            NbitsNode node(c, 4);
            std::memset(node.builder().find("b")->data, 0xff,
                        number(node.builder().find("b")->elem_num));
            std::memset(node.builder().find("zeros")->data, 0,
                        number(node.builder().find("zeros")->elem_num));
            std::fill_n(node.builder().find("a")->f32, 2 * 512, sign);
            for (const Kernel* kernel : node.kernels())
                if (std::strcmp(kernel->name, "reference") != 0)
                    compare(c, &node, *kernel, "all alike");
        }
}

// Infinities and NaN are kept, and blocks of zeros are zeros.
TEST(FastMatMulNBits, ValuesThatAreNotFinite)
{
    for (const int level : {0, 4})
        for (const int rows : {4, 12}) {
            NbitsNode node({rows, 64, 16, 4, 32}, level);
            float* a = node.builder().find("a")->f32;
            a[5] = NAN;
            a[64 + 40] = INFINITY;
            std::fill_n(a + 128, 64, 0.0f);
            for (const Kernel* kernel : node.kernels()) {
                const std::vector<float> y = node.run(*kernel, 1);
                for (size_t n = 0; n < 16; ++n) {
                    EXPECT_TRUE(std::isnan(y[n])) << kernel->name << n;
                    EXPECT_FALSE(std::isfinite(y[16 + n])) << kernel->name << n;
                    EXPECT_EQ(y[32 + n], 0) << kernel->name << n;
                    EXPECT_TRUE(std::isfinite(y[48 + n])) << kernel->name << n;
                }
            }
        }
}

TEST(FastMatMulNBits, LeavesTheRestToTheReference)
{
    const auto count = [](const char* input) {
        NbitsNode node({2, 64, 16, 4, 32, true}, 4);
        node.builder().find(input)->tensor_type = TENSOR_TYPE_VAR;
        return node.kernels().size();
    };
    EXPECT_EQ(count("b"), 1u);
    EXPECT_EQ(count("scales"), 1u);
    EXPECT_EQ(count("zeros"), 1u);
}

// 8-bit products are used only if permitted, and if the processor has instructions for them.
TEST(FastMatMulNBits, IsTheBestThatIsPermitted)
{
    const std::string floats =
        cpu::get_vector_target_num() > 0 ? "matmul_nbits.f32.packed" : "reference";
    NbitsNode four({2, 64, 16, 4, 32}, 4), eight({2, 64, 16, 8, 32}, 4),
        exact({2, 64, 16, 4, 32}, 1);
    EXPECT_EQ(exact.choice(~uint64_t{0}), floats);
    EXPECT_EQ(four.choice(0), floats);
#ifdef __x86_64__
    if (cpu::get_vector_target_num() == 0) return;
    const uint64_t avx2 = CPU_FEATURE_AVX2 | CPU_FEATURE_FMA;
    EXPECT_EQ(four.choice(avx2), "matmul_nbits.s8.avx2");
    EXPECT_EQ(eight.choice(avx2), floats);
    EXPECT_EQ(four.choice(~uint64_t{0}), "matmul_nbits.s8.vnni");
    EXPECT_EQ(eight.choice(~uint64_t{0}), "matmul_nbits.s8.vnni");
#endif
}

}  // namespace
}  // namespace tengine::test
