// SPDX-License-Identifier: Apache-2.0
// The fast kernel of RowQuantizeLSTM against the reference, on every instruction set this machine
// has, with int8 instructions and without; and with one worker and several, bit by bit.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/runnable.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;

struct Case
{
    int sequence, batch, input, hidden;
    const char* direction = "forward";
    int layout = 0;
    bool has_all = true;  // bias, lengths and initial state

    int directions() const { return std::strcmp(direction, "bidirectional") == 0 ? 2 : 1; }
};

class Int8Lstm
{
  public:
    explicit Int8Lstm(const Case& c)
    {
        const int rows = 4 * c.hidden, directions = c.directions();
        fill("x",
             c.layout ? std::vector{c.batch, c.sequence, c.input}
                      : std::vector{c.sequence, c.batch, c.input},
             -0.5f, 1);
        fill_bytes("w", {directions, rows, c.input});
        fill_bytes("r", {directions, rows, c.hidden});
        // Sums of a gate have magnitudes around 1.
        fill("ws", {directions, rows}, 0.5f / 127 / static_cast<float>(c.input),
             1.0f / 127 / static_cast<float>(c.input));
        fill("rs", {directions, rows}, 0.5f / 127 / static_cast<float>(c.hidden),
             1.0f / 127 / static_cast<float>(c.hidden));
        std::vector<std::string> inputs = {"x", "w", "r", "", "", "", "", "", "ws", "rs"};
        const std::vector<int> state = c.layout ? std::vector{c.batch, directions, c.hidden}
                                                : std::vector{directions, c.batch, c.hidden};
        if (c.has_all) {
            fill(inputs[3] = "b", {directions, 2 * rows}, -1, 1);
            fill(inputs[5] = "h", state, -1, 1);
            fill(inputs[6] = "c", state, -1, 1);
            std::vector<int32_t> lengths;
            for (int i = 0; i < c.batch; ++i)
                lengths.push_back(c.sequence - i % 2);
            builder_.constant(inputs[4] = "lengths", {c.batch}, lengths, TENGINE_DT_INT32);
        }
        node_ = builder_.add("tengine.RowQuantizeLSTM", inputs, {"y", "last", "cell"});
        EXPECT_EQ(set_node_text(node_, "direction", c.direction, std::strlen(c.direction)),
                  TENGINE_OK);
        EXPECT_EQ(set_node_int(node_, "layout", c.layout), TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    std::vector<const Kernel*> kernels() const { return cpu::list_runnable_kernels(*node_); }

    // Returns all outputs, one after the other.
    std::vector<float> run(const Kernel& kernel, int thread_num)
    {
        const char* names[] = {"y", "last", "cell"};
        std::vector<std::vector<float>> values;
        for (const char* name : names) {
            tensor* output = builder_.find(name);
            values.emplace_back(static_cast<size_t>(output->elem_num), std::nanf(""));
            output->data = values.back().data();
        }
        cpu::PreparedKernel(kernel, node_, thread_num).run();
        std::vector<float> all;
        for (int i = 0; i < 3; ++i) {
            all.insert(all.end(), values[static_cast<size_t>(i)].begin(),
                       values[static_cast<size_t>(i)].end());
            builder_.find(names[i])->data = nullptr;
        }
        return all;
    }

  private:
    static size_t count(const std::vector<int>& dims)
    {
        size_t number = 1;
        for (const int dim : dims)
            number *= static_cast<size_t>(dim);
        return number;
    }
    void fill(const std::string& name, const std::vector<int>& dims, float lowest, float highest)
    {
        std::uniform_real_distribution<float> distribution(lowest, highest);
        std::vector<float> values(count(dims));
        for (float& value : values)
            value = distribution(random_);
        builder_.floats(name, dims, values);
    }
    void fill_bytes(const std::string& name, const std::vector<int>& dims)
    {
        std::vector<int8_t> values(count(dims));
        for (int8_t& value : values)
            value = static_cast<int8_t>(static_cast<int>(random_() % 255) - 127);
        builder_.constant(name, dims, values, TENGINE_DT_INT8);
    }

    std::mt19937 random_{5};
    IrBuilder builder_;
    node* node_ = nullptr;
};

void compare(const Case& c, float tolerance)
{
    SCOPED_TRACE(testing::Message() << c.direction << " " << c.sequence << " " << c.batch << " "
                                    << c.input << " " << c.hidden << " " << c.layout);
    Int8Lstm lstm(c);
    const std::vector<const Kernel*> kernels = lstm.kernels();
    ASSERT_STREQ(kernels.back()->name, "reference");
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has no vectors";
    ASSERT_STREQ(kernels.front()->name, "lstm.s8.packed");
    const std::vector<float> expected = lstm.run(*kernels.back(), 1);
    const auto check = [&] {
        const std::vector<float> actual = lstm.run(*kernels.front(), 1);
        ASSERT_EQ(actual.size(), expected.size());
        for (size_t i = 0; i < actual.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], tolerance) << i;
        EXPECT_EQ(lstm.run(*kernels.front(), 3), actual);
    };
    for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
        cpu::force_vector_target(target);
        check();
        const cpu::ForcedFeatures none(0);
        check();
    }
    cpu::force_vector_target(-1);
}

// Both quantise the input and the initial state to the same values. A gate has three sums with
// magnitudes around 1, and the functions are within 5 ulp.
TEST(RowQuantizeLstm, AStepIsThatOfTheReference)
{
    const float tolerance = 24 * std::numeric_limits<float>::epsilon();
    for (const Case& c : std::vector<Case>{{1, 1, 8, 8},
                                           {1, 2, 17, 33},
                                           {1, 3, 40, 16, "reverse"},
                                           {1, 2, 13, 21, "bidirectional", 1},
                                           {1, 1, 9, 64, "forward", 0, false}})
        compare(c, tolerance);
}

// The state of a later step may be quantised to the neighbouring value near a tie: a step of 2 /
// 255 times a weight of at most 1 / hidden, and the few of them add up.
TEST(RowQuantizeLstm, StepsFollowEachOther)
{
    for (const Case& c : std::vector<Case>{{5, 1, 9, 24},
                                           {4, 3, 17, 40, "bidirectional"},
                                           {6, 2, 8, 32, "reverse", 1},
                                           {3, 2, 16, 50, "forward", 0, false}})
        compare(c, 2 * 2.0f / 255 / static_cast<float>(c.hidden));
}

}  // namespace
}  // namespace tengine::test
