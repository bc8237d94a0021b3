// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/bodies.h"

#include <algorithm>
#include <string_view>

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/string_pool.h"
#include "operator/infer.h"
#include "serializer/tmfile/compiled_parts.h"
#include "serializer/tmfile/nodes.h"
#include "serializer/tmfile/tensors.h"

namespace tengine::tmfile {
namespace {

int fail_index(const struct graph* graph, const char* what, uint32_t index)
{
    return tengine_error_set(TENGINE_EFORMAT, "graph '%s': %s is tensor %u, expected one of %d",
                             graph->name, what, index, graph->tensor_num);
}

class BodyReader
{
  public:
    BodyReader(Reading& outer, struct node* node, ir_body_t* body)
        : outer_(outer), node_(node), body_(*body)
    {
    }

    int run(std::string_view attribute, uint32_t offset)
    {
        if (outer_.depth >= IR_MOST_NESTED_BODIES)
            return fail_node(node_, TENGINE_ELIMIT, "its graphs are nested in more than %d others",
                             IR_MOST_NESTED_BODIES);
        body_.graph = create_ir_graph(outer_.graph->attribute->context);
        if (!body_.graph) return last_error();
        TENGINE_RETURN_IF_ERROR(join_ir_strings(body_.graph, outer_.graph));
        const String name = String(node_->name) + "/" + String(attribute);
        TENGINE_RETURN_IF_ERROR(set_ir_graph_name(body_.graph, name.c_str()));
        TENGINE_RETURN_IF_ERROR(outer_.file.read(offset, "graph " + quote(name), &record_));
        Reading reading(body_.graph, outer_);
        reading.subgraph_offset = record_.subgraph;
        const int status = read_contents(reading, offset);
        outer_.budget = reading.budget;
        return status;
    }

  private:
    int read_contents(Reading& reading, uint32_t offset)
    {
        TENGINE_RETURN_IF_ERROR(
            reading.file.read(record_.subgraph, "a body's subgraph", &reading.subgraph));
        TENGINE_RETURN_IF_ERROR(add_tensors(reading));
        TENGINE_RETURN_IF_ERROR(read_inputs(reading));
        Vector<struct node*> nodes;
        TENGINE_RETURN_IF_ERROR(add_nodes(reading, &nodes));
        TENGINE_RETURN_IF_ERROR(sort_ir_graph(body_.graph));
        TENGINE_RETURN_IF_ERROR(read_outputs(reading));
        return read_compiled_parts(reading, offset, nodes);
    }

    int read_inputs(Reading& reading)
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(reading.file.read_vector(record_.inputs, sizeof(uint32_t),
                                                         "a body's list of inputs", &list));
        if (record_.capture_num > list.count())
            return fail_node(node_, TENGINE_EFORMAT, "%u of the %u inputs of its body are captured",
                             record_.capture_num, list.count());
        Vector<char> is_listed(static_cast<size_t>(body_.graph->tensor_num));
        for (uint32_t i = 0; i < list.count(); ++i) {
            const struct tensor* tensor =
                get_ir_graph_tensor(body_.graph, static_cast<int>(list[i]));
            if (!tensor) return fail_index(body_.graph, "an input", list[i]);
            if (tensor->tensor_type != TENSOR_TYPE_INPUT)
                return tengine_error_set(TENGINE_EGRAPH, "graph '%s': tensor '%s' is not an input",
                                         body_.graph->name, tensor->name);
            is_listed[list[i]] = 1;
            TENGINE_RETURN_IF_ERROR(reading.budget.charge(2 * sizeof(int32_t)));
            const bool captured = i >= list.count() - record_.capture_num;
            TENGINE_RETURN_IF_ERROR(add_ir_body_input(&body_, tensor, captured));
        }
        for (size_t i = 0; i < is_listed.size(); ++i)
            if (body_.graph->tensor_list[i]->tensor_type == TENSOR_TYPE_INPUT && !is_listed[i])
                return tengine_error_set(TENGINE_EGRAPH,
                                         "graph '%s': tensor '%s' is not in its list of inputs",
                                         body_.graph->name, body_.graph->tensor_list[i]->name);
        return set_ir_graph_input_tensor(body_.graph, body_.inputs, body_.input_num);
    }

