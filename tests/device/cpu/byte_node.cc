// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/byte_node.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

#include "cases/operand_values.h"
#include "device/cpu/channels_last.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "operator/param.h"
#include "support/case_attributes.h"

namespace tengine::test {

using cpu::Kernel;

namespace {

template <class T>
std::vector<uint8_t> put_elements_last(const tensor& shape, const void* values)
{
    const auto last = cpu::put_channels_last(shape, static_cast<const T*>(values));
    const auto* bytes = reinterpret_cast<const uint8_t*>(last.data());
    return std::vector<uint8_t>(bytes, bytes + last.size() * sizeof(T));
}

template <class T>
std::vector<uint8_t> put_elements_second(const tensor& shape, const void* values)
{
    const auto second = cpu::put_channels_second(shape, static_cast<const T*>(values));
    const auto* bytes = reinterpret_cast<const uint8_t*>(second.data());
    return std::vector<uint8_t>(bytes, bytes + second.size() * sizeof(T));
}

// Converts elements of one or four bytes to NHWC.
std::vector<uint8_t> put_last(const tensor& shape)
{
    return shape.elem_size == 1 ? put_elements_last<uint8_t>(shape, shape.data)
                                : put_elements_last<uint32_t>(shape, shape.data);
}

std::vector<uint8_t> put_second(const tensor& shape)
{
    return shape.elem_size == 1 ? put_elements_second<uint8_t>(shape, shape.data)
                                : put_elements_second<uint32_t>(shape, shape.data);
}

}  // namespace

void ByteNode::bytes(const std::string& name, const std::vector<int>& dims, int data_type)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    std::vector<uint8_t> values(number);
    for (uint8_t& value : values)
        value = static_cast<uint8_t>(random_());
    builder_.constant(name, dims, values, data_type);
}

void ByteNode::floats(const std::string& name, const std::vector<int>& dims,
                      const std::vector<float>& values)
{
    builder_.floats(name, dims, values);
}

void ByteNode::make(const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs)
{
    node_ = builder_.add(op, inputs, outputs);
}

void ByteNode::add_operand(const std::string& name, const tools::Operand& operand, int data_type,
                           const std::vector<double>& values)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
            builder_.constant(name, operand.dims, std::vector<float>(values.begin(), values.end()),
                              data_type);
            break;
        case TENGINE_DT_INT32:
            builder_.constant(name, operand.dims,
                              std::vector<int32_t>(values.begin(), values.end()), data_type);
            break;
        case TENGINE_DT_INT8:
            builder_.constant(name, operand.dims, std::vector<int8_t>(values.begin(), values.end()),
                              data_type);
            break;
        default:
            ASSERT_EQ(data_type, TENGINE_DT_UINT8) << name;
            builder_.constant(name, operand.dims,
                              std::vector<uint8_t>(values.begin(), values.end()), data_type);
    }
    if (!operand.is_constant) find(name)->tensor_type = TENSOR_TYPE_VAR;
}

void ByteNode::make(const tools::Case& of, int data_type)
{
    std::vector<std::string> inputs, outputs;
    for (size_t i = 0; i < of.inputs.size(); ++i) {
        const tools::Operand& operand = of.inputs[i];
        inputs.push_back(operand.is_absent ? "" : "i" + std::to_string(i));
        std::mt19937_64 engine(i);
        if (!operand.is_absent)
            add_operand(inputs.back(), operand, tools::type_of(operand, data_type),
                        tools::make_values(operand, of, data_type, &engine));
    }
    for (size_t i = 0; i < of.outputs.size(); ++i)
        outputs.push_back("o" + std::to_string(i));
    make(of.op, inputs, outputs);
    set_attributes(node_, of);
    infer();
}

void ByteNode::set(const std::string& name, const std::vector<int64_t>& values)
{
    EXPECT_EQ(set_node_ints(node_, name.c_str(), values.data(), static_cast<int>(values.size())),
              TENGINE_OK);
}

void ByteNode::set(const std::string& name, int64_t value)
{
    EXPECT_EQ(set_node_int(node_, name.c_str(), value), TENGINE_OK);
}

