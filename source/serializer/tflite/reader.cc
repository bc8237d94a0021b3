// SPDX-License-Identifier: Apache-2.0
// The frame of a model: tables, signature, inputs and outputs.
#include <algorithm>

#include "base/minimal.h"
#include "graph/declaration.h"
#include "graph/entry.h"
#include "graph/graph.h"
#include "graph/metadata.h"
#include "graph/name_index.h"
#include "module/module.h"
#include "operator/registry.h"
#include "serializer/tflite/states.h"

namespace tengine::tflite {
namespace {

// The rest of a file behind the flatbuffer may be larger.
int check_tables(Reading& reading)
{
    const auto* bytes = reinterpret_cast<const uint8_t*>(reading.image->bytes());
    const size_t size = reading.image->size();
    if (size < 8 || !flatbuffers::BufferHasIdentifier(bytes, file::ModelIdentifier()))
        return tengine_error_set(TENGINE_EFORMAT,
                                 "not a .tflite: bytes 4 to 7 are not '%s', the file has %zu bytes",
                                 file::ModelIdentifier(), size);
    flatbuffers::Verifier verifier(bytes, std::min(size, kMostBytes), kMostLevels, kMostTables);
    if (!file::VerifyModelBuffer(verifier))
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the .tflite is damaged: a table, vector or string is not inside "
                                 "its %zu bytes, or has more than %u levels or %u tables",
                                 size, kMostLevels, kMostTables);
    reading.model = file::GetModel(bytes);
    if (reading.model->version() == kVersion) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "the .tflite has version %u, expected %u",
                             reading.model->version(), kVersion);
}

// The signatures are the entries of the model. Files may have one without a name.
int add_entries(const Reading& reading)
{
    const auto* signatures = reading.model->signatures();
    const uint32_t number = count(signatures);
    if (number == 0 || (number == 1 && text_of(signatures->Get(0)->key()).empty()))
        return TENGINE_OK;
    Vector<const char*> names;
    int own = 0;
    for (uint32_t i = 0; i < number; ++i) {
        const flatbuffers::String* key = signatures->Get(i)->key();
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(text_of(key).size() + 1 + 2 * sizeof(char*)));
        if (signatures->Get(i) == reading.signature) own = static_cast<int>(i);
        names.push_back(key ? key->c_str() : "");
    }
    return begin_ir_entries(reading.graph, names.data(), static_cast<int>(number), own);
}

int choose_subgraph(Reading& reading, std::string_view key)
{
    const file::Model& model = *reading.model;
    if (count(model.subgraphs()) == 0)
        return tengine_error_set(TENGINE_EGRAPH, "the model has no subgraph");
    reading.signature = find_signature(model, key);
    TENGINE_RETURN_IF_ERROR(IS_MINIMAL ? TENGINE_OK : add_entries(reading));
    if (!reading.signature && !key.empty())
        return fail_without_ir_entry(reading.graph, "option model.entry", String(key).c_str());
    const uint32_t place = reading.signature ? reading.signature->subgraph() : 0;
    if (place >= count(model.subgraphs()))
        return tengine_error_set(
            TENGINE_EFORMAT, "signature %s is of subgraph %u, the model has %u",
            quote(text_of(reading.signature->key())).c_str(), place, count(model.subgraphs()));
    reading.subgraph = model.subgraphs()->Get(place);
    return TENGINE_OK;
}

// The name of a hint or bucket of the graph; "": the metadata are none.
std::string_view find_property(const Reading& reading, std::string_view name)
{
    if (is_entry_property(name) && reading.signature) {
        const String prefix =
            name_entry_property(String(text_of(reading.signature->key())).c_str(), "");
        if (name.substr(0, prefix.size()) != prefix) return {};
        name.remove_prefix(prefix.size());
    }
    return is_kept_property(name) ? name : std::string_view();
}

// Metadata with the names of hints and buckets are the model's properties.
int add_properties(const Reading& reading)
{
    for (uint32_t i = 0; i < count(reading.model->metadata()); ++i) {
        const file::Metadata* entry = reading.model->metadata()->Get(i);
        const String name(find_property(reading, text_of(entry->name())));
        if (name.empty() || entry->buffer() >= count(reading.model->buffers())) continue;
        const auto* bytes = reading.model->buffers()->Get(entry->buffer())->data();
        const String text(bytes ? reinterpret_cast<const char*>(bytes->data()) : "", count(bytes));
        TENGINE_RETURN_IF_ERROR(
            reading.budget.charge(sizeof(ir_metadata_entry_t) + name.size() + text.size()));
        TENGINE_RETURN_IF_ERROR(own_ir_metadata(reading.graph));
        const ir_metadata_entry_t property = {IR_METADATA_PROPERTY, 0, name.c_str(), text.c_str()};
        TENGINE_RETURN_IF_ERROR(add_ir_metadata(reading.graph->core->metadata, &property));
    }
    return TENGINE_OK;
}