    int read_outputs(Reading& reading)
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(reading.file.read_vector(record_.outputs, sizeof(uint32_t),
                                                         "a body's list of outputs", &list));
        if (list.count() == 0)
            return tengine_error_set(TENGINE_EGRAPH, "graph '%s' has no outputs",
                                     body_.graph->name);
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(list.count() * sizeof(int32_t)));
        Vector<int32_t> outputs;
        for (uint32_t i = 0; i < list.count(); ++i) {
            if (!get_ir_graph_tensor(body_.graph, static_cast<int>(list[i])))
                return fail_index(body_.graph, "an output", list[i]);
            outputs.push_back(static_cast<int32_t>(list[i]));
        }
        return set_ir_graph_output_tensor(body_.graph, outputs.data(),
                                          static_cast<int>(outputs.size()));
    }

    Reading& outer_;
    struct node* node_;
    ir_body_t& body_;
    BodyRecord record_ = {};
};

int find_body(Reading& reading, const struct node* node, const VectorView& attributes,
              std::string_view wanted, uint32_t* out_offset)
{
    for (uint32_t i = 0; i < attributes.count(); ++i) {
        AttributeRecord record;
        std::string_view name, type;
        TENGINE_RETURN_IF_ERROR(reading.file.read(attributes[i], "an attribute", &record));
        TENGINE_RETURN_IF_ERROR(reading.file.read_string(record.name, "its name", &name));
        TENGINE_RETURN_IF_ERROR(reading.file.read_string(record.type, "its type", &type));
        if (name != wanted || type != kBodyType) continue;
        *out_offset = record.value;
        return TENGINE_OK;
    }
    return fail_node(node, TENGINE_EGRAPH, "attribute '%s', a graph, is required",
                     String(wanted).c_str());
}

// Adds the captures to the node's own inputs, body by body.
int place_captures(struct node* node)
{
    int captures = 0;
    ir_bodies_t& bodies = *node->core->bodies;
    for (int i = 0; i < bodies.num; ++i)
        captures += bodies.list[i].capture_num;
    int place = node->input_num - captures;
    if (place < 0)
        return fail_node(node, TENGINE_EFORMAT, "its graphs capture %d inputs, expected at most %d",
                         captures, node->input_num);
    for (int i = 0; i < bodies.num; ++i) {
        bodies.list[i].first_capture = place;
        for (int k = 0; k < bodies.list[i].capture_num; ++k, ++place)
            if (!get_ir_node_input(node, place))
                return fail_node(node, TENGINE_EFORMAT, "input %d, which is captured, is absent",
                                 place);
    }
    return TENGINE_OK;
}

}  // namespace

int read_bodies(Reading& reading, struct node* node, uint32_t attributes)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(
        attributes, sizeof(uint32_t), quote(node->name) + "'s list of attributes", &list));
    std::string_view names = node->op.method->bodies;
    const auto number = static_cast<int>(1 + std::count(names.begin(), names.end(), '|'));
    TENGINE_RETURN_IF_ERROR(
        reading.budget.charge(static_cast<uint64_t>(number) * sizeof(struct graph)));
    node->core->bodies = create_ir_bodies(number);
    if (!node->core->bodies) return fail_node(node, TENGINE_ENOMEM, "out of memory for its graphs");
    for (int i = 0; i < number; ++i) {
        const std::string_view name = names.substr(0, names.find('|'));
        uint32_t offset = 0;
        TENGINE_RETURN_IF_ERROR(find_body(reading, node, list, name, &offset));
        TENGINE_RETURN_IF_ERROR(
            BodyReader(reading, node, &node->core->bodies->list[i]).run(name, offset));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
    }
    return place_captures(node);
}

}  // namespace tengine::tmfile
