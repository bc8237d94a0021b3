// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel_runner.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <type_traits>

#include "base/half.h"
#include "cases/operand_values.h"
#include "device/cpu/channels_last.h"
#include "device/cpu/kernel_list.h"
#include "device/cpu/prepared_kernel.h"
#include "module/module.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "support/case_attributes.h"

namespace tengine::cpu {
namespace {

tensor* add_tensor(graph* graph, const std::vector<int>& dims, int data_type)
{
    tensor* added = create_ir_tensor(graph, nullptr, data_type);
    EXPECT_EQ(set_ir_tensor_shape(added, dims.data(), static_cast<int>(dims.size())), TENGINE_OK);
    EXPECT_EQ(allocate_ir_tensor(added), TENGINE_OK);
    return added;
}

void fill_tensor(const tensor& filled, const std::vector<double>& values)
{
    for (size_t i = 0; i < values.size(); ++i) {
        switch (filled.data_type) {
            case TENGINE_DT_FP32:
                filled.f32[i] = static_cast<float>(values[i]);
                break;
            case TENGINE_DT_FP16:
                filled.f16[i] = fp32_to_fp16(static_cast<float>(values[i]));
                break;
            case TENGINE_DT_BF16:
                filled.f16[i] = fp32_to_bf16(static_cast<float>(values[i]));
                break;
            case TENGINE_DT_INT8:
                filled.i8[i] = static_cast<int8_t>(values[i]);
                break;
            case TENGINE_DT_UINT8:
            case TENGINE_DT_BOOL:
                filled.u8[i] = static_cast<uint8_t>(values[i]);
                break;
            case TENGINE_DT_INT32:
                filled.i32[i] = static_cast<int32_t>(values[i]);
                break;
            case TENGINE_DT_INT64:
                filled.i64[i] = static_cast<int64_t>(values[i]);
                break;
            default:
                ADD_FAILURE() << get_data_type_name(filled.data_type);
        }
    }
}

int infer_output(node* node)
{
    if (node->op.same_shape) return set_node_output_like(node, 0, get_ir_node_input(node, 0), -1);
    return node->op.infer_shape(node);
}

template <class T>
T not_a_number()
{
    if constexpr (std::is_same_v<T, float>)
        return NAN;
    else
        return 0xffff;
}

std::vector<float> widen(int data_type, const std::vector<uint16_t>& halves)
{
    std::vector<float> floats;
    for (const uint16_t half : halves)
        floats.push_back(data_type == TENGINE_DT_FP16 ? fp16_to_fp32(half) : bf16_to_fp32(half));
    return floats;
}

}  // namespace

KernelRunner::KernelRunner(const Case& of, int data_type) : of_(of), data_type_(data_type)
{
    EXPECT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
    graph_ = create_ir_graph(nullptr);
    node_ = create_ir_node(graph_, "node", get_op_type_by_name(of.op.c_str()), 0);
    for (const tools::Operand& operand : of.inputs)
        add_input(operand);
    add_outputs();
}

void KernelRunner::add_input(const tools::Operand& operand)
{
    tensor* input = nullptr;
    if (!operand.is_absent) {
        input = add_tensor(graph_, operand.dims, tools::type_of(operand, data_type_));
        EXPECT_EQ(set_ir_node_input_tensor(node_, static_cast<int>(inputs_.size()), input),
                  TENGINE_OK);
        if (operand.is_constant) input->tensor_type = TENSOR_TYPE_CONST;
        std::mt19937_64 engine(inputs_.size());
        fill_tensor(*input, tools::make_values(operand, of_, data_type_, &engine));
    }
    inputs_.push_back(input);
}

// Allocates the outputs except output 0, whose memory is an argument of each run.
void KernelRunner::add_outputs()
{
    for (size_t i = 0; i < of_.outputs.size(); ++i) {
        const int type = of_.outputs[i] == tools::kCaseType ? data_type_ : of_.outputs[i];
        tensor* output = create_ir_tensor(graph_, nullptr, type);
        EXPECT_EQ(set_ir_node_output_tensor(node_, static_cast<int>(i), output), TENGINE_OK);
    }
    output_ = get_ir_node_output(node_, 0);
    test::set_attributes(node_, of_);
    EXPECT_EQ(infer_output(node_), TENGINE_OK) << tengine_error_message();
    for (size_t i = 1; i < of_.outputs.size(); ++i)
        EXPECT_EQ(allocate_ir_tensor(get_ir_node_output(node_, static_cast<int>(i))), TENGINE_OK);
}

KernelRunner::~KernelRunner()
{
    destroy_ir_graph(graph_);
}

std::vector<const Kernel*> KernelRunner::kernels() const
{
    return list_accepting_kernels(*node_);
}

std::string KernelRunner::usual() const
{
    KernelList kernels;
    EXPECT_EQ(kernels.fill(), TENGINE_OK) << tengine_error_message();
    return kernels.pick_usual(*node_)->name;
}

void KernelRunner::fill(int input, const std::vector<float>& values)
{
    ASSERT_EQ(values.size(), input_size(input));
    fill_tensor(*inputs_[static_cast<size_t>(input)], {values.begin(), values.end()});
}

void KernelRunner::fill_all(std::mt19937& generator, float low, float high)
{
    for (size_t i = 0; i < inputs_.size(); ++i) {
        const tools::Operand& operand = of_.inputs[i];
        if (operand.is_absent || !operand.values.empty() || operand.data_type != tools::kCaseType)
            continue;
        const bool has_range = operand.low != operand.high;
        std::uniform_real_distribution<float> distribution(
            has_range ? static_cast<float>(operand.low) : low,
            has_range ? static_cast<float>(operand.high) : high);
        std::vector<double> values(input_size(static_cast<int>(i)));
        for (double& value : values)
            value = double{distribution(generator)};
        fill_tensor(*inputs_[i], values);
    }
}

size_t KernelRunner::input_size(int input) const
{
    return static_cast<size_t>(inputs_[static_cast<size_t>(input)]->elem_num);
}

template <class T>
std::vector<T> KernelRunner::run_as(const Kernel& kernel, int thread_num)
{
    std::vector<T> values(static_cast<size_t>(output_->elem_num), not_a_number<T>());
    output_->data = values.data();
    if (kernel.layout != Layout::kChannelsLast) {
        PreparedKernel(kernel, node_, thread_num).run();
        output_->data = nullptr;
        return values;
    }
    void* const data = inputs_[0]->data;
    std::vector<T> input = put_channels_last(*inputs_[0], static_cast<const T*>(data));
    inputs_[0]->data = input.data();
    PreparedKernel(kernel, node_, thread_num).run();
    inputs_[0]->data = data;
    output_->data = nullptr;
    return output_->dim_num == 4 ? put_channels_second(*output_, values.data()) : values;
}

template <class T>
std::vector<T> KernelRunner::run_in_place_as(const Kernel& kernel, int thread_num)
{
    tensor* input = inputs_[static_cast<size_t>(kernel.in_place_input)];
    void* const data = input->data;
    const T* first = static_cast<const T*>(data);
    std::vector<T> values(first, first + input->elem_num);
    input->data = output_->data = values.data();
    PreparedKernel(kernel, node_, thread_num).run();
    input->data = data;
    output_->data = nullptr;
    return values;
}

std::vector<float> KernelRunner::run(const Kernel& kernel, int thread_num)
{
    return output_->data_type == TENGINE_DT_FP32
               ? run_as<float>(kernel, thread_num)
               : widen(output_->data_type, run_as<uint16_t>(kernel, thread_num));
}

std::vector<float> KernelRunner::run_in_place(const Kernel& kernel, int thread_num)
{
    return output_->data_type == TENGINE_DT_FP32
               ? run_in_place_as<float>(kernel, thread_num)
               : widen(output_->data_type, run_in_place_as<uint16_t>(kernel, thread_num));
}

}  // namespace tengine::cpu
