// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/read.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace tengine::tpu {
namespace {

struct Row
{
    const char* op;
    bool (*read)(const NodeReader& reader);
};

constexpr Row kRows[] = {
    {"Add", read_pair},
    {"AveragePool", read_average_pool},
    {"Clip", read_clamp},
    {"Concat", read_concat},
    {"Conv", read_conv},
    {"Flatten", read_reshape},
    {"Gemm", read_gemm},
    {"GlobalAveragePool", read_global_pool},
    {"GlobalMaxPool", read_global_pool},
    {"Identity", read_reshape},
    {"MatMul", read_matmul},
    {"MaxPool", read_max_pool},
    {"Mul", read_pair},
    {"Pad", read_pad},
    {"QLinearConv", read_qlinear_conv},
    {"QLinearMatMul", read_qlinear_matmul},
    {"Relu", read_clamp},
    {"Reshape", read_reshape},
    {"Resize", read_resize},
    {"Slice", read_slice},
    {"Split", read_split},
    {"Squeeze", read_reshape},
    {"Transpose", read_transpose},
    {"Unsqueeze", read_reshape},
    {"com.microsoft.QGemm", read_qgemm},
    {"com.microsoft.QLinearAdd", read_qlinear_pair},
    {"com.microsoft.QLinearAveragePool", read_qlinear_average_pool},
    {"com.microsoft.QLinearGlobalAveragePool", read_global_pool},
    {"com.microsoft.QLinearMul", read_qlinear_pair},
    {"tengine.Lookup", read_lookup},
};

std::string full_name(const node& node)
{
    const std::string domain = get_ir_node_domain(&node);
    return domain.empty() ? get_ir_node_op(&node) : domain + "." + get_ir_node_op(&node);
}

// Refuses data that exceed host memory, and empty data.
bool check_tensor(const NodeReader& reader, const tensor* tensor)
{
    constexpr size_t kMostBytes = size_t{1} << 30;
    if (!tensor) return true;
    if (!is_ir_tensor_shape_known(tensor))
        return reader.refuse(IR_REASON_SHAPE, tensor->name, "", "shapes must be known");
    if (tensor->tensor_type == TENSOR_TYPE_CONST) return true;
    if (tensor->elem_num == 0 || get_ir_tensor_bytes(tensor) > kMostBytes)
        return reader.refuse(IR_REASON_SHAPE, tensor->name, "",
                             "it has %lld elements, expected 1 to 2^30 bytes",
                             static_cast<long long>(tensor->elem_num));
    return true;
}

}  // namespace

bool NodeReader::refuse(int code, const char* attribute, const char* value, const char* format,
                        ...) const
{
    char message[sizeof(ir_verdict_t::message)];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    refuse_ir_node(verdict, code, attribute, value, "%s", message);
    return false;
}

bool NodeReader::constant(int index, const char* what) const
{
    const tensor* value = input(index);
    if (!value || (value->tensor_type == TENSOR_TYPE_CONST && value->data)) return true;
    return refuse(IR_REASON_CONSTANT, value->name, "", "%s must be constant", what);
}

bool NodeReader::quantization(int index, double* out_scale, uint8_t* out_zero) const
{
    const tensor* scale = input(index);
    const tensor* zero = input(index + 1);
    if (!constant(index, "a scale") || !constant(index + 1, "a zero point")) return false;
    if (scale->elem_num != 1 || (zero && zero->elem_num != 1))
        return refuse(IR_REASON_SHAPE, scale->name, "",
                      "%lld scales, expected one for the whole tensor",
                      static_cast<long long>(scale->elem_num));
    *out_scale = scale->f32[0];
    *out_zero = zero ? zero->u8[0] : 0;
    return true;
}

bool require_bytes(const NodeReader& reader, std::initializer_list<int> inputs)
{
    for (int index : inputs) {
        const tensor* tensor = reader.input(index);
        if (tensor->data_type == TENGINE_DT_INT8 || tensor->data_type == TENGINE_DT_UINT8) continue;
        return reader.refuse(IR_REASON_DATA_TYPE, tensor->name,
                             get_data_type_name(tensor->data_type), "expected int8 or uint8");
    }
    return true;
}

bool require_bf16(const NodeReader& reader)
{
    if (reader.is_float()) return true;
    const tensor* output = reader.output();
    return reader.refuse(IR_REASON_DATA_TYPE, output->name, get_data_type_name(output->data_type),
                         "%s is supported only in bf16", get_ir_node_op(&reader.of));
}

const std::vector<const char*>& operator_names()
{
    static const std::vector<const char*> names = [] {
        std::vector<const char*> list;
        for (const Row& row : kRows)
            list.push_back(row.op);
        return list;
    }();
    return names;
}

bool read_node(const NodeReader& reader)
{
    if (reader.of.dynamic_shape)
        return reader.refuse(IR_REASON_SHAPE, "", "", "shapes must be known before the run");
    for (int i = 0; i < reader.of.input_num; ++i)
        if (!check_tensor(reader, reader.input(i))) return false;
    for (int i = 0; i < reader.of.output_num; ++i)
        if (!check_tensor(reader, reader.output(i))) return false;
    const std::string name = full_name(reader.of);
    for (const Row& row : kRows)
        if (name == row.op) return row.read(reader);
    return reader.refuse(IR_REASON_OPERATOR, "", "", "%s is not supported", name.c_str());
}

}  // namespace tengine::tpu
