// SPDX-License-Identifier: Apache-2.0
// Random operators: shapes, types, and that numbers follow their distribution. They are run through
// the kernel here, as the passes never fold them.
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

}  // namespace
}  // namespace tengine::test
