// SPDX-License-Identifier: Apache-2.0
// The fast kernels of LSTM, GRU and RNN against the reference, on every instruction set this
// machine has; and with one worker and several, bit by bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;

struct Size
{
    int sequence, batch, input, hidden;
};

struct Case
{
    const char* op;
    int gates;
    Size size;
    const char* direction = "forward";
    int layout = 0;
    bool has_lengths = false;
    bool is_linear = false;  // linear_before_reset
    bool has_bias = true, has_initial = true;
    std::vector<std::string> outputs = {"y", "last", "cell"};
    std::vector<const char*> activations = {};
    float clip = 0;
    float cell_clip = 0;  // tengine.ClippedLSTM

    int directions() const { return std::strcmp(direction, "bidirectional") == 0 ? 2 : 1; }
    std::string name() const
    {
        std::string text = op + std::string(is_linear ? " linear " : " ") + direction;
        for (const int number : {size.sequence, size.batch, size.input, size.hidden, layout})
            text += " " + std::to_string(number);
        return text + (has_lengths ? " lengths" : "");
    }
};

// Returns the allowed distance from the reference: the sums of a gate have magnitudes around 1, and
// each step adds their roundings and those of its functions.
float tolerance_of(const Case& c)
{
    return static_cast<float>(c.size.sequence * (c.size.input + c.size.hidden + 16)) *
           std::numeric_limits<float>::epsilon();
}

class RecurrentNode
{
  public:
    explicit RecurrentNode(const Case& c)
    {
        const auto [sequence, batch, input, hidden] = c.size;
        const int rows = c.gates * hidden, directions = c.directions();
        fill("x",
             c.layout ? std::vector{batch, sequence, input} : std::vector{sequence, batch, input},
             1);
        fill("w", {directions, rows, input}, 1.0f / static_cast<float>(input));
        fill("r", {directions, rows, hidden}, 1.0f / static_cast<float>(hidden));
        const std::vector<int> state = c.layout ? std::vector{batch, directions, hidden}
                                                : std::vector{directions, batch, hidden};
        std::vector<std::string> inputs = {"x", "w", "r", "", "", "", ""};
        if (c.has_bias) fill(inputs[3] = "b", {directions, 2 * rows}, 1);
        if (c.has_initial) fill(inputs[5] = "h", state, 1);
        if (c.has_initial && c.gates == 4) fill(inputs[6] = "c", state, 1);
        if (c.has_lengths) {
            std::vector<int32_t> lengths;
            for (int i = 0; i < batch; ++i)
                lengths.push_back((sequence - 1 + i * 3) % (sequence + 1));
            builder_.constant(inputs[4] = "lengths", {batch}, lengths, TENGINE_DT_INT32);
        }
        outputs_ = c.outputs;
        if (c.gates == 4)
            inputs.resize(7);
        else
            inputs.resize(6), outputs_.resize(std::min<size_t>(outputs_.size(), 2));
        node_ = builder_.add(c.op, inputs, outputs_);
        set_attributes(c);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    std::vector<const Kernel*> kernels() const { return cpu::list_accepting_kernels(*node_); }

    // Returns all existing outputs, one after the other.
    std::vector<float> run(const Kernel& kernel, int thread_num)
    {
        std::vector<std::vector<float>> values(outputs_.size());
        for (size_t i = 0; i < outputs_.size(); ++i) {
            if (outputs_[i].empty()) continue;
            tensor* output = builder_.find(outputs_[i]);
            values[i].assign(static_cast<size_t>(output->elem_num), std::nanf(""));
            output->data = values[i].data();
        }
        cpu::PreparedKernel(kernel, node_, thread_num).run();
        std::vector<float> all;
        for (size_t i = 0; i < outputs_.size(); ++i) {
            all.insert(all.end(), values[i].begin(), values[i].end());
            if (!outputs_[i].empty()) builder_.find(outputs_[i])->data = nullptr;
        }
        return all;
    }

    IrBuilder& builder() { return builder_; }

  private:
    void fill(const std::string& name, const std::vector<int>& dims, float largest)
    {
        size_t number = 1;
        for (const int dim : dims)
            number *= static_cast<size_t>(dim);
        std::uniform_real_distribution<float> distribution(-largest, largest);
        std::vector<float> values(number);
        for (float& value : values)
            value = distribution(random_);
        builder_.floats(name, dims, values);
    }
    void set_attributes(const Case& c)
    {
        EXPECT_EQ(set_node_text(node_, "direction", c.direction, std::strlen(c.direction)),
                  TENGINE_OK);
        EXPECT_EQ(set_node_int(node_, "layout", c.layout), TENGINE_OK);
        EXPECT_EQ(set_node_float(node_, "clip", c.clip), TENGINE_OK);
        if (c.cell_clip > 0) {
            EXPECT_EQ(set_node_float(node_, "cell_clip", c.cell_clip), TENGINE_OK);
        }
        if (c.gates == 3) {
            EXPECT_EQ(set_node_int(node_, "linear_before_reset", c.is_linear), TENGINE_OK);
        }
        if (c.activations.empty()) return;
        EXPECT_EQ(set_node_texts(node_, "activations", c.activations.data(),
                                 static_cast<int>(c.activations.size())),
                  TENGINE_OK);
    }

    IrBuilder builder_;
    std::mt19937 random_{29};
    std::vector<std::string> outputs_;
    node* node_;
};

// Reports all elements that are too far from the expected ones together.
void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                 float tolerance)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

