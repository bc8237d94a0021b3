// SPDX-License-Identifier: Apache-2.0
// The frame of a model: tables, signature, inputs and outputs.
#include <algorithm>

#include "graph/graph.h"
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

int choose_subgraph(Reading& reading)
{
    if (count(reading.model->subgraphs()) == 0)
        return tengine_error_set(TENGINE_EGRAPH, "the model has no subgraph");
    reading.subgraph = reading.model->subgraphs()->Get(0);
    for (uint32_t i = 0; i < count(reading.model->signatures()); ++i) {
        const file::Signature* signature = reading.model->signatures()->Get(i);
        if (signature->subgraph() == 0) {
            reading.signature = signature;
            break;
        }
    }
    return TENGINE_OK;
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

// Inputs are the outputs of nodes of their own.
int add_inputs(const Reading& reading)
{
    Vector<int32_t> tensors;
    TENGINE_RETURN_IF_ERROR(list_tensors(reading, reading.subgraph->inputs(), "input", &tensors));
    for (const int32_t index : tensors) {
        struct tensor* tensor = reading.graph->tensor_list[index];
        if (tensor->tensor_type != TENSOR_TYPE_VAR || tensor->producer >= 0)
            return tengine_error_set(TENGINE_EGRAPH, "input %s is an input twice or a constant",
                                     quote(tensor->name).c_str());
        struct node* node =
            create_ir_node(reading.graph, tensor->name, get_op_type("tengine", "InputOp"), 0);
        if (!node) return last_error();
        tensor->tensor_type = TENSOR_TYPE_INPUT;
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, tensor));
    }
    return TENGINE_OK;
}

// The name that the signature gives output `place`, if it is free.
String choose_output_name(const Reading& reading, const struct tensor& tensor, uint32_t place)
{
    const auto index = static_cast<uint32_t>(reading.subgraph->outputs()->Get(place));
    const auto* outputs = reading.signature ? reading.signature->outputs() : nullptr;
    for (uint32_t i = 0; i < count(outputs); ++i) {
        const String name(text_of(outputs->Get(i)->name()));
        if (outputs->Get(i)->tensor() == index && !name.empty() &&
            find_ir_tensor_name(reading.graph, name.c_str()) < 0)
            return name;
    }
    return print_text("%s_output_%d", tensor.name, reading.graph->tensor_num);
}

// Gives an output that is an input or a constant a tensor of its own: programs feed the one and
// read the other.
int separate_output(const Reading& reading, uint32_t place, int32_t* inout_tensor)
{
    struct graph* graph = reading.graph;
    struct tensor* tensor = graph->tensor_list[*inout_tensor];
    if (tensor->tensor_type == TENSOR_TYPE_VAR) return TENGINE_OK;
    const String name = choose_output_name(reading, *tensor, place);
    struct node* node = create_op_node(graph, name.c_str(), "Identity", name.c_str());
    struct tensor* output =
        node ? create_ir_tensor(graph, name.c_str(), tensor->data_type) : nullptr;
    if (!output) return last_error();
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(output, tensor->dims, tensor->dim_num));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, tensor));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, output));
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

int read_model(struct graph* graph, FileImage* image)
{
    Budget budget(image->size());
    Vector<Variable> variables;
    Reading reading(graph, image, &budget, &variables);
    TENGINE_RETURN_IF_ERROR(check_tables(reading));
    TENGINE_RETURN_IF_ERROR(choose_subgraph(reading));
    TENGINE_RETURN_IF_ERROR(add_tensors(reading));
    TENGINE_RETURN_IF_ERROR(add_inputs(reading));
    TENGINE_RETURN_IF_ERROR(add_operators(reading));
    return set_inputs_and_outputs(reading);
}

}  // namespace tengine::tflite
