// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/model_text.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "operator/operator.h"
#include "operator/registry.h"
#include "schema_generated.h"

namespace tengine::test {
namespace {

namespace file = tflite::file;

template <class Item>
void print_list(std::ostream& out, const char* name, const flatbuffers::Vector<Item>* list)
{
    if (!list || list->size() == 0) return;
    out << " " << name << "=";
    for (const auto item : *list)
        out << +item << ",";
}

// The file whose text is made.
thread_local const char* file_begin = nullptr;

std::string bytes_of_buffer(const file::Model& model, uint32_t index)
{
    const file::Buffer& buffer = *model.buffers()->Get(index);
    const auto* data = buffer.data();
    if (buffer.offset() > 1)
        return "behind the tables, " + std::to_string(buffer.offset() % 64) + ": " +
               std::string(file_begin + buffer.offset(), buffer.size());
    if (!data) return "";
    return {reinterpret_cast<const char*>(data->data()), data->size()};
}

// Short enough for a message, and different for different bytes.
std::string digest(const std::string& bytes)
{
    std::ostringstream text;
    text << bytes.size() << ":" << std::hash<std::string>()(bytes);
    return bytes.empty() ? "none" : text.str();
}

const char* text_of(const flatbuffers::String* text)
{
    return text ? text->c_str() : "";
}

void print_indices(std::ostream& out, int type, const file::Indices* indices)
{
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(indices);
    if (!table) return;
    if (type == 1) print_list(out, "i", table->GetPointer<const flatbuffers::Vector<int32_t>*>(4));
    if (type == 2) print_list(out, "w", table->GetPointer<const flatbuffers::Vector<uint16_t>*>(4));
    if (type == 3) print_list(out, "b", table->GetPointer<const flatbuffers::Vector<uint8_t>*>(4));
}

void print_tensor(std::ostream& out, const file::Model& model, const file::Tensor& tensor)
{
    out << "  tensor '" << text_of(tensor.name()) << "' type " << +tensor.type();
    print_list(out, "shape", tensor.shape());
    print_list(out, "signature", tensor.shape_signature());
    if (const file::Quantization* quantization = tensor.quantization()) {
        print_list(out, "min", quantization->minimum());
        print_list(out, "max", quantization->maximum());
        print_list(out, "scale", quantization->scale());
        print_list(out, "zero", quantization->zero_point());
        if (quantization->axis() != 0) out << " axis " << quantization->axis();
        if (const file::Details* details = quantization->details())
            out << " blocks of " << details->block_size() << ", " << details->scales() << ", "
                << details->zero_points();
    }
    if (const file::Sparsity* sparsity = tensor.sparsity()) {
        print_list(out, "order", sparsity->traversal_order());
        print_list(out, "blocked", sparsity->block_map());
        for (const file::Dimension* level : *sparsity->dimensions()) {
            out << " level " << +level->format() << " " << level->dense_size();
            print_indices(out, level->segments_type(), level->segments());
            print_indices(out, level->indices_type(), level->indices());
        }
    }
    out << " values " << digest(bytes_of_buffer(model, tensor.buffer())) << "\n";
}

const ir_method_t* find_row(int code, const char* name)
{
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* row = find_op_method_via_index(i);
        const bool is_tflite = row->domain && std::strcmp(row->domain, "tflite") == 0;
        if (is_tflite && row->tflite_code == code &&
            (code != 32 || std::strcmp(row->name, name) == 0))
            return row;
    }
    return nullptr;
}

// Absent fields are not printed, and neither are those whose value is the row's for absent ones.
void print_options(std::ostream& out, const ir_method_t& row, const flatbuffers::Table& table)
{
    for (int i = 0; i < row.field_num; ++i) {
        const op_field_t& field = row.fields[i];
        const auto place = static_cast<flatbuffers::voffset_t>(4 + 2 * field.file_offset);
        if (!table.CheckField(place)) continue;
        std::ostringstream value;
        if (field.file_kind == OP_FILE_OFFSET && field.kind == OP_FIELD_FLOATS)
            print_list(value, "", table.GetPointer<const flatbuffers::Vector<float>*>(place));
        else if (field.file_kind == OP_FILE_OFFSET)
            print_list(value, "", table.GetPointer<const flatbuffers::Vector<int32_t>*>(place));
        else if (field.file_kind == OP_FILE_LONGS)
            print_list(value, "", table.GetPointer<const flatbuffers::Vector<int64_t>*>(place));
        else if (field.file_kind == OP_FILE_FLAGS)
            print_list(value, "", table.GetPointer<const flatbuffers::Vector<uint8_t>*>(place));
        else if (field.file_kind == OP_FILE_LONG)
            value << table.GetField<int64_t>(place, 0);
        else if (field.file_kind == OP_FILE_BYTE)
            value << +table.GetField<int8_t>(place, 0);
        else if (field.kind == OP_FIELD_FLOAT)
            value << table.GetField<float>(place, 0);
        else
            value << table.GetField<int32_t>(place, 0);
        std::ostringstream absent;
        const bool is_list = field.file_kind == OP_FILE_OFFSET ||
                             field.file_kind == OP_FILE_LONGS || field.file_kind == OP_FILE_FLAGS;
        if (!is_list) absent << field.number;
        if (value.str() != absent.str()) out << " " << field.name << "=" << value.str();
    }
}

void print_operator(std::ostream& out, const file::Model& model, const file::Operator& op)
{
    const file::OperatorCode& code = *model.codes()->Get(op.code());
    const int number = std::max<int>(code.old_code(), code.code());
    out << "  operator " << number << text_of(code.custom_code()) << " version " << code.version();
    print_list(out, "in", op.inputs());
    print_list(out, "out", op.outputs());
    print_list(out, "inside", op.intermediates());
    print_list(out, "custom", op.custom_options());
    out << " options " << +op.options_type() << "/" << +op.options_2_type();
    const file::Options* options = op.options() ? op.options() : op.options_2();
    const ir_method_t* row = find_row(number, text_of(code.custom_code()));
    if (options && row && number != 32)
        print_options(out, *row, *reinterpret_cast<const flatbuffers::Table*>(options));
    out << "\n";
}

void print_names(std::ostream& out, const char* what,
                 const flatbuffers::Vector<flatbuffers::Offset<file::NamedTensor>>* named)
{
    if (!named) return;
    for (const file::NamedTensor* entry : *named)
        out << " " << what << " '" << text_of(entry->name()) << "' " << entry->tensor();
}

}  // namespace

