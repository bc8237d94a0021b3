// SPDX-License-Identifier: Apache-2.0
// Fused attention against double arithmetic, on every instruction set this machine has: shapes
// around the sizes of tiles, panels and blocks of keys, operands in any order, masks.
#include "device/cpu/kernel/attention/attention.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "base/alloc.h"
#include "base/half.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Floats = std::vector<float>;

struct Data
{
    Floats query, key, value, mask;
};

// Interleaved rows of all heads, as a linear layer writes them.
HeadMatrices side_by_side(int64_t rows, int64_t heads, int64_t columns)
{
    return {0, rows * heads * columns, columns, heads * columns, 1};
}

// A matrix for each head, with contiguous columns.
HeadMatrices transposed(int64_t rows, int64_t heads, int64_t columns)
{
    return {0, rows * heads * columns, rows * columns, 1, rows};
}

Attention describe(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t depth,
                   int64_t width)
{
    Attention attention = {};
    attention.batch = batch;
    attention.heads = heads;
    attention.queries = queries;
    attention.keys = keys;
    attention.depth = depth;
    attention.width = width;
    attention.query = side_by_side(queries, heads, depth);
    attention.key = side_by_side(keys, heads, depth);
    attention.value = side_by_side(keys, heads, width);
    attention.result = side_by_side(queries, heads, width);
    attention.scale = 1 / std::sqrt(static_cast<float>(depth));
    return attention;
}

Floats noise(int64_t count, std::mt19937& generator)
{
    std::normal_distribution<float> distribution;
    Floats values(static_cast<size_t>(count));
    for (float& value : values)
        value = distribution(generator);
    return values;
}

Data make_data(const Attention& a)
{
    std::mt19937 generator(7);
    const int64_t heads = a.batch * a.heads;
    return {noise(heads * a.queries * a.depth, generator),
            noise(heads * a.keys * a.depth, generator), noise(heads * a.keys * a.width, generator),
            a.has_mask ? noise(heads * a.queries * a.keys, generator) : Floats{}};
}

int64_t count_results(const Attention& a)
{
    return a.batch * a.heads * a.queries * a.width;
}

// Query, key, value, mask and result are at these addresses.
void run_at(const Attention& attention, void* const (&places)[5], int data_type, int thread_num)
{
    tensor tensors[5] = {};
    tensor* shown[5];
    for (size_t i = 0; i < 5; ++i) {
        tensors[i].data = places[i];
        tensors[i].data_type = static_cast<uint8_t>(data_type);
        shown[i] = &tensors[i];
    }
    thread_pool_t* pool = nullptr;
    EXPECT_EQ(create_thread_pool(thread_num, 0, &pool), TENGINE_OK);
    KernelContext context;
    context.inputs = shown;
    context.outputs = shown + 4;
    context.tensor_num[0] = 4;
    context.tensor_num[1] = 1;
    context.attention = &attention;
    context.pool = pool;
    const Kernel& kernel = *find_fused_attention();
    EXPECT_EQ(kernel.prepare(context), TENGINE_OK);
    const std::unique_ptr<void, void (*)(void*)> scratch(alloc_memory64(context.scratch_size),
                                                         free_memory);
    std::memset(scratch.get(), 0xff, static_cast<size_t>(context.scratch_size));
    context.scratch = scratch.get();
    EXPECT_EQ(kernel.run(context), TENGINE_OK);
    context.free_state(context.state);
    destroy_thread_pool(pool);
}

Floats run(const Attention& attention, Data& data, int thread_num)
{
    Floats result(static_cast<size_t>(count_results(attention)), NAN);
    run_at(attention,
           {data.query.data(), data.key.data(), data.value.data(), data.mask.data(), result.data()},
           TENGINE_DT_FP32, thread_num);
    return result;
}

double at(const Floats& values, const HeadMatrices& matrices, int64_t batch, int64_t head,
          int64_t row, int64_t column)
{
    return values[static_cast<size_t>(matrices.at(batch, head) + row * matrices.row_step +
                                      column * matrices.column_step)];
}

