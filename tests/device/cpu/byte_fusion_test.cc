// SPDX-License-Identifier: Apache-2.0
// int8 and uint8 convolutions with a fused addition and look-up, against the references of the
// nodes one after the other, bit by bit, on every instruction set this machine has, with one worker
// and several.
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "device/cpu/byte_node.h"
#include "device/cpu/channels_last.h"
#include "device/cpu/kernel/vector/byte_addition.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/runnable.h"

namespace tengine::test {
namespace {

using Bytes = std::vector<uint8_t>;
using Names = std::vector<std::string>;

// A convolution, an addition to it, and a lookup of the sum.
class Chain
{
  public:
    // Makes a convolution with these channels; its factor and those of the sum's inputs are these.
    Chain(int data_type, int inputs, int outputs, int kernel, int group, float scale, float a,
          float b)
    {
        made_.bytes("x", {2, inputs, 5, 9}, data_type);
        made_.bytes("w", {outputs, inputs / group, kernel, kernel}, data_type);
        made_.bytes("z", {2, outputs, 5, 9}, data_type);
        made_.bytes("table", {256}, data_type);
        for (const char* name : {"x_zero", "c_zero", "z_zero", "s_zero"})
            made_.bytes(name, {}, data_type);
        made_.builder().constant("w_zero", {},
                                 Bytes{data_type == TENGINE_DT_INT8 ? uint8_t{0} : uint8_t{128}},
                                 data_type);
        // Few of the weights are nonzero, so that sums are small.
        tensor* w = made_.find("w");
        for (int64_t i = 0; i < w->elem_num; ++i)
            w->u8[i] = static_cast<uint8_t>(w->u8[i] % 5 - 2 + *made_.find("w_zero")->u8);
        made_.floats("one", {}, {1});
        made_.floats("scale", {}, {scale});
        made_.floats("a", {}, {a});
        made_.floats("b", {}, {b});
        conv_ = add("QLinearConv", {"x", "scale", "x_zero", "w", "one", "w_zero", "one", "c_zero"},
                    "c");
        made_.set("pads", std::vector<int64_t>(4, kernel / 2));
        made_.set("group", group);
        made_.infer();
        sum_ = add("com.microsoft.QLinearAdd",
                   {"c", "a", "c_zero", "z", "b", "z_zero", "one", "s_zero"}, "s");
        made_.infer();
    }

    // Compares on one worker and five, with and without the table.
    void compare(bool adds, const char* name)
    {
        const std::vector<const cpu::Kernel*> kernels = cpu::list_accepting_kernels(*conv_);
        ASSERT_STREQ(kernels.front()->name, name);
        const Bytes plain = expected(adds);
        Bytes found = plain;
        for (uint8_t& byte : found)
            byte = made_.find("table")->u8[byte];
        for (const int thread_num : {1, 5}) {
            EXPECT_EQ(run(*kernels.front(), thread_num, adds, false), plain) << thread_num;
            EXPECT_EQ(run(*kernels.front(), thread_num, adds, true), found) << thread_num;
        }
    }

  private:
    node* add(const char* op, const Names& inputs, const char* output)
    {
        made_.make(op, inputs, {output});
        return made_.node();
    }

    static void run_reference(node* node, Bytes& result)
    {
        tensor* y = get_ir_node_output(node, 0);
        result.resize(static_cast<size_t>(y->elem_num));
        y->data = result.data();
        cpu::PreparedKernel(*cpu::list_accepting_kernels(*node).back(), node, 1).run();
    }

    Bytes expected(bool adds)
    {
        Bytes convolved, summed;
        run_reference(conv_, convolved);
        if (adds) run_reference(sum_, summed);
        return adds ? summed : convolved;
    }