void ByteNode::infer()
{
    EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
}

std::vector<uint8_t> ByteNode::run(const Kernel& kernel, int thread_num, bool is_in_place)
{
    std::vector<std::vector<uint8_t>> results;
    for (int i = 0; i < node_->output_num; ++i) {
        tensor* output = get_ir_node_output(node_, i);
        results.emplace_back(get_ir_tensor_bytes(output), uint8_t{0xee});
        output->data = results.back().data();
    }
    tensor* x = get_ir_node_input(node_, is_in_place ? kernel.in_place_input : 0);
    tensor* y = get_ir_node_output(node_, 0);
    void* const data = x->data;
    std::vector<uint8_t> last;
    const bool is_last = kernel.layout == cpu::Layout::kChannelsLast;
    if (is_last) {
        last = put_last(*x);
        x->data = last.data();
    }
    if (is_in_place) {
        std::copy_n(static_cast<const uint8_t*>(x->data), results[0].size(), y->u8);
        x->data = y->data;
    }
    cpu::PreparedKernel(kernel, node_, thread_num).run();
    x->data = data;
    if (is_last) results[0] = put_second(*y);
    std::vector<uint8_t> all;
    for (int i = 0; i < node_->output_num; ++i) {
        get_ir_node_output(node_, i)->data = nullptr;
        const std::vector<uint8_t>& result = results[static_cast<size_t>(i)];
        all.insert(all.end(), result.begin(), result.end());
    }
    return all;
}

void ByteNode::compare(const Kernel& kernel, const std::vector<int>& thread_nums,
                       const std::vector<uint8_t>& expected)
{
    for (const int thread_num : thread_nums)
        EXPECT_EQ(run(kernel, thread_num), expected) << thread_num << " threads";
    if (kernel.in_place_input < 0) return;
    const tensor* x = get_ir_node_input(node_, kernel.in_place_input);
    if (get_ir_tensor_bytes(x) != get_ir_tensor_bytes(get_ir_node_output(node_, 0))) return;
    EXPECT_EQ(run(kernel, 2, true), expected) << "in place";
}

void ByteNode::judge(const char* expected,
                     const std::function<void(const std::vector<uint8_t>& outputs)>& body)
{
    bool has_expected = cpu::get_vector_target_num() == 0;
    for (const Kernel* kernel : cpu::list_accepting_kernels(*node_)) {
        has_expected = has_expected || std::string(kernel->name) == expected;
        for (int target = 0; target < std::max(cpu::get_vector_target_num(), 1); ++target) {
            cpu::force_vector_target(target);
            for (const int thread_num : {1, 3}) {
                const char* name = cpu::get_vector_target_name(target);
                SCOPED_TRACE(std::string(kernel->name) + ", " + (name ? name : "no vectors"));
                body(run(*kernel, thread_num));
            }
        }
    }
    cpu::force_vector_target(-1);
    EXPECT_TRUE(has_expected) << "no kernel " << expected << " takes the node";
}

bool ByteNode::compare_fast(const std::vector<int>& thread_nums)
{
    const Kernel* const reference = cpu::list_accepting_kernels(*node_).back();
    EXPECT_EQ(std::string(reference->name).rfind("reference", 0), 0u);
    const std::vector<uint8_t> expected = run(*reference, 1);
    bool has_fast = false;
    for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
        cpu::force_vector_target(target);
        for (const Kernel* kernel : cpu::list_accepting_kernels(*node_)) {
            if (kernel == reference) break;
            SCOPED_TRACE(std::string(kernel->name) + ", " + cpu::get_vector_target_name(target));
            compare(*kernel, thread_nums, expected);
            has_fast = true;
        }
    }
    cpu::force_vector_target(-1);
    return has_fast;
}

void ByteNode::compare(const char* first, const std::vector<int>& thread_nums)
{
    if (cpu::get_vector_target_num() == 0)
        GTEST_SKIP() << "the reference is all that this build has";
    EXPECT_STREQ(cpu::list_accepting_kernels(*node_).front()->name, first);
    compare_fast(thread_nums);
}

}  // namespace tengine::test
