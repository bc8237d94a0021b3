// SPDX-License-Identifier: Apache-2.0
// Random operators: shapes, types, and that numbers follow their distribution. The kernel is run
// here, as the passes never fold them.
#include <cmath>
#include <cstdint>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"
#include "optimizer/pass.h"

namespace tengine::test {
namespace {

using cpu::Half;
using Dims = std::vector<int>;

// A node of a source graph that is evaluated in place.
class RandomNode
{
  public:
    template <class T>
    RandomNode(const char* op, const std::vector<int>& dims, const std::vector<T>& values)
    {
        builder_.constant("x", dims, values, cpu::data_type_of<T>());
        node_ = builder_.add(op, {"x"}, {"y"});
    }
    explicit RandomNode(const char* op) : node_(builder_.add(op, {}, {"y"})) {}

    node* get() { return node_; }
    tensor* run()
    {
        tensor* output = builder_.find("y");
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(evaluate_node(*node_), TENGINE_OK) << tengine_error_message();
        return output;
    }

  private:
    IrBuilder builder_;
    node* node_;
};

struct Moments
{
    double mean = 0, deviation = 0;
    explicit Moments(const std::vector<float>& values)
    {
        for (const float value : values)
            mean += value / static_cast<double>(values.size());
        for (const float value : values)
            deviation += (value - mean) * (value - mean) / static_cast<double>(values.size());
        deviation = std::sqrt(deviation);
    }
};

TEST(Random, NormalHasItsMoments)
{
    RandomNode random("RandomNormal");
    const int64_t shape[] = {100, 100};
    set_node_ints(random.get(), "shape", shape, 2);
    set_node_float(random.get(), "mean", 5);
    set_node_float(random.get(), "scale", 2);
    set_node_float(random.get(), "seed", 1);
    const Moments moments(numbers_of(random.run()));
    EXPECT_NEAR(moments.mean, 5, 0.1);
    EXPECT_NEAR(moments.deviation, 2, 0.1);
}

TEST(Random, UniformLikeStaysInRange)
{
    RandomNode random("RandomUniformLike", {10000}, std::vector<Half>(10000));
    set_node_float(random.get(), "low", -1);
    set_node_float(random.get(), "high", 3);
    const tensor* output = random.run();
    EXPECT_EQ(output->data_type, TENGINE_DT_FP16);
    const std::vector<float> values = numbers_of(output);
    for (const float value : values)
        ASSERT_TRUE(value >= -1 && value <= 3) << value;
    EXPECT_NEAR(Moments(values).mean, 1, 0.2);
}

TEST(Random, SeedRepeatsAndItsAbsenceDoesNot)
{
    const auto draw = [](bool seeded) {
        RandomNode random("RandomUniformLike", {8}, std::vector<float>(8));
        if (seeded) set_node_float(random.get(), "seed", 3);
        return numbers_of(random.run());
    };
    EXPECT_EQ(draw(true), draw(true));
    EXPECT_NE(draw(false), draw(false));
}

TEST(Random, BernoulliOfCertainties)
{
    RandomNode random("Bernoulli", {4}, std::vector<double>{0, 1, 0, 1});
    set_node_int(random.get(), "dtype", 9);
    EXPECT_EQ(numbers_of(random.run()), (std::vector<float>{0, 1, 0, 1}));
}

TEST(Random, MultinomialFollowsLogarithms)
{
    const float infinity = std::numeric_limits<float>::infinity();
    RandomNode random("Multinomial", {1, 3}, std::vector<float>{std::log(3.0f), -infinity, 0});
    set_node_int(random.get(), "sample_size", 10000);
    set_node_float(random.get(), "seed", 7);
    const tensor* output = random.run();
    ASSERT_EQ(dims_of(output), (Dims{1, 10000}));
    int counts[3] = {};
    for (const int32_t drawn : values_of<int32_t>(output))
        ++counts[drawn];
    EXPECT_NEAR(counts[0], 7500, 300);
    EXPECT_EQ(counts[1], 0);
}

TEST(Random, RejectsTypesThatAreNotFloat)
{
    RandomNode random("RandomNormal");
    const int64_t shape[] = {2};
    set_node_ints(random.get(), "shape", shape, 1);
    set_node_int(random.get(), "dtype", 7);
    EXPECT_EQ(random.get()->op.infer_shape(random.get()), TENGINE_EDTYPE);
}

TEST(Random, RejectsNegativeShape)
{
    RandomNode random("RandomUniform");
    const int64_t shape[] = {-2};
    set_node_ints(random.get(), "shape", shape, 1);
    EXPECT_EQ(random.get()->op.infer_shape(random.get()), TENGINE_ERANGE);
}

// ---- Dropout ----

// In training; `x` has 10000 ones.
class TrainingDropout
{
  public:
    TrainingDropout(float ratio, int seed)
    {
        builder_.floats("x", {10000}, std::vector<float>(10000, 1));
        builder_.floats("ratio", {}, {ratio});
        builder_.constant("training", {}, std::vector<uint8_t>{1}, TENGINE_DT_BOOL);
        node_ = builder_.add("Dropout", {"x", "ratio", "training"}, {"y", "mask"});
        EXPECT_EQ(set_node_int(node_, "seed", seed), 0);
    }
    int run()
    {
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
        return evaluate_node(*node_);
    }
    std::vector<float> values(const char* name) { return numbers_of(builder_.find(name)); }

  private:
    IrBuilder builder_;
    node* node_;
};

TEST(Dropout, DropsItsShareAndScalesTheRest)
{
    TrainingDropout dropout(0.75f, 1);
    ASSERT_EQ(dropout.run(), TENGINE_OK) << tengine_error_message();
    const std::vector<float> values = dropout.values("y");
    const std::vector<float> mask = dropout.values("mask");
    for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], mask[i] * 4) << i;
    // Five standard deviations of the mean of 10000 elements that are kept with probability 1/4.
    EXPECT_NEAR(Moments(mask).mean, 0.25, 5 * std::sqrt(0.25 * 0.75 / 10000));
}

TEST(Dropout, SeedsDecide)
{
    TrainingDropout one(0.5f, 1), same(0.5f, 1), other(0.5f, 2);
    for (TrainingDropout* dropout : {&one, &same, &other})
        ASSERT_EQ(dropout->run(), TENGINE_OK);
    EXPECT_EQ(one.values("y"), same.values("y"));
    EXPECT_NE(one.values("y"), other.values("y"));
}

TEST(Dropout, RatioZeroKeepsAllAndOneIsRefused)
{
    TrainingDropout all(0, 1);
    ASSERT_EQ(all.run(), TENGINE_OK);
    EXPECT_EQ(all.values("y"), std::vector<float>(10000, 1));
    EXPECT_EQ(all.values("mask"), std::vector<float>(10000, 1));
    TrainingDropout none(1, 1);
    EXPECT_EQ(none.run(), TENGINE_ERANGE);
    EXPECT_NE(std::string(tengine_error_message()).find("ratio is 1"), std::string::npos);
}

}  // namespace
}  // namespace tengine::test
