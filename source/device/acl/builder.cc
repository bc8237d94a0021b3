// SPDX-License-Identifier: Apache-2.0
#include "device/acl/builder.h"

#include <cxxabi.h>

#include <arm_compute/runtime/NEON/functions/NEReshapeLayer.h>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "device/acl/operator_table.h"

namespace tengine::acl {
namespace {

// "arm_compute::NEPoolingLayer", demangled.
std::string read_class_name(const char* mangled)
{
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), std::free);
    const std::string text = name ? name.get() : mangled;
    const size_t colon = text.rfind(':');
    return colon == std::string::npos ? text : text.substr(colon + 1);
}

// ACL's messages begin with "in <function> <file>:<line>: ", which means nothing to users.
std::string without_place(const std::string& reason)
{
    if (reason.compare(0, 3, "in ") != 0) return reason;
    const size_t end = reason.find(": ");
    return end == std::string::npos ? reason : reason.substr(end + 2);
}

}  // namespace

bool Builder::refuse(int code, const char* attribute, const char* value, const char* format, ...)
{
    if (refused_) return false;
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    refuse_ir_node(verdict_, code, attribute, value, "%s", text);
    refused_ = true;
    return false;
}

bool Builder::refuse_by(const char* function, const std::string& reason)
{
    return refuse(IR_REASON_ATTRIBUTE, "", "", "%s: %s", read_class_name(function).c_str(),
                  without_place(reason).c_str());
}

bool Builder::refuse_value(const char* attribute, int64_t value, const char* accepted)
{
    const std::string text = std::to_string(value);
    return refuse(IR_REASON_ATTRIBUTE, attribute, text.c_str(),
                  "ACL does not support %s %s: expected %s", attribute, text.c_str(), accepted);
}

bool Builder::is_constant(int index) const
{
    const tensor* input = source(index);
    return input && input->tensor_type == TENSOR_TYPE_CONST && input->data;
}

bool Builder::require_constant(int index, const char* what)
{
    if (!source(index) || is_constant(index)) return true;
    return refuse(IR_REASON_CONSTANT, source(index)->name, "", "the %s must be constant", what);
}

bool Builder::check_rank(const tensor& tensor)
{
    if (tensor.dim_num <= kMaxRank) return true;
    const std::string rank = std::to_string(tensor.dim_num);
    return refuse(IR_REASON_SHAPE, tensor.name, rank.c_str(),
                  "'%s' has %s dimensions, expected at most %d", tensor.name, rank.c_str(),
                  kMaxRank);
}

bool Builder::check_shapes()
{
    const auto check = [this](const tensor* tensor, bool is_computed) {
        if (!tensor) return true;
        if (!check_rank(*tensor)) return false;
        return !is_computed || tensor->elem_num > 0 ||
               refuse(IR_REASON_SHAPE, tensor->name, "0", "'%s' has no elements", tensor->name);
    };
    for (int i = 0; i < of_.input_num; ++i)
        if (!check(source(i), !is_constant(i))) return false;
    for (int i = 0; i < of_.output_num; ++i)
        if (!check(target(i), true)) return false;
    return true;
}

bool Builder::can_have(const tensor* tensor)
{
    if (!tensor)
        return refuse(IR_REASON_ATTRIBUTE, "", "", "an input or output that ACL needs is missing");
    const char* type = get_data_type_name(tensor->data_type);
    if (to_acl_type(tensor->data_type) == DataType::UNKNOWN)
        return refuse(IR_REASON_DATA_TYPE, tensor->name, type, "ACL does not support the type %s",
                      type);
    if (!check_rank(*tensor)) return false;
    // ACL counts bytes in 32 bits, and adds padding.
    const size_t bytes = get_ir_tensor_bytes(tensor);
    if (bytes == 0 || bytes > INT32_MAX / 4)
        return refuse(IR_REASON_SHAPE, tensor->name, std::to_string(bytes).c_str(),
                      "'%s' has %zu bytes, expected 1 to %d", tensor->name, bytes, INT32_MAX / 4);
    return true;
}

// Stands for a tensor that was refused.
ITensor* Builder::nothing()
{
    return plan_.temporary(make_info(TensorShape(1U), DataType::F32));
}

ITensor* Builder::input(int index)
{
    const tensor* tensor = source(index);
    if (!can_have(tensor)) return nothing();
    if (is_constant(index)) return plan_.constant(*tensor, to_acl_info(*tensor), 0);
    return plan_.value(*tensor);
}

ITensor* Builder::input(int index, const TensorInfo& as)
{
    const tensor* tensor = source(index);
    if (!can_have(tensor)) return nothing();
    if (is_constant(index)) return plan_.constant(*tensor, as, 0);
    return view(*tensor, as, false);
}

const tensor* Builder::written(int index) const
{
    return index == 0 && took_activation_ ? get_ir_node_output(activation_, 0) : target(index);
}

ITensor* Builder::output(int index)
{
    const tensor* tensor = written(index);
    return can_have(tensor) ? plan_.value(*tensor) : nothing();
}

ITensor* Builder::output(int index, const TensorInfo& as)
{
    const tensor* tensor = written(index);
    return can_have(tensor) ? view(*tensor, as, true) : nothing();
}

// A computed tensor with the shape, type and scale of `as`, to be read or written.
ITensor* Builder::view(const tensor& of, const TensorInfo& as, bool writes)
{
    const TensorInfo plain = to_acl_info(of);
    TensorInfo own(as);
    own.set_tensor_shape(plain.tensor_shape());
    const bool same_type =
        as.data_type() == plain.data_type() && as.quantization_info() == plain.quantization_info();
    ITensor* whole = same_type ? plan_.value(of) : plan_.alias(of, own);
    if (as.tensor_shape() == plain.tensor_shape()) return whole;
    ITensor* shaped = plan_.temporary(as);
    if (writes)
        copies_.push_back({shaped, whole});
    else
        add<arm_compute::NEReshapeLayer>(whole, shaped);
    return shaped;
}

ITensor* Builder::constant(int index, const TensorInfo& as, size_t offset)
{
    if (!can_have(source(index)) || !require_constant(index, "input")) return nothing();
    return plan_.constant(*source(index), as, offset);
}

ITensor* Builder::constant(const TensorInfo& info, std::vector<uint8_t> bytes)
{
    return plan_.constant(info, std::move(bytes));
}

ITensor* Builder::constant(const std::vector<float>& values, DataType type)
{
    const TensorInfo info = make_info(TensorShape(values.size()), type);
    std::vector<uint8_t> bytes(values.size() * info.element_size());
    if (type == DataType::F16) {
        for (size_t i = 0; i < values.size(); ++i) {
            const arm_compute::half value(values[i]);
            std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
        }
    } else {
        std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    return constant(info, std::move(bytes));
}

ITensor* Builder::temporary(const TensorInfo& info)
{
    return plan_.temporary(info);
}

ActivationLayerInfo Builder::take_activation()
{
    ActivationLayerInfo info;
    if (activation_ && read_activation(*activation_, &info)) took_activation_ = true;
    return info;
}

bool Builder::finish()
{
    for (const Copy& copy : copies_)
        add<arm_compute::NEReshapeLayer>(copy.from, copy.to);
    return !refused_;
}

std::vector<const ITensorInfo*> Builder::info_of(const Tensors& tensors)
{
    std::vector<const ITensorInfo*> infos;
    for (const ITensor* tensor : tensors)
        infos.push_back(tensor->info());
    return infos;
}

}  // namespace tengine::acl
