// SPDX-License-Identifier: Apache-2.0
// Matrix products against sums in double, within the error that matrix_product.h states, on every
// instruction set this machine has, with one worker and several. Operands and results are within
// larger memory, of which nothing else may be read or written.
#include "device/cpu/kernel/product/matrix_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include "device/cpu/kernel/vector/vector_target.h"
#include "tengine/error.h"

namespace tengine::cpu {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

struct Sizes
{
    int64_t m, n, k;
};

void PrintTo(const Sizes& sizes, std::ostream* stream)
{
    *stream << sizes.m << "x" << sizes.n << "x" << sizes.k;
}

// rows x columns values of magnitude up to 1 in rows of `stride`, with NaN between them. Pages
// before and after are not checked: elements outside the matrix are NaN too, and show in the
// result.
struct Matrix
{
    Matrix(int64_t rows, int64_t columns, int64_t gap, std::mt19937& generator)
        : stride(std::max<int64_t>(columns + gap, 1)),
          memory(static_cast<size_t>((rows + 2) * stride + 64), kNan)
    {
        std::uniform_real_distribution<float> distribution(-1, 1);
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j)
                data()[i * stride + j] = distribution(generator);
    }

    float* data() { return memory.data() + stride; }
    const float* data() const { return memory.data() + stride; }

    int64_t stride;
    std::vector<float> memory;
};

struct Operand
{
    Operand(int64_t rows, int64_t columns, bool is_transposed, int64_t gap, std::mt19937& generator)
        : matrix(is_transposed ? columns : rows, is_transposed ? rows : columns, gap, generator),
          transposed(is_transposed)
    {
    }

    double at(int64_t i, int64_t j) const
    {
        return double{matrix.data()[transposed ? j * matrix.stride + i : i * matrix.stride + j]};
    }
    MatrixView view() const { return {matrix.data(), matrix.stride, transposed}; }

    Matrix matrix;
    bool transposed;
};

// A product, its exact result and the allowed error of each element.
class Case
{
  public:
    Case(const Sizes& sizes, bool a_transposed, bool b_transposed, float alpha, float beta,
         int64_t gap = 3)
        : sizes_(sizes),
          a_(sizes.m, sizes.k, a_transposed, gap, generator_),
          b_(sizes.k, sizes.n, b_transposed, gap, generator_),
          start_(sizes.m, sizes.n, gap, generator_),
          alpha_(alpha),
          beta_(beta)
    {
        for (int64_t i = 0; i < sizes.m; ++i)
            for (int64_t j = 0; j < sizes.n; ++j)
                add_element(i, j);
        if (beta == 0) fill_start_with_nan();
    }

    void expect_right(thread_pool_t* pool) const
    {
        Matrix c = start_;
        Product product = {sizes_.m, sizes_.n, sizes_.k, a_.view(), b_.view(),
                           c.data(), c.stride, alpha_,   beta_};
        const size_t size =
            find_product_workspace(product) * static_cast<size_t>(get_thread_pool_size(pool));
        std::vector<float> workspace(size + 32, kNan);
        multiply(pool, product, workspace.data() + 16);
        const auto is_nan = [](float value) { return std::isnan(value); };
        EXPECT_TRUE(std::all_of(workspace.begin(), workspace.begin() + 16, is_nan) &&
                    std::all_of(workspace.end() - 16, workspace.end(), is_nan))
            << "writes beyond its workspace";
        compare(c);
    }

