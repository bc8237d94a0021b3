// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/model_builder.h"

#include "schema_generated.h"
#include "serializer/tflite/writing.h"

namespace tengine::test {
namespace {

namespace file = tflite::file;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Offset<void> add_list(FlatBufferBuilder& builder, const TfliteOperator::Option& option)
{
    const auto& list = option.list;
    if (!option.text.empty()) return builder.CreateString(option.text).o;
    if (option.bytes == 0) return builder.CreateVector(list).o;
    if (option.bytes == -8)
        return builder.CreateVector(std::vector<int64_t>(list.begin(), list.end())).o;
    if (option.bytes == -1)
        return builder.CreateVector(std::vector<uint8_t>(list.begin(), list.end())).o;
    return 0;
}

Offset<file::Options> add_options(FlatBufferBuilder& builder, const TfliteOperator& op)
{
    std::vector<Offset<void>> lists;
    for (const auto& option : op.options)
        lists.push_back(add_list(builder, option));
    const auto start = builder.StartTable();
    for (size_t i = 0; i < op.options.size(); ++i) {
        const auto& option = op.options[i];
        const auto place = static_cast<flatbuffers::voffset_t>(4 + 2 * option.field);
        if (option.bytes <= 0)
            builder.AddOffset(place, lists[i]);
        else if (option.bytes == 8)
            builder.AddElement<int64_t>(place, option.value);
        else if (option.bytes == 1)
            builder.AddElement<int8_t>(place, static_cast<int8_t>(option.value));
        else
            builder.AddElement<int32_t>(place, option.value);
    }
    return Offset<file::Options>(builder.EndTable(start));
}

Offset<flatbuffers::Vector<uint8_t>> add_bytes(FlatBufferBuilder& builder, const std::string& bytes)
{
    return builder.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

Offset<file::Operator> add_operator(FlatBufferBuilder& builder, const TfliteOperator& op,
                                    uint32_t code)
{
    const tflite::OptionsType type = tflite::find_options_type(op.code);
    const auto options = add_options(builder, op);
    const auto custom = op.custom_options.empty() ? 0 : add_bytes(builder, op.custom_options);
    const auto inputs = builder.CreateVector(op.inputs);
    const auto outputs = builder.CreateVector(op.outputs);
    const Offset<file::Options> none;
    const bool is_first = type.number != 0 && !type.is_later;
    const bool is_later = type.number != 0 && type.is_later;
    return file::CreateOperator(builder, code, inputs, outputs, is_first ? type.number : 0,
                                is_first ? options : none, custom, 0, 0, 0, 0, 0,
                                is_later ? type.number : 0, is_later ? options : none);
}

// A table whose field 0 is a vector of numbers.
Offset<file::Indices> add_indices(FlatBufferBuilder& builder, const std::vector<int32_t>& values,
                                  uint8_t width)
{
    constexpr flatbuffers::voffset_t kPlace = 4;
    const std::vector<uint16_t> words(values.begin(), values.end());
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    const flatbuffers::uoffset_t list = width == 1   ? builder.CreateVector(values).o
                                        : width == 2 ? builder.CreateVector(words).o
                                                     : builder.CreateVector(bytes).o;
    const auto start = builder.StartTable();
    builder.AddOffset(kPlace, Offset<void>(list));
    return Offset<file::Indices>(builder.EndTable(start));
}

Offset<file::Sparsity> add_sparsity(FlatBufferBuilder& builder, const TfliteSparsity& sparsity)
{
    std::vector<Offset<file::Dimension>> levels;
    for (const TfliteLevel& level : sparsity.levels) {
        if (level.width == 0) {
            levels.push_back(file::CreateDimension(builder, 0, level.dense_size));
            continue;
        }
        const auto segments = add_indices(builder, level.segments, level.width);
        const auto indices = add_indices(builder, level.indices, level.width);
        levels.push_back(file::CreateDimension(builder, 1, level.dense_size, level.width, segments,
                                               level.width, indices));
    }
    const auto order = builder.CreateVector(sparsity.order);
    const auto blocks = builder.CreateVector(sparsity.blocks);
    return file::CreateSparsity(builder, order, blocks, builder.CreateVector(levels));
}

Offset<file::Tensor> add_tensor(FlatBufferBuilder& builder, const TfliteTensor& tensor,
                                uint32_t buffer)
{
    Offset<file::Quantization> quantization;
    if (!tensor.scales.empty() || tensor.blocks.size != 0) {
        const auto scales = builder.CreateVector(tensor.scales);
        const auto zero_points = builder.CreateVector(tensor.zero_points);
        const auto minimum = builder.CreateVector(tensor.minimum);
        const auto maximum = builder.CreateVector(tensor.maximum);
        const TfliteBlocks& blocks = tensor.blocks;
        Offset<file::Details> details;
        if (blocks.size != 0)
            details = file::CreateDetails(builder, blocks.scales, blocks.zero_points, blocks.size);
        quantization = file::CreateQuantization(builder, minimum, maximum, scales, zero_points,
                                                blocks.size != 0 ? 2 : 0, details, tensor.axis);
    }
    Offset<file::Sparsity> sparsity;
    if (!tensor.sparsity.order.empty()) sparsity = add_sparsity(builder, tensor.sparsity);
    const auto shape = builder.CreateVector(tensor.shape);
    const auto name = builder.CreateString(tensor.name);
    const auto free_shape =
        tensor.shape_signature.empty() ? 0 : builder.CreateVector(tensor.shape_signature);
    return file::CreateTensor(builder, shape, tensor.type, buffer, name, quantization,
                              tensor.is_variable, sparsity, free_shape);
}

std::vector<Offset<file::NamedTensor>> add_names(
    FlatBufferBuilder& builder, const std::vector<std::pair<uint32_t, std::string>>& named)
{
    std::vector<Offset<file::NamedTensor>> made;
    for (const auto& [tensor, name] : named)
        made.push_back(file::CreateNamedTensor(builder, builder.CreateString(name), tensor));
    return made;
}

// Buffers and codes, which all subgraphs share. `trailing`: where constants lie behind the tables,
// these bytes, which begin at `table_size`.
struct Pools
{
    bool constants_trail = false;
    size_t table_size = 0;
    std::string trailing = {};
    std::vector<Offset<file::Buffer>> buffers;
    std::vector<Offset<file::OperatorCode>> codes;
};

Offset<file::Subgraph> add_subgraph(FlatBufferBuilder& builder, const TfliteModel& model,
                                    Pools& pools)
{
    std::vector<Offset<file::Tensor>> tensors;
    for (const TfliteTensor& tensor : model.tensors) {
        uint32_t buffer = 0;
        if (!tensor.values.empty() && pools.constants_trail) {
            constexpr size_t kAlignment = 64;
            while ((pools.table_size + pools.trailing.size()) % kAlignment != 0)
                pools.trailing += '\0';
            buffer = static_cast<uint32_t>(pools.buffers.size());
            pools.buffers.push_back(file::CreateBuffer(
                builder, 0, pools.table_size + pools.trailing.size(), tensor.values.size()));
            pools.trailing += tensor.values;
        } else if (!tensor.values.empty()) {
            buffer = static_cast<uint32_t>(pools.buffers.size());
            builder.ForceVectorAlignment(tensor.values.size(), 1, 16);
            pools.buffers.push_back(file::CreateBuffer(builder, add_bytes(builder, tensor.values)));
        }
        tensors.push_back(add_tensor(builder, tensor, buffer));
    }
    std::vector<Offset<file::Operator>> operators;
    for (const TfliteOperator& op : model.operators) {
        operators.push_back(add_operator(builder, op, static_cast<uint32_t>(pools.codes.size())));
        const auto old_code = static_cast<int8_t>(op.code < 127 ? op.code : 127);
        const auto name = op.name.empty() ? 0 : builder.CreateString(op.name);
        pools.codes.push_back(
            file::CreateOperatorCode(builder, old_code, name, op.version, op.code));
    }
    return file::CreateSubgraph(builder, builder.CreateVector(tensors),
                                builder.CreateVector(model.inputs),
                                builder.CreateVector(model.outputs),
                                builder.CreateVector(operators), builder.CreateString(model.name));
}

// The file with tables of this size.
std::string encode_with(const TfliteModel& model, size_t table_size)
{
    FlatBufferBuilder builder;
    Pools pools;
    pools.constants_trail = model.constants_trail;
    pools.table_size = table_size;
    pools.buffers.push_back(file::CreateBuffer(builder));
    std::vector<Offset<file::Subgraph>> subgraphs = {add_subgraph(builder, model, pools)};
    for (const TfliteModel& called : model.called)
        subgraphs.push_back(add_subgraph(builder, called, pools));
    std::vector<Offset<file::Signature>> signatures;
    const auto add_signature = [&](const TfliteSignature& signature) {
        const auto inputs = builder.CreateVector(add_names(builder, signature.inputs));
        const auto outputs = builder.CreateVector(add_names(builder, signature.outputs));
        const auto key = builder.CreateString(signature.key);
        signatures.push_back(
            file::CreateSignature(builder, inputs, outputs, key, signature.subgraph));
    };
    if (!model.named_inputs.empty() || !model.named_outputs.empty())
        add_signature({"serving_default", 0, model.named_inputs, model.named_outputs});
    for (const TfliteSignature& signature : model.signatures)
        add_signature(signature);
    std::vector<Offset<file::Metadata>> metadata;
    for (const auto& [name, bytes] : model.metadata) {
        const auto buffer = static_cast<uint32_t>(pools.buffers.size());
        pools.buffers.push_back(file::CreateBuffer(builder, add_bytes(builder, bytes)));
        metadata.push_back(file::CreateMetadata(builder, builder.CreateString(name), buffer));
    }
    const auto description = builder.CreateString(model.description);
    const auto all_metadata = builder.CreateVector(metadata);
    const auto all_codes = builder.CreateVector(pools.codes);
    const auto all_subgraphs = builder.CreateVector(subgraphs);
    const auto all_buffers = builder.CreateVector(pools.buffers);
    const auto all_signatures = builder.CreateVector(signatures);
    file::FinishModelBuffer(
        builder, file::CreateModel(builder, 3, all_codes, all_subgraphs, description, all_buffers,
                                   0, all_metadata, all_signatures));
    const std::string tables(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                             builder.GetSize());
    return tables.size() == table_size || !model.constants_trail
               ? tables + pools.trailing
               : encode_with(model, tables.size());
}

}  // namespace

std::string encode_tflite(const TfliteModel& model)
{
    return encode_with(model, 64);
}

}  // namespace tengine::test