// Integers of the file are rounded as LiteRT does, in files of other formats, too.
int add_rounding(const Reading& reading)
{
    struct graph& graph = *reading.graph;
    const auto is_byte = [](const struct tensor* tensor) {
        return tensor->quant_param_num > 0 &&
               (tensor->data_type == TENGINE_DT_INT8 || tensor->data_type == TENGINE_DT_UINT8);
    };
    if (std::none_of(graph.tensor_list, graph.tensor_list + graph.tensor_num, is_byte))
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(own_ir_metadata(&graph));
    const ir_metadata_entry_t entry = {IR_METADATA_PROPERTY, 0, IR_ROUNDING_KEY, "litert"};
    return add_ir_metadata(graph.core->metadata, &entry);
}

int list_tensors(const Reading& reading, const flatbuffers::Vector<int32_t>* list, const char* what,
                 Vector<int32_t>* out_tensors)
{
    for (uint32_t i = 0; i < count(list); ++i) {
        const struct tensor* tensor = find_tensor(reading, list->Get(i));
        if (!tensor)
            return tengine_error_set(TENGINE_EFORMAT, "%s %u is tensor %d, expected one of %zu",
                                     what, i, list->Get(i), reading.tensors.size());
        out_tensors->push_back(tensor->index);
    }
    return TENGINE_OK;
}

// The nodes that write the tensors, each once.
Vector<int32_t> list_producers(const struct graph& graph, const Vector<int32_t>& tensors)
{
    Vector<int32_t> nodes;
    for (const int32_t tensor : tensors) {
        const int32_t producer = graph.tensor_list[tensor]->producer;
        if (producer >= 0 && std::find(nodes.begin(), nodes.end(), producer) == nodes.end())
            nodes.push_back(producer);
    }
    return nodes;
}

int number_of(const Vector<int32_t>& list)
{
    return static_cast<int>(list.size());
}

// The shape that programs may change: -1 is free. The tensor has the file's, in which 1 stands for
// free dimensions.
int declare_shape(const Reading& reading, int32_t index, struct tensor* tensor)
{
    const file::Tensor& record = *reading.subgraph->tensors()->Get(static_cast<uint32_t>(index));
    const auto* given = record.shape_signature();
    if (count(given) != tensor->dim_num) return TENGINE_OK;
    int dims[MAX_SHAPE_DIM_NUM];
    const char* names[MAX_SHAPE_DIM_NUM];
    bool is_free = false;
    for (int i = 0; i < tensor->dim_num; ++i) {
        dims[i] = std::max(given->Get(static_cast<uint32_t>(i)), -1);
        if (dims[i] >= 0 && dims[i] != tensor->dims[i]) return TENGINE_OK;
        names[i] = "";
        is_free = is_free || dims[i] < 0;
    }
    if (!is_free) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(sizeof(ir_declaration_t) + MAX_SHAPE_DIM_NUM));
    return declare_ir_tensor_shape(tensor, dims, names, tensor->dim_num);
}

// Inputs are the outputs of nodes of their own.
int add_inputs(const Reading& reading)
{
    Vector<int32_t> tensors;
    TENGINE_RETURN_IF_ERROR(list_tensors(reading, reading.subgraph->inputs(), "input", &tensors));
    for (uint32_t i = 0; i < tensors.size(); ++i) {
        struct tensor* tensor = reading.graph->tensor_list[tensors[i]];
        if (tensor->tensor_type != TENSOR_TYPE_VAR || tensor->producer >= 0)
            return tengine_error_set(TENGINE_EGRAPH, "input %s is an input twice or a constant",
                                     quote(tensor->name).c_str());
        struct node* node =
            create_ir_node(reading.graph, tensor->name, get_op_type("tengine", "InputOp"), 0);
        if (!node) return last_error();
        tensor->tensor_type = TENSOR_TYPE_INPUT;
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, tensor));
        TENGINE_RETURN_IF_ERROR(declare_shape(reading, reading.subgraph->inputs()->Get(i), tensor));
    }
    return TENGINE_OK;
}