// Compares one query. The bound of an element follows from the errors of the scores, which are
// relative errors of exponentials, and of a sum of that many products.
void compare_row(const Attention& a, const Data& data, const Floats& result, int64_t batch,
                 int64_t head, int64_t query)
{
    std::vector<double> powers(static_cast<size_t>(a.keys));
    double score_error = 0, largest = -kInfinity, sum = 0;
    for (int64_t key = 0; key < a.keys; ++key) {
        double score = 0, magnitude = 0;
        for (int64_t k = 0; k < a.depth; ++k) {
            const double product = at(data.query, a.query, batch, head, query, k) *
                                   at(data.key, a.key, batch, head, key, k) * a.scale;
            score += product;
            magnitude += std::fabs(product);
        }
        if (a.has_mask) score += at(data.mask, a.mask, batch, head, query, key);
        if (std::isfinite(score))
            score_error = std::max(score_error, (static_cast<double>(a.depth) + 4) * kEpsilon *
                                                    (magnitude + std::fabs(score)));
        powers[static_cast<size_t>(key)] = score;
        largest = std::max(largest, score);
    }
    for (double& power : powers) {
        power = std::exp(power - largest);
        sum += power;
    }
    for (int64_t j = 0; j < a.width; ++j) {
        double expected = 0, magnitude = 0;
        for (int64_t key = 0; key < a.keys; ++key) {
            const double product = powers[static_cast<size_t>(key)] / sum *
                                   at(data.value, a.value, batch, head, key, j);
            expected += product;
            magnitude += std::fabs(product);
        }
        const double actual = at(result, a.result, batch, head, query, j);
        if (std::isnan(expected) && std::isnan(actual)) continue;
        const double bound =
            (2 * score_error + (static_cast<double>(a.keys) + 16) * kEpsilon) * magnitude + 1e-35;
        ASSERT_NEAR(actual, expected, bound)
            << "batch " << batch << " head " << head << " query " << query << " element " << j;
    }
}

void compare(const Attention& attention, Data& data)
{
    for (int target = 0; target < std::max(get_vector_target_num(), 1); ++target) {
        force_vector_target(target);
        SCOPED_TRACE(get_vector_target_name(target));
        const Floats result = run(attention, data, 1);
        for (int64_t batch = 0; batch < attention.batch; ++batch)
            for (int64_t head = 0; head < attention.heads; ++head)
                for (int64_t query = 0; query < attention.queries; ++query)
                    compare_row(attention, data, result, batch, head, query);
        for (const int thread_num : {2, 3}) {
            const Floats other = run(attention, data, thread_num);
            ASSERT_EQ(std::memcmp(result.data(), other.data(), result.size() * sizeof(float)), 0)
                << thread_num << " threads";
        }
        if (testing::Test::HasFatalFailure()) break;
    }
    force_vector_target(-1);
}

class AttentionTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (!find_fused_attention()) GTEST_SKIP() << "no vectors in this build";
    }
};

TEST_F(AttentionTest, ShapesAroundThoseOfTilesAndPanels)
{
    for (const int64_t depth : {1, 7, 32, 64, 80})
        for (const int64_t queries : {1, 2, 5, 13, 128})
            for (const int64_t keys : {1, 2, 15, 16, 17, 49, 197}) {
                SCOPED_TRACE(testing::Message() << depth << " " << queries << " " << keys);
                const Attention attention = describe(1, 2, queries, keys, depth, depth);
                Data data = make_data(attention);
                compare(attention, data);
                if (HasFatalFailure()) return;
            }
}

TEST_F(AttentionTest, BatchesAndWidthsOfTheirOwn)
{
    for (const int64_t width : {1, 33, 48})
        for (const int64_t batch : {1, 3}) {
            const Attention attention = describe(batch, 3, 50, 40, 24, width);
            Data data = make_data(attention);
            compare(attention, data);
        }
}

TEST_F(AttentionTest, KeysInSeveralBlocks)
{
    constexpr std::pair<int64_t, int64_t> kSizes[] = {
        {1024, 80}, {1030, 1}, {1030, 256}, {2500, 80}, {5000, 16}};
    for (const auto& [keys, depth] : kSizes) {
        for (const int64_t queries : {1, 14}) {
            SCOPED_TRACE(testing::Message() << queries << " " << depth << " " << keys);
            const Attention attention = describe(1, 1, queries, keys, depth, depth);
            Data data = make_data(attention);
            // The largest scores are last.
            for (size_t i = data.key.size() / 2; i < data.key.size(); ++i)
                data.key[i] *= 3;
            compare(attention, data);
        }
    }
}

TEST_F(AttentionTest, OperandsInAnotherOrder)
{
    for (const int64_t queries : {2, 21}) {
        Attention attention = describe(2, 3, queries, 43, 19, 19);
        attention.key = transposed(43, 3, 19);
        attention.result = {0, queries * 3 * 19, queries * 19, 19, 1};
        attention.query.head_step = 0;  // one for all heads
        Data data = make_data(attention);
        compare(attention, data);
    }
}