void compare(const Case& c)
{
    SCOPED_TRACE(c.name());
    RecurrentNode node(c);
    const std::vector<const Kernel*> kernels = node.kernels();
    ASSERT_STREQ(kernels.back()->name, "reference");
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has the reference only";
    ASSERT_EQ(kernels.size(), 2u);
    const std::vector<float> expected = node.run(*kernels.back(), 1);
    for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
        SCOPED_TRACE(cpu::get_vector_target_name(target));
        cpu::force_vector_target(target);
        const std::vector<float> alone = node.run(*kernels.front(), 1);
        expect_near(alone, expected, tolerance_of(c));
        for (const int thread_num : {2, 5})
            EXPECT_EQ(node.run(*kernels.front(), thread_num), alone) << thread_num << " threads";
    }
    cpu::force_vector_target(-1);
}

const Case kKinds[] = {
    {"LSTM", 4, {}}, {"GRU", 3, {}}, {"GRU", 3, {}, "forward", 0, false, true}, {"RNN", 1, {}}};

// Calls body with a layer of each kind.
template <class Body>
void for_each_kind(const Size& size, const Body& body)
{
    for (const Case& kind : kKinds) {
        Case c = kind;
        c.size = size;
        body(c);
    }
}

// Less than a vector, some vectors, and more sequences than a tile has rows; enough units for
// several workers.
constexpr Size kSizes[] = {{1, 1, 1, 1}, {5, 1, 7, 21}, {4, 3, 10, 33}, {3, 14, 5, 70}};
constexpr Size kLargeSizes[] = {{2, 1, 30, 203}, {2, 2, 3, 300}};

TEST(RecurrentKernel, IsWithinTheErrorOfTheSums)
{
    for (const Size& size : kSizes)
        for_each_kind(size, [](Case c) {
            for (const char* direction : {"forward", "reverse", "bidirectional"})
                for (const int layout : {0, 1})
                    for (const bool has_lengths : {false, true}) {
                        c.direction = direction;
                        c.layout = layout;
                        c.has_lengths = has_lengths;
                        compare(c);
                    }
        });
}

TEST(RecurrentKernel, IsWithinTheErrorOfTheSumsOfManyUnits)
{
    for (const Size& size : kLargeSizes)
        for_each_kind(size, [](Case c) {
            c.direction = "bidirectional";
            c.has_lengths = true;
            compare(c);
        });
}

TEST(RecurrentKernel, DoesWithoutWhatIsOptional)
{
    for_each_kind({4, 2, 9, 40}, [](Case c) {
        c.has_initial = false;
        compare(c);
        c.has_bias = false;
        compare(c);
        c.direction = "bidirectional";
        c.outputs = {"y"};
        compare(c);
        c.outputs = {"", "last"};
        compare(c);
    });
}

TEST(RecurrentKernel, ClipsWhatFunctionsTake)
{
    for_each_kind({4, 2, 9, 40}, [](Case c) {
        c.clip = 0.25f;
        compare(c);
    });
}

TEST(RecurrentKernel, ClipsTheCell)
{
    const Case small = {"tengine.ClippedLSTM", 4, {1, 1, 1, 1}};
    if (cpu::get_vector_target_num() > 0) {
        EXPECT_STREQ(RecurrentNode(small).kernels().front()->name, "clipped_lstm.f32.packed");
    }
    for (const float clip : {0.0f, 0.1f, 0.25f, 10.0f})
        for (const Size& size : kSizes)
            for (const char* direction : {"forward", "reverse", "bidirectional"}) {
                Case c = {"tengine.ClippedLSTM", 4, size, direction};
                c.cell_clip = clip;
                compare(c);
                c.clip = 0.5f;
                c.layout = 1;
                compare(c);
            }
}

TEST(RecurrentKernel, HasFunctions)
{
    const char* const all[] = {"Relu", "Tanh", "Sigmoid", "HardSigmoid", "Tanh", "Relu"};
    for_each_kind({4, 2, 9, 40}, [&](Case c) {
        c.direction = "bidirectional";
        const int number = c.gates == 4 ? 6 : c.gates == 3 ? 4 : 2;
        c.activations.assign(all, all + number);
        compare(c);
        std::reverse(c.activations.begin(), c.activations.end());
        compare(c);
    });
}

TEST(RecurrentKernel, LeavesTheRestToTheReference)
{
    const auto expect_reference = [](const RecurrentNode& node) {
        ASSERT_EQ(node.kernels().size(), 1u);
        EXPECT_STREQ(node.kernels().front()->name, "reference");
    };
    for_each_kind({2, 1, 3, 5}, [&](Case c) {
        for (const char* name : {"w", "r", "b"}) {
            RecurrentNode node(c);
            node.builder().find(name)->tensor_type = TENSOR_TYPE_VAR;
            expect_reference(node);
        }
        c.activations = {"Softsign", "Tanh", "Tanh"};
        expect_reference(RecurrentNode(c));
        c.activations = {};
        c.size.sequence = 0;
        expect_reference(RecurrentNode(c));
    });
}

}  // namespace
}  // namespace tengine::test