  private:
    void add_element(int64_t i, int64_t j)
    {
        double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < sizes_.k; ++k) {
            const double term = a_.at(i, k) * b_.at(k, j);
            sum += term;
            magnitude += std::fabs(term);
        }
        const double start =
            beta_ == 0 ? 0.0 : double{beta_} * start_.data()[i * start_.stride + j];
        expected_.push_back(double{alpha_} * sum + start);
        // alpha and beta round once more each.
        const double factors = (alpha_ != 1) + (beta_ != 0 && beta_ != 1);
        tolerances_.push_back((static_cast<double>(sizes_.k) + 2 + factors) * kEpsilon *
                              (std::fabs(double{alpha_}) * magnitude + std::fabs(start)));
    }

    void fill_start_with_nan() { std::fill(start_.memory.begin(), start_.memory.end(), kNan); }

    void compare(const Matrix& c) const
    {
        const int64_t offset = c.stride;
        for (int64_t place = 0; place < static_cast<int64_t>(c.memory.size()); ++place) {
            const int64_t i = (place - offset) / c.stride, j = (place - offset) % c.stride;
            const float value = c.memory[static_cast<size_t>(place)];
            if (place < offset || i >= sizes_.m || j >= sizes_.n) {
                ASSERT_TRUE(std::isnan(value))
                    << "writes beyond c, at row " << i << " column " << j;
                continue;
            }
            const size_t index = static_cast<size_t>(i * sizes_.n + j);
            ASSERT_LE(std::fabs(value - expected_[index]), tolerances_[index])
                << "row " << i << " column " << j << ": " << value << ", expected "
                << expected_[index];
        }
    }

    std::mt19937 generator_{1};
    Sizes sizes_;
    Operand a_, b_;
    Matrix start_;
    float alpha_, beta_;
    std::vector<double> expected_, tolerances_;
};

class MatrixProduct : public testing::TestWithParam<Sizes>
{
  protected:
    static void SetUpTestSuite()
    {
        prepare_products();
        ASSERT_EQ(create_thread_pool(3, 0, &pool), TENGINE_OK);
    }
    static void TearDownTestSuite() { destroy_thread_pool(pool); }

    static void check(const Case& product)
    {
        for (int target = 0; target < std::max(get_vector_target_num(), 1); ++target) {
            force_vector_target(target);
            SCOPED_TRACE(get_vector_target_num() > 0 ? get_vector_target_name(target) : "");
            for (thread_pool_t* workers : {static_cast<thread_pool_t*>(nullptr), pool})
                product.expect_right(workers);
        }
        force_vector_target(-1);
    }

    static thread_pool_t* pool;
};

thread_pool_t* MatrixProduct::pool = nullptr;

TEST_P(MatrixProduct, OfOperandsAsTheyAre)
{
    for (const bool transposed_a : {false, true})
        for (const bool transposed_b : {false, true}) {
            SCOPED_TRACE(testing::Message() << transposed_a << transposed_b);
            check(Case(GetParam(), transposed_a, transposed_b, 1, 0));
        }
}

TEST_P(MatrixProduct, WithFactorsAndAStart)
{
    check(Case(GetParam(), false, false, 1, 1));
    check(Case(GetParam(), false, true, 1.5f, 1));
    check(Case(GetParam(), true, false, -0.75f, 2.25f));
}

// Vectors without gaps have special code.
TEST_P(MatrixProduct, WithoutGaps)
{
    check(Case(GetParam(), false, false, 1.5f, 0.25f, 0));
    check(Case(GetParam(), true, true, 1, 0, 0));
}

std::vector<Sizes> list_sizes()
{
    std::vector<Sizes> list;
    for (const int64_t m : {1, 2, 7, 13})
        for (const int64_t n : {1, 7, 17, 51})
            for (const int64_t k : {0, 1, 13, 67})
                list.push_back({m, n, k});
    // Sizes around the tiles: rows of 4 and 8, columns of three vectors of 1 to 16 elements.
    for (const int64_t m : {3, 4, 5, 8, 9, 16, 17})
        for (const int64_t n : {3, 11, 12, 13, 23, 24, 25, 47, 48, 49, 97})
            list.push_back({m, n, 5});
    // Sizes around the blocks of rows of b, and of columns if the cache is small.
    for (const int64_t k : {255, 256, 257, 511, 513})
        list.push_back({9, 50, k});
    for (const int64_t n : {191, 192, 193, 383, 385, 1153})
        list.push_back({10, n, 3});
    // Empty products; strips of rows, of columns, and of vectors, of which a worker takes about
    // 500000 products.
    list.insert(list.end(), {{0, 5, 4}, {5, 0, 4}, {151, 60, 83}, {60, 151, 83}, {9, 577, 259}});
    list.insert(list.end(), {{1, 1201, 517}, {1201, 1, 517}});
    return list;
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatrixProduct, testing::ValuesIn(list_sizes()),
                         [](const auto& test) { return testing::PrintToString(test.param); });

}  // namespace
}  // namespace tengine::cpu