TEST_F(AttentionTest, Masks)
{
    Attention attention = describe(2, 3, 18, 37, 16, 16);
    attention.has_mask = true;
    const HeadMatrices masks[] = {
        {0, 3 * 18 * 37, 18 * 37, 37, 1},
        {0, 0, 18 * 37, 37, 1},
        {0, 0, 0, 37, 1},
        {0, 37, 0, 0, 1},
        {5, 0, 0, 0, 1},
    };
    for (const HeadMatrices& mask : masks) {
        attention.mask = mask;
        Data data = make_data(attention);
        compare(attention, data);
    }
}

// Masks as in a decoder: the first queries see none of the later blocks, others none of the first.
TEST_F(AttentionTest, KeysThatAreMaskedAreNotSeen)
{
    for (const int64_t keys : {30, 2500}) {
        Attention attention = describe(1, 1, 20, keys, 80, 16);
        attention.has_mask = true;
        attention.mask = {0, 0, 0, keys, 1};
        Data data = make_data(attention);
        for (int64_t query = 0; query < attention.queries; ++query)
            for (int64_t key = 0; key < keys; ++key) {
                const bool is_seen = query % 2 ? key <= query : key >= keys - 1 - query;
                data.mask[static_cast<size_t>(query * keys + key)] = is_seen ? 0 : -kInfinity;
            }
        compare(attention, data);
    }
}

TEST_F(AttentionTest, NothingToSeeIsNotANumber)
{
    for (const int64_t keys : {30, 2500}) {
        Attention attention = describe(1, 2, 20, keys, 80, 16);
        attention.has_mask = true;
        attention.mask = {0, 0, 0, keys, 1};
        Data data = make_data(attention);
        std::fill_n(data.mask.begin() + 3 * keys, keys, -kInfinity);
        data.query[7 * 160] = NAN;
        compare(attention, data);
        const Floats result = run(attention, data, 1);
        EXPECT_TRUE(std::isnan(result[3 * 32]));
        EXPECT_TRUE(std::isnan(result[7 * 32]));
        EXPECT_FALSE(std::isnan(result[4 * 32]));
    }
}

TEST_F(AttentionTest, LargeScoresDoNotOverflow)
{
    Attention attention = describe(1, 1, 9, 100, 8, 8);
    attention.scale = 300;
    Data data = make_data(attention);
    compare(attention, data);
}

// ---- 16 bits ----

std::vector<uint16_t> narrow(int data_type, const Floats& values)
{
    std::vector<uint16_t> halves;
    for (const float value : values)
        halves.push_back(data_type == TENGINE_DT_FP16 ? fp32_to_fp16(value) : fp32_to_bf16(value));
    return halves;
}

void round_to(int data_type, Floats& values)
{
    for (float& value : values)
        value = data_type == TENGINE_DT_FP16 ? fp16_to_fp32(fp32_to_fp16(value))
                                             : bf16_to_fp32(fp32_to_bf16(value));
}

// Compares with the results of the same numbers in fp32, rounded once.
void compare_halves(const Attention& attention, int data_type)
{
    Data data = make_data(attention);
    for (Floats* values : {&data.query, &data.key, &data.value, &data.mask})
        round_to(data_type, *values);
    std::vector<uint16_t> query = narrow(data_type, data.query), key = narrow(data_type, data.key),
                          value = narrow(data_type, data.value),
                          mask = narrow(data_type, data.mask);
    for (int target = 0; target < get_vector_target_num(); ++target) {
        force_vector_target(target);
        SCOPED_TRACE(get_vector_target_name(target));
        const std::vector<uint16_t> expected = narrow(data_type, run(attention, data, 1));
        for (const int thread_num : {1, 3}) {
            std::vector<uint16_t> result(expected.size(), 0xffff);
            run_at(attention, {query.data(), key.data(), value.data(), mask.data(), result.data()},
                   data_type, thread_num);
            EXPECT_EQ(result, expected) << thread_num << " threads";
        }
    }
    force_vector_target(-1);
}

TEST_F(AttentionTest, HalvesAreRoundedOnce)
{
    constexpr std::pair<int64_t, int64_t> kSizes[] = {{21, 1}, {21, 37}, {21, 2500}, {2, 1100}};
    for (const int data_type : {TENGINE_DT_FP16, TENGINE_DT_BF16})
        for (const auto& [queries, keys] : kSizes) {
            SCOPED_TRACE(testing::Message() << data_type << " " << queries << " " << keys);
            Attention attention = describe(2, 3, queries, keys, 19, 33);
            compare_halves(attention, data_type);
            attention.key = transposed(keys, 3, 19);
            attention.has_mask = true;
            attention.mask = {0, 3 * queries * keys, queries * keys, keys, 1};
            compare_halves(attention, data_type);
        }
}

}  // namespace
}  // namespace tengine::cpu