std::string print_tflite(const std::string& bytes)
{
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (!file::VerifyModelBuffer(verifier)) return "damaged";
    const file::Model& model = *file::GetModel(bytes.data());
    file_begin = bytes.data();
    std::ostringstream out;
    out << "model " << model.version() << " '" << text_of(model.description()) << "'\n";
    for (const file::Subgraph* subgraph : *model.subgraphs()) {
        out << "subgraph '" << text_of(subgraph->name()) << "'";
        print_list(out, "in", subgraph->inputs());
        print_list(out, "out", subgraph->outputs());
        out << "\n";
        for (const file::Tensor* tensor : *subgraph->tensors())
            print_tensor(out, model, *tensor);
        for (const file::Operator* op : *subgraph->operators())
            print_operator(out, model, *op);
    }
    if (model.signatures())
        for (const file::Signature* signature : *model.signatures()) {
            out << "signature '" << text_of(signature->key()) << "' of " << signature->subgraph();
            print_names(out, "input", signature->inputs());
            print_names(out, "output", signature->outputs());
            out << "\n";
        }
    if (model.metadata())
        for (const file::Metadata* entry : *model.metadata())
            out << "metadata '" << text_of(entry->name()) << "' "
                << digest(bytes_of_buffer(model, entry->buffer())) << "\n";
    return out.str();
}

}  // namespace tengine::test
