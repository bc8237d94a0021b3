// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel_runner.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <type_traits>

#include "base/half.h"
#include "device/cpu/channels_last.h"
#include "device/cpu/kernel_list.h"
#include "device/cpu/prepared_kernel.h"
#include "module/module.h"
#include "operator/param.h"
#include "operator/registry.h"

namespace tengine::cpu {
namespace {

void set_attributes(node* node, const KernelCase& node_case)
{
    for (const auto& [name, values] : node_case.lists)
        EXPECT_EQ(set_node_ints(node, name.c_str(), values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    for (const auto& [name, value] : node_case.ints)
        EXPECT_EQ(set_node_int(node, name.c_str(), value), TENGINE_OK);
    for (const auto& [name, value] : node_case.floats)
        EXPECT_EQ(set_node_float(node, name.c_str(), value), TENGINE_OK);
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

KernelRunner::KernelRunner(const KernelCase& node_case, int data_type)
{
    EXPECT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
    graph_ = create_ir_graph(nullptr);
    node_ = create_ir_node(graph_, "node", get_op_type_by_name(node_case.op.c_str()), 0);
    for (const std::vector<int>& shape : node_case.inputs) {
        tensor* input = create_ir_tensor(graph_, nullptr, data_type);
        EXPECT_EQ(set_ir_tensor_shape(input, shape.data(), static_cast<int>(shape.size())),
                  TENGINE_OK);
        EXPECT_EQ(allocate_ir_tensor(input), TENGINE_OK);
        EXPECT_EQ(set_ir_node_input_tensor(node_, static_cast<int>(inputs_.size()), input),
                  TENGINE_OK);
        // Fast kernels want the weights, biases, statistics and exponents of these to be constants.
        const bool has_weights = node_case.op == "BatchNormalization" || node_case.op == "Conv" ||
                                 node_case.op == "ConvTranspose" || node_case.op == "Gemm" ||
                                 node_case.op == "MatMul" || node_case.op == "Pow";
        if (has_weights && !inputs_.empty()) input->tensor_type = TENSOR_TYPE_CONST;
        inputs_.push_back(input);
    }
    if (!node_case.axes.empty()) add_axes(node_case.axes);
    output_ = create_ir_tensor(graph_, "output", data_type);
    EXPECT_EQ(set_ir_node_output_tensor(node_, 0, output_), TENGINE_OK);
    set_attributes(node_, node_case);
    EXPECT_EQ(infer_output(node_), TENGINE_OK) << tengine_error_message();
}

void KernelRunner::add_axes(const std::vector<int64_t>& axes)
{
    tensor* input = create_ir_tensor(graph_, nullptr, TENGINE_DT_INT64);
    const int shape[] = {static_cast<int>(axes.size())};
    EXPECT_EQ(set_ir_tensor_shape(input, shape, 1), TENGINE_OK);
    EXPECT_EQ(allocate_ir_tensor(input), TENGINE_OK);
    EXPECT_EQ(set_ir_node_input_tensor(node_, static_cast<int>(inputs_.size()), input), TENGINE_OK);
    std::copy(axes.begin(), axes.end(), input->i64);
    input->tensor_type = TENSOR_TYPE_CONST;
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
    const tensor& filled = *inputs_[static_cast<size_t>(input)];
    for (size_t i = 0; i < values.size(); ++i) {
        if (filled.data_type == TENGINE_DT_FP16)
            filled.f16[i] = fp32_to_fp16(values[i]);
        else if (filled.data_type == TENGINE_DT_BF16)
            filled.f16[i] = fp32_to_bf16(values[i]);
        else
            filled.f32[i] = values[i];
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
