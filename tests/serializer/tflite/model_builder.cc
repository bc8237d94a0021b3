// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/model_builder.h"

#include "schema_generated.h"

namespace tengine::test {
namespace {

namespace file = tflite::file;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Offset<file::Options> add_options(FlatBufferBuilder& builder, const TfliteOperator& op)
{
    const auto start = builder.StartTable();
    for (const auto& [field, bytes, value] : op.options) {
        const auto place = static_cast<flatbuffers::voffset_t>(4 + 2 * field);
        if (bytes == 1)
            builder.AddElement<int8_t>(place, static_cast<int8_t>(value));
        else
            builder.AddElement<int32_t>(place, value);
    }
    return Offset<file::Options>(builder.EndTable(start));
}

Offset<file::Operator> add_operator(FlatBufferBuilder& builder, const TfliteOperator& op,
                                    uint32_t code)
{
    const auto options = add_options(builder, op);
    const auto inputs = builder.CreateVector(op.inputs);
    const auto outputs = builder.CreateVector(op.outputs);
    return file::CreateOperator(builder, code, inputs, outputs, 1, options);
}

Offset<file::Tensor> add_tensor(FlatBufferBuilder& builder, const TfliteTensor& tensor,
                                uint32_t buffer)
{
    Offset<file::Quantization> quantization;
    if (!tensor.scales.empty()) {
        const auto scales = builder.CreateVector(tensor.scales);
        const auto zero_points = builder.CreateVector(tensor.zero_points);
        quantization = file::CreateQuantization(builder, 0, 0, scales, zero_points);
    }
    const auto shape = builder.CreateVector(tensor.shape);
    const auto name = builder.CreateString(tensor.name);
    return file::CreateTensor(builder, shape, tensor.type, buffer, name, quantization);
}

std::vector<Offset<file::NamedTensor>> add_names(
    FlatBufferBuilder& builder, const std::vector<std::pair<uint32_t, std::string>>& named)
{
    std::vector<Offset<file::NamedTensor>> made;
    for (const auto& [tensor, name] : named)
        made.push_back(file::CreateNamedTensor(builder, builder.CreateString(name), tensor));
    return made;
}

}  // namespace

std::string encode_tflite(const TfliteModel& model)
{
    FlatBufferBuilder builder;
    std::vector<Offset<file::Buffer>> buffers = {file::CreateBuffer(builder)};
    std::vector<Offset<file::Tensor>> tensors;
    for (const TfliteTensor& tensor : model.tensors) {
        uint32_t buffer = 0;
        if (!tensor.values.empty()) {
            buffer = static_cast<uint32_t>(buffers.size());
            builder.ForceVectorAlignment(tensor.values.size(), 1, 16);
            const auto data = builder.CreateVector(
                reinterpret_cast<const uint8_t*>(tensor.values.data()), tensor.values.size());
            buffers.push_back(file::CreateBuffer(builder, data));
        }
        tensors.push_back(add_tensor(builder, tensor, buffer));
    }
    std::vector<Offset<file::OperatorCode>> codes;
    std::vector<Offset<file::Operator>> operators;
    for (const TfliteOperator& op : model.operators) {
        operators.push_back(add_operator(builder, op, static_cast<uint32_t>(codes.size())));
        const auto old_code = static_cast<int8_t>(op.code < 127 ? op.code : 127);
        codes.push_back(file::CreateOperatorCode(builder, old_code, 0, 1, op.code));
    }
    const std::vector<Offset<file::Subgraph>> subgraphs = {file::CreateSubgraph(
        builder, builder.CreateVector(tensors), builder.CreateVector(model.inputs),
        builder.CreateVector(model.outputs), builder.CreateVector(operators))};
    std::vector<Offset<file::Signature>> signatures;
    if (!model.named_inputs.empty() || !model.named_outputs.empty()) {
        const auto inputs = builder.CreateVector(add_names(builder, model.named_inputs));
        const auto outputs = builder.CreateVector(add_names(builder, model.named_outputs));
        const auto key = builder.CreateString("serving_default");
        signatures.push_back(file::CreateSignature(builder, inputs, outputs, key));
    }
    const auto all_codes = builder.CreateVector(codes);
    const auto all_subgraphs = builder.CreateVector(subgraphs);
    const auto all_buffers = builder.CreateVector(buffers);
    const auto all_signatures = builder.CreateVector(signatures);
    file::FinishModelBuffer(builder, file::CreateModel(builder, 3, all_codes, all_subgraphs, 0,
                                                       all_buffers, 0, 0, all_signatures));
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

}  // namespace tengine::test
