// SPDX-License-Identifier: Apache-2.0
// TensorProto with the message class that the ONNX serializer is built with. The contract is in
// tensor_proto.h.
#include "tensor_file/tensor_proto.h"

#include <cstring>
#include <onnx/onnx.pb.h>

#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

using ::onnx::TensorProto;

// One of the typed fields as dense elements; ONNX keeps small types in wider fields.
template <typename Element, typename Field>
std::string pack(const Field& field)
{
    std::string packed(field.size() * sizeof(Element), '\0');
    for (int i = 0; i < field.size(); ++i) {
        const Element element = static_cast<Element>(field[i]);
        std::memcpy(&packed[i * sizeof(Element)], &element, sizeof element);
    }
    return packed;
}

std::string pack_bytes(const TensorProto& proto)
{
    return pack<uint8_t>(proto.int32_data());
}

struct ElementType
{
    int onnx_type;
    int data_type;
    std::string (*pack)(const TensorProto& proto);
};

constexpr ElementType kElementTypes[] = {
    {TensorProto::FLOAT, TENGINE_DT_FP32,
     [](const TensorProto& proto) { return pack<float>(proto.float_data()); }},
    {TensorProto::DOUBLE, TENGINE_DT_FP64,
     [](const TensorProto& proto) { return pack<double>(proto.double_data()); }},
    {TensorProto::FLOAT16, TENGINE_DT_FP16,
     [](const TensorProto& proto) { return pack<uint16_t>(proto.int32_data()); }},
    {TensorProto::BFLOAT16, TENGINE_DT_BF16,
     [](const TensorProto& proto) { return pack<uint16_t>(proto.int32_data()); }},
    {TensorProto::BOOL, TENGINE_DT_BOOL, pack_bytes},
    {TensorProto::INT8, TENGINE_DT_INT8,
     [](const TensorProto& proto) { return pack<int8_t>(proto.int32_data()); }},
    {TensorProto::INT16, TENGINE_DT_INT16,
     [](const TensorProto& proto) { return pack<int16_t>(proto.int32_data()); }},
    {TensorProto::INT32, TENGINE_DT_INT32,
     [](const TensorProto& proto) { return pack<int32_t>(proto.int32_data()); }},
    {TensorProto::INT64, TENGINE_DT_INT64,
     [](const TensorProto& proto) { return pack<int64_t>(proto.int64_data()); }},
    {TensorProto::UINT8, TENGINE_DT_UINT8, pack_bytes},
    {TensorProto::UINT16, TENGINE_DT_UINT16,
     [](const TensorProto& proto) { return pack<uint16_t>(proto.int32_data()); }},
    {TensorProto::UINT32, TENGINE_DT_UINT32,
     [](const TensorProto& proto) { return pack<uint32_t>(proto.uint64_data()); }},
    {TensorProto::UINT64, TENGINE_DT_UINT64,
     [](const TensorProto& proto) { return pack<uint64_t>(proto.uint64_data()); }},
    {TensorProto::COMPLEX64, TENGINE_DT_COMPLEX64,
     [](const TensorProto& proto) { return pack<float>(proto.float_data()); }},
    {TensorProto::COMPLEX128, TENGINE_DT_COMPLEX128,
     [](const TensorProto& proto) { return pack<double>(proto.double_data()); }},
    // The types are given by number: the message class of an older ONNX does not name them.
    {17, TENGINE_DT_FLOAT8E4M3FN, pack_bytes},
    {18, TENGINE_DT_FLOAT8E4M3FNUZ, pack_bytes},
    {19, TENGINE_DT_FLOAT8E5M2, pack_bytes},
    {20, TENGINE_DT_FLOAT8E5M2FNUZ, pack_bytes},
    {21, TENGINE_DT_UINT4, pack_bytes},
    {22, TENGINE_DT_INT4, pack_bytes},
    {23, TENGINE_DT_FLOAT4E2M1, pack_bytes},
    {24, TENGINE_DT_FLOAT8E8M0, pack_bytes},
    {25, TENGINE_DT_UINT2, pack_bytes},
    {26, TENGINE_DT_INT2, pack_bytes},
};

const ElementType& find_element_type(const TensorProto& proto)
{
    for (const ElementType& type : kElementTypes) {
        if (type.onnx_type == proto.data_type()) return type;
    }
    throw Failure("ONNX element type " + std::to_string(proto.data_type()) + " is not supported");
}

Tensor decode_strings(const TensorProto& proto)
{
    Tensor tensor = make_tensor(TENGINE_DT_STRING, {proto.dims().begin(), proto.dims().end()});
    if (static_cast<size_t>(proto.string_data_size()) != tensor.element_number())
        throw Failure("there are " + std::to_string(proto.string_data_size()) +
                      " strings, the shape needs " + std::to_string(tensor.element_number()));
    tensor.texts.assign(proto.string_data().begin(), proto.string_data().end());
    tensor.name = proto.name();
    return tensor;
}

}  // namespace

Tensor decode_tensor_proto(const std::string& content)
{
    TensorProto proto;
    if (!proto.ParseFromString(content)) throw Failure("not an ONNX TensorProto");
    if (proto.data_location() == TensorProto::EXTERNAL || proto.has_segment())
        throw Failure("its elements are in another file");
    if (proto.data_type() == TensorProto::STRING) return decode_strings(proto);
    const ElementType& type = find_element_type(proto);
    const std::string values = proto.has_raw_data() ? proto.raw_data() : type.pack(proto);
    Tensor tensor = make_tensor(type.data_type, {proto.dims().begin(), proto.dims().end()}, values);
    tensor.name = proto.name();
    return tensor;
}

std::string encode_tensor_proto(const Tensor& tensor)
{
    TensorProto proto;
    for (const ElementType& type : kElementTypes) {
        if (type.data_type == tensor.data_type) proto.set_data_type(type.onnx_type);
    }
    for (const int extent : tensor.shape)
        proto.add_dims(extent);
    if (!tensor.name.empty()) proto.set_name(tensor.name);
    if (tensor.data_type == TENGINE_DT_STRING) {
        proto.set_data_type(TensorProto::STRING);
        for (const std::string& text : tensor.texts)
            proto.add_string_data(text);
        return proto.SerializeAsString();
    }
    proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
    return proto.SerializeAsString();
}

}  // namespace tengine::tools
