// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel_runner.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

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

}  // namespace

KernelRunner::KernelRunner(const KernelCase& node_case)
{
    EXPECT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
    graph_ = create_ir_graph(nullptr);
    node_ = create_ir_node(graph_, "node", get_op_type_by_name(node_case.op.c_str()), 0);
    for (const std::vector<int>& shape : node_case.inputs) {
        tensor* input = create_ir_tensor(graph_, nullptr, TENGINE_DT_FP32);
        EXPECT_EQ(set_ir_tensor_shape(input, shape.data(), static_cast<int>(shape.size())),
                  TENGINE_OK);
        EXPECT_EQ(allocate_ir_tensor(input), TENGINE_OK);
        EXPECT_EQ(set_ir_node_input_tensor(node_, static_cast<int>(inputs_.size()), input),
                  TENGINE_OK);
        // Fast kernels want the weights, biases and exponents of these to be constants.
        const bool has_weights = node_case.op == "Conv" || node_case.op == "ConvTranspose" ||
                                 node_case.op == "Gemm" || node_case.op == "MatMul" ||
                                 node_case.op == "Pow";
        if (has_weights && !inputs_.empty()) input->tensor_type = TENSOR_TYPE_CONST;
        inputs_.push_back(input);
    }
    if (!node_case.axes.empty()) add_axes(node_case.axes);
    output_ = create_ir_tensor(graph_, "output", TENGINE_DT_FP32);
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
    std::copy(values.begin(), values.end(), inputs_[static_cast<size_t>(input)]->f32);
}

size_t KernelRunner::input_size(int input) const
{
    return static_cast<size_t>(inputs_[static_cast<size_t>(input)]->elem_num);
}

std::vector<float> KernelRunner::run(const Kernel& kernel, int thread_num)
{
    std::vector<float> values(static_cast<size_t>(output_->elem_num), NAN);
    output_->data = values.data();
    if (kernel.layout != Layout::kChannelsLast) {
        PreparedKernel(kernel, node_, thread_num).run();
        output_->data = nullptr;
        return values;
    }
    void* const data = inputs_[0]->data;
    std::vector<float> input = put_channels_last(*inputs_[0], inputs_[0]->f32);
    inputs_[0]->data = input.data();
    PreparedKernel(kernel, node_, thread_num).run();
    inputs_[0]->data = data;
    output_->data = nullptr;
    return output_->dim_num == 4 ? put_channels_second(*output_, values.data()) : values;
}

std::vector<float> KernelRunner::run_in_place(const Kernel& kernel, int thread_num)
{
    tensor* input = inputs_[static_cast<size_t>(kernel.in_place_input)];
    void* const data = input->data;
    std::vector<float> values(input->f32, input->f32 + input->elem_num);
    input->data = output_->data = values.data();
    PreparedKernel(kernel, node_, thread_num).run();
    input->data = data;
    output_->data = nullptr;
    return values;
}

}  // namespace tengine::cpu
