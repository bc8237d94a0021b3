// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/byte_code.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "serializer/tflite/flex_map.h"

namespace tengine::tflite {
namespace {

constexpr const char* kStamp = "LiteRtStamp";

struct Place
{
    uint64_t offset = 0;
    uint64_t size = 0;
};

// The options of a node.
struct Options
{
    std::string_view name;
    Place place;
    const file::Buffer* buffer = nullptr;  // older files: the metadata's, instead of the place
};

// Two strings of the same room, padded with zeros.
struct Pair
{
    std::string_view first, second;
};

std::string_view cut(const char* text, size_t room)
{
    return std::string_view(text, room).substr(0, std::string_view(text, room).find('\0'));
}

Pair split_pair(const uint8_t* bytes, size_t size)
{
    const auto* text = reinterpret_cast<const char*>(bytes);
    const size_t room = size / 2;
    return {cut(text, room), cut(text + room, room)};
}

const file::Buffer* find_metadata(const Reading& reading, std::string_view name)
{
    for (uint32_t i = 0; i < count(reading.model->metadata()); ++i) {
        const file::Metadata* entry = reading.model->metadata()->Get(i);
        if (text_of(entry->name()) == name && entry->buffer() < count(reading.model->buffers()))
            return reading.model->buffers()->Get(entry->buffer());
    }
    return nullptr;
}

bool read_place(const FlexMap& map, Options* options)
{
    bool has_offset = false, has_size = false;
    for (size_t i = 0; i < map.size(); ++i) {
        const FlexMap::Entry entry = map.get(i);
        const bool is_count = entry.kind == FlexMap::Kind::kInt && entry.ints[0] >= 0;
        if (entry.name == "name" && entry.kind == FlexMap::Kind::kText)
            options->name = entry.texts[0];
        if (entry.name == "bytecode_offset" && is_count) {
            options->place.offset = static_cast<uint64_t>(entry.ints[0]);
            has_offset = true;
        }
        if (entry.name == "bytecode_size" && is_count) {
            options->place.size = static_cast<uint64_t>(entry.ints[0]);
            has_size = true;
        }
    }
    return has_offset && has_size;
}

int read_options(const Reading& reading, const struct node* node, const uint8_t* bytes, size_t size,
                 Options* options)
{
    const FlexMap map(bytes, size);
    if (map.is_map()) {
        if (read_place(map, options)) return TENGINE_OK;
        return fail_node(node, TENGINE_EFORMAT,
                         "its options lack bytecode_offset or bytecode_size, numbers from 0 on");
    }
    const Pair names = split_pair(bytes, size);
    options->name = names.first;
    options->buffer = find_metadata(reading, names.second);
    if (options->buffer) return TENGINE_OK;
    return fail_node(node, TENGINE_EFORMAT,
                     "its options are not a map, and the model has no metadata %s",
                     quote(String(names.second).c_str()).c_str());
}

bool read_number(std::string_view text, uint64_t* out_number)
{
    text = text.substr(0, text.find('\0'));
    *out_number = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9' || *out_number > UINT64_MAX / 16) return false;
        *out_number = *out_number * 10 + static_cast<uint64_t>(digit - '0');
    }
    return !text.empty();
}

// The buffer of older files states the place, offset and size in decimal digits, or is the byte
// code.
bool states_place(std::string_view buffer, Place* out_place)
{
    constexpr std::string_view kBegin = "<npu_byte_code>";
    constexpr size_t kOffsetRoom = 11;
    if (buffer.substr(0, kBegin.size()) != kBegin) return false;
    const std::string_view numbers = buffer.substr(kBegin.size());
    return numbers.size() > kOffsetRoom &&
           read_number(numbers.substr(0, kOffsetRoom), &out_place->offset) &&
           read_number(numbers.substr(kOffsetRoom), &out_place->size);
}

int find_bytes(const Reading& reading, const struct node* node, const Options& options,
               const uint8_t** out_bytes, size_t* out_size)
{
    const auto* file = reinterpret_cast<const uint8_t*>(reading.image->bytes());
    Place place = options.place;
    if (options.buffer) {
        const auto* data = options.buffer->data();
        if (options.buffer->offset() > 1) {
            place = {options.buffer->offset(), options.buffer->size()};
        } else if (!data ||
                   !states_place({reinterpret_cast<const char*>(data->data()), data->size()},
                                 &place)) {
            *out_bytes = data ? data->data() : nullptr;
            *out_size = count(data);
            return TENGINE_OK;
        }
    }
    const uint64_t file_size = reading.image->size();
    if (place.offset > file_size || place.size > file_size - place.offset)
        return fail_node(node, TENGINE_EFORMAT,
                         "its byte code has %llu bytes from byte %llu on, the file %llu",
                         static_cast<unsigned long long>(place.size),
                         static_cast<unsigned long long>(place.offset),
                         static_cast<unsigned long long>(file_size));
    *out_bytes = file + place.offset;
    *out_size = static_cast<size_t>(place.size);
    return TENGINE_OK;
}

int add_bytes(Reading& reading, struct node* node, const file::Operator& record,
              const uint8_t* bytes, size_t size)
{
    if (size == 0 || size > INT_MAX)
        return fail_node(node, TENGINE_ELIMIT, "its byte code has %zu bytes, expected 1 to %d",
                         size, INT_MAX);
    const String name = String(node->name) + "_byte_code";
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(name.size() + sizeof(struct tensor)));
    struct tensor* constant = create_ir_tensor(reading.graph, name.c_str(), TENGINE_DT_UINT8);
    if (!constant) return last_error();
    const int dim = static_cast<int>(size);
    constant->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(constant, &dim, 1));
    set_ir_tensor_data(constant, const_cast<uint8_t*>(bytes), false);
    return set_ir_node_input_tensor(node, static_cast<int>(count(record.inputs())), constant);
}