    Bytes run(const cpu::Kernel& kernel, int thread_num, bool adds, bool looks_up)
    {
        cpu::Fusion fusion;
        std::vector<tensor*> inputs;
        for (int i = 0; i < 9; ++i)
            inputs.push_back(get_ir_node_input(conv_, i));
        Bytes x = cpu::put_channels_last(*inputs[0], inputs[0]->u8);
        tensor x_last = *inputs[0], z_last = *made_.find("z");
        Bytes z = cpu::put_channels_last(z_last, z_last.u8);
        x_last.data = x.data();
        z_last.data = z.data();
        inputs[0] = &x_last;
        if (adds) {
            fusion.addend = 9;
            inputs.push_back(&z_last);
            for (const char* name : {"a", "c_zero", "b", "z_zero", "one", "s_zero"})
                inputs.push_back(made_.find(name));
        }
        if (looks_up) {
            fusion.table = static_cast<int>(inputs.size());
            inputs.push_back(made_.find("table"));
        }
        tensor* y = get_ir_node_output(conv_, 0);
        Bytes result(static_cast<size_t>(y->elem_num), uint8_t{0xee});
        y->data = result.data();
        cpu::PreparedKernel(kernel, conv_, thread_num, fusion, inputs).run();
        return cpu::put_channels_second(*y, result.data());
    }

    ByteNode made_;
    node *conv_ = nullptr, *sum_ = nullptr;
};

// Calls work with all vectors; with the int8 instructions of this machine and without.
template <class Work>
void with_all_vectors(const Work& work)
{
    for (const uint64_t features : {cpu::find_runnable_features(), uint64_t{0}}) {
        const cpu::ForcedFeatures forced(features);
        for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
            cpu::force_vector_target(target);
            SCOPED_TRACE(std::string(cpu::get_vector_target_name(target)) + ", features " +
                         std::to_string(features));
            work(std::string(cpu::get_vector_target_name(target)) == "SCALAR");
        }
    }
    cpu::force_vector_target(-1);
}

struct Scales
{
    float conv, a, b;
};

// The last ones are powers of two, or nearly so: many sums and many totals are in the middle
// between two integers.
const Scales kScales[] = {
    {0.07f, 0.61f, 0.83f}, {0.05f, 2.3f, 1.9f}, {0.125f, 0.5f, 0.5f}, {0.125f, 0.25f, 1}};

TEST(Int8Fusion, SumsHaveTheBitsOfTheNodesOneAfterTheOther)
{
    with_all_vectors([](bool) {
        for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
            for (const Scales& scales : kScales)
                for (const int outputs : {17, 72}) {
                    SCOPED_TRACE(scales.a * 100 + static_cast<float>(outputs));
                    Chain chain(type, 16, outputs, outputs == 17 ? 3 : 1, 1, scales.conv, scales.a,
                                scales.b);
                    chain.compare(true, "conv.s8.nhwc");
                    if (scales.a == 1.0f / 2) chain.compare(false, "conv.s8.nhwc");
                }
    });
}

TEST(Int8Fusion, DepthwiseResultsAreLookedUp)
{
    with_all_vectors([](bool is_scalar) {
        if (is_scalar) return;  // it has no such kernel
        for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
            for (const int channels : {5, 24, 120}) {
                SCOPED_TRACE(channels);
                Chain chain(type, channels, channels, 3, channels, 0.125f, 1, 1);
                chain.compare(false, "conv.s8.depthwise_nhwc");
            }
    });
}

tensor make_number(float* value)
{
    tensor made = {};
    made.tensor_type = TENSOR_TYPE_CONST;
    made.data_type = TENGINE_DT_FP32;
    made.elem_num = 1;
    made.data = value;
    return made;
}

// The bound from which a fraction has too few bits, and computed scales.
TEST(Int8Fusion, LeavesSumsThatWouldOftenBeComputedTwice)
{
    float values[] = {4, 4, 1};
    tensor a = make_number(&values[0]), b = make_number(&values[1]), y = make_number(&values[2]);
    const tensor* const scales[] = {&a, nullptr, &b, nullptr, &y, nullptr};
    cpu::Int8Addition addition;
    EXPECT_TRUE(cpu::describe_int8_addition(scales, TENGINE_DT_UINT8, &addition));
    EXPECT_EQ(addition.tie_bits, 19);
    values[1] = 4.5f;
    EXPECT_FALSE(cpu::describe_int8_addition(scales, TENGINE_DT_UINT8, &addition));
    values[1] = -1;
    EXPECT_FALSE(cpu::describe_int8_addition(scales, TENGINE_DT_UINT8, &addition));
    values[1] = 1;
    b.tensor_type = TENSOR_TYPE_VAR;
    EXPECT_FALSE(cpu::describe_int8_addition(scales, TENGINE_DT_UINT8, &addition));
}

}  // namespace
}  // namespace tengine::test