// The name that the signature gives output `place`, if it is free; else "".
String find_output_name(const Reading& reading, uint32_t place)
{
    const auto index = static_cast<uint32_t>(reading.subgraph->outputs()->Get(place));
    const auto* outputs = reading.signature ? reading.signature->outputs() : nullptr;
    for (uint32_t i = 0; i < count(outputs); ++i) {
        const String name(text_of(outputs->Get(i)->name()));
        if (outputs->Get(i)->tensor() == index && !name.empty() &&
            find_ir_tensor_name(reading.graph, name.c_str()) < 0)
            return name;
    }
    return "";
}

// Gives an output that is an input or a constant a tensor of its own: programs feed the one and
// read the other. Without another name in the signature, it has that of the constant.
int separate_output(const Reading& reading, uint32_t place, int32_t* inout_tensor)
{
    struct graph* graph = reading.graph;
    struct tensor* tensor = graph->tensor_list[*inout_tensor];
    if (tensor->tensor_type == TENSOR_TYPE_VAR) return TENGINE_OK;
    String name = find_output_name(reading, place);
    const bool takes_name = name.empty() && tensor->tensor_type == TENSOR_TYPE_CONST;
    if (name.empty()) name = print_text("%s_output_%d", tensor->name, graph->tensor_num);
    const char* title = takes_name ? tensor->name : name.c_str();
    struct node* node = create_op_node(graph, title, "Identity", title);
    struct tensor* output =
        node ? create_ir_tensor(graph, name.c_str(), tensor->data_type) : nullptr;
    if (!output) return last_error();
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(output, tensor->dims, tensor->dim_num));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, tensor));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, output));
    if (takes_name) exchange_ir_tensor_names(graph, output, tensor);
    *inout_tensor = output->index;
    return TENGINE_OK;
}

int set_inputs_and_outputs(Reading& reading)
{
    Vector<int32_t> inputs, outputs;
    TENGINE_RETURN_IF_ERROR(list_tensors(reading, reading.subgraph->inputs(), "input", &inputs));
    TENGINE_RETURN_IF_ERROR(list_tensors(reading, reading.subgraph->outputs(), "output", &outputs));
    if (outputs.empty()) return tengine_error_set(TENGINE_EGRAPH, "the model has no outputs");
    struct graph* graph = reading.graph;
    for (uint32_t i = 0; i < outputs.size(); ++i) {
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(sizeof(struct tensor) + sizeof(struct node)));
        TENGINE_RETURN_IF_ERROR(separate_output(reading, i, &outputs[i]));
    }
    TENGINE_RETURN_IF_ERROR(declare_states(reading, &inputs, &outputs));
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(graph));
    Vector<int32_t> nodes = list_producers(*graph, outputs);
    if (!nodes.empty())
        TENGINE_RETURN_IF_ERROR(set_ir_graph_output_node(graph, nodes.data(), number_of(nodes)));
    TENGINE_RETURN_IF_ERROR(set_ir_graph_output_tensor(graph, outputs.data(), number_of(outputs)));
    nodes = list_producers(*graph, inputs);
    return nodes.empty() ? TENGINE_OK
                         : set_ir_graph_input_node(graph, nodes.data(), number_of(nodes));
}

}  // namespace

const file::Signature* find_signature(const file::Model& model, std::string_view key)
{
    for (uint32_t i = 0; i < count(model.signatures()); ++i)
        if (key.empty() || text_of(model.signatures()->Get(i)->key()) == key)
            return model.signatures()->Get(i);
    return nullptr;
}

int read_model(struct graph* graph, FileImage* image, std::string_view key)
{
    Budget budget(image->size());
    Vector<Variable> variables;
    Reading reading(graph, image, &budget, &variables);
    TENGINE_RETURN_IF_ERROR(check_tables(reading));
    TENGINE_RETURN_IF_ERROR(choose_subgraph(reading, key));
    TENGINE_RETURN_IF_ERROR(add_properties(reading));
    TENGINE_RETURN_IF_ERROR(add_tensors(reading));
    TENGINE_RETURN_IF_ERROR(add_rounding(reading));
    TENGINE_RETURN_IF_ERROR(add_inputs(reading));
    TENGINE_RETURN_IF_ERROR(add_operators(reading));
    return set_inputs_and_outputs(reading);
}

}  // namespace tengine::tflite