int set_text(Reading& reading, struct node* node, const char* field, std::string_view text)
{
    text = text.substr(0, text.find('\0'));
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(text.size()));
    return set_node_text(node, field, text.data(), text.size());
}

int set_ints(Reading& reading, struct node* node, const char* field, const Vector<int64_t>& values)
{
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(values.size() * sizeof(int64_t)));
    return set_node_ints(node, field, values.data(), static_cast<int>(values.size()));
}

// Absent inputs have rank 0.
int set_shapes(Reading& reading, struct node* node, const char* field,
               const flatbuffers::Vector<int32_t>* list)
{
    Vector<int64_t> shapes;
    for (uint32_t i = 0; i < count(list); ++i) {
        const struct tensor* tensor = find_tensor(reading, list->Get(i));
        shapes.push_back(tensor ? tensor->dim_num : 0);
        for (int k = 0; tensor && k < tensor->dim_num; ++k)
            shapes.push_back(tensor->dims[k]);
    }
    return set_ints(reading, node, field, shapes);
}

int set_types(Reading& reading, struct node* node, const file::Operator& record)
{
    Vector<int64_t> types;
    for (uint32_t i = 0; i < count(record.outputs()); ++i) {
        const struct tensor* tensor = find_tensor(reading, record.outputs()->Get(i));
        types.push_back(tensor ? tensor->data_type : TENGINE_DT_UNKNOWN);
    }
    return set_ints(reading, node, "output_types", types);
}

}  // namespace

bool is_dispatch(const struct node* node)
{
    return std::strcmp(get_ir_node_op(node), "DISPATCH_OP") == 0 &&
           std::strcmp(get_ir_node_domain(node), "tflite") == 0;
}

int read_byte_code(Reading& reading, struct node* node, const file::Operator& record,
                   const uint8_t* bytes, size_t size)
{
    Options options;
    TENGINE_RETURN_IF_ERROR(read_options(reading, node, bytes, size, &options));
    TENGINE_RETURN_IF_ERROR(set_text(reading, node, "name", options.name));
    const file::Buffer* stamp = find_metadata(reading, kStamp);
    if (stamp && stamp->data()) {
        const Pair maker = split_pair(stamp->data()->data(), stamp->data()->size());
        TENGINE_RETURN_IF_ERROR(set_text(reading, node, "manufacturer", maker.first));
        TENGINE_RETURN_IF_ERROR(set_text(reading, node, "soc_model", maker.second));
    }
    TENGINE_RETURN_IF_ERROR(set_shapes(reading, node, "input_shapes", record.inputs()));
    TENGINE_RETURN_IF_ERROR(set_shapes(reading, node, "output_shapes", record.outputs()));
    TENGINE_RETURN_IF_ERROR(set_types(reading, node, record));
    const uint8_t* code = nullptr;
    size_t code_size = 0;
    TENGINE_RETURN_IF_ERROR(find_bytes(reading, node, options, &code, &code_size));
    return add_bytes(reading, node, record, code, code_size);
}

}  // namespace tengine::tflite
