// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/nodes.h"

#include "base/maps.hpp"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/registry.h"
#include "operator/row.h"
#include "operator/selection.h"
#include "serializer/tmfile/bodies.h"
#include "serializer/tmfile/extension.h"
#include "serializer/tmfile/names.h"
#include "serializer/tmfile/parameters.h"

namespace tengine::tmfile {
namespace {

class NodeReader
{
  public:
    NodeReader(Reading& reading, Vector<struct node*>* out_nodes)
        : reading_(reading), file_(reading.file), nodes_(*out_nodes)
    {
    }

    int run();

  private:
    int add_node(uint32_t index);
    int add_unread(const NodeRecord& record, const OperatorRecord& op, const String& name);
    int read_record(struct node* node, const OperatorRecord& op, uint32_t place)
    {
        if (!IS_RUNTIME_ONLY) return read_parameters(reading_, node, op, place);
        return fail_node(node, TENGINE_EFORMAT, "an operator of a prepared graph has a record");
    }
    int find_operator(const OperatorRecord& record, const String& name, const String& what,
                      int* out_type);
    int connect(struct node* node, const NodeRecord& record);
    int connect_inputs(struct node* node, const VectorView& list);
    int connect_output(struct node* node, const VectorView& list, uint32_t place);
    int check_inputs() const;

    Reading& reading_;
    const FileView& file_;
    Vector<NodeRecord> records_;
    Names names_;
    Vector<struct node*>& nodes_;
    Map<uint32_t, int> types_;  // operators by number
};

int NodeReader::run()
{
    TENGINE_RETURN_IF_ERROR(read_named_records(reading_, reading_.subgraph.nodes, "node",
                                               sizeof(struct node), &names_, &records_));
    for (uint32_t i = 0; i < records_.size(); ++i)
        TENGINE_RETURN_IF_ERROR(add_node(i));
    return check_inputs();
}

int NodeReader::find_operator(const OperatorRecord& record, const String& name, const String& what,
                              int* out_type)
{
    if (record.type == kExtensionType)
        return find_extension(reading_, record, name, what, out_type);
    const uint32_t number = todays_number(record);
    const auto known = types_.find(number);
    if (known != types_.end()) {
        *out_type = known->second;
        return TENGINE_OK;
    }
    const ir_method_t* method = find_method(number);
    const char* left_out = method ? nullptr : find_left_out_operator(static_cast<int>(number));
    if (left_out) return fail_left_out(name.c_str(), left_out);
    if (!method)
        return tengine_error_set(TENGINE_EOPERATOR, "%s has the unknown operator number %u",
                                 what.c_str(), record.type);
    *out_type = types_[number] = get_op_type(method->domain, method->name);
    return TENGINE_OK;
}

int NodeReader::add_node(uint32_t index)
{
    const NodeRecord& record = records_[index];
    const bool has_name = record.name != 0;
    const String name = names_.choose(index, "node");
    const String what = has_name ? print_text("node %u, %s,", index, quote(name).c_str())
                                 : print_text("node %u", index);
    OperatorRecord op;
    TENGINE_RETURN_IF_ERROR(
        file_.read(record.op, print_text("the operator of %s", what.c_str()), &op));
    if (IS_RUNTIME_ONLY && reading_.depth == 0) return add_unread(record, op, name);
    int type = -1;
    TENGINE_RETURN_IF_ERROR(find_operator(op, name, what, &type));
    const bool is_extension = op.type == kExtensionType;
    const int version = is_extension ? static_cast<int>(op.version) : 0;
    struct node* node = create_ir_node(reading_.graph, name.c_str(), type, version);
    if (!node) return last_error();
    nodes_.push_back(node);
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(name.size() + 1));
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(node->op.param_size));
    if (is_extension)
        TENGINE_RETURN_IF_ERROR(read_attributes(reading_, node, record.attributes));
    else
        TENGINE_RETURN_IF_ERROR(read_record(node, op, record.op));
    const bool is_open = (node->op.method->traits & OP_OPEN) != 0;
    if (is_open) TENGINE_RETURN_IF_ERROR(read_attributes(reading_, node, record.attributes));
    TENGINE_RETURN_IF_ERROR(connect(node, record));
    const bool has_bodies = OP_HAS_BODIES && node->op.method->bodies;
    return has_bodies ? read_bodies(reading_, node, record.attributes) : TENGINE_OK;
}

// A build that runs prepared graphs does not know what the model's own nodes compute: it has inputs
// and constants, and the others by name.
int NodeReader::add_unread(const NodeRecord& record, const OperatorRecord& op, const String& name)
{
    const char* kind = op.type == kExtensionType       ? "Generic"
                       : todays_number(op) == kConst   ? "Const"
                       : todays_number(op) == kInputOp ? "InputOp"
                                                       : "Generic";
    struct node* node =
        create_ir_node(reading_.graph, name.c_str(), get_op_type("tengine", kind), 0);
    if (!node) return last_error();
    nodes_.push_back(node);
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(name.size() + 1 + node->op.param_size));
    return connect(node, record);
}

int NodeReader::connect(struct node* node, const NodeRecord& record)
{
    VectorView inputs, outputs;
    const String what = quote(node->name);
    TENGINE_RETURN_IF_ERROR(file_.read_vector(
        record.inputs, sizeof(uint32_t), print_text("%s's list of inputs", what.c_str()), &inputs));
    TENGINE_RETURN_IF_ERROR(file_.read_vector(record.outputs, sizeof(uint32_t),
                                              print_text("%s's list of outputs", what.c_str()),
                                              &outputs));
    if (outputs.count() == 0) return fail_node(node, TENGINE_EGRAPH, "it has no outputs");
    // The memory of an index in the node and one in the list of the tensor's readers, which
    // doubles.
    TENGINE_RETURN_IF_ERROR(
        reading_.budget.charge((uint64_t{inputs.count()} * 3 + outputs.count()) * sizeof(int32_t)));
    TENGINE_RETURN_IF_ERROR(connect_inputs(node, inputs));
    // The last output is set first, so that the node's lists grow once.
    for (uint32_t i = outputs.count(); i-- > 0;)
        TENGINE_RETURN_IF_ERROR(connect_output(node, outputs, i));
    return TENGINE_OK;
}

int check_index(const struct node* node, const char* what, uint32_t place, uint32_t index)
{
    const auto number = static_cast<uint32_t>(node->graph->tensor_num);
    if (index < number) return TENGINE_OK;
    return fail_node(node, TENGINE_EFORMAT, "%s %u is tensor %u, expected one of %u", what, place,
                     index, number);
}

int NodeReader::connect_inputs(struct node* node, const VectorView& list)
{
    if (node->op.method->bodies && list.count() > 0)  // whose last ones may be absent
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_input_tensor(node, static_cast<int>(list.count() - 1), nullptr));
    for (uint32_t i = list.count(); i-- > 0;) {
        if (list[i] == kAbsentTensor) continue;
        TENGINE_RETURN_IF_ERROR(check_index(node, "input", i, list[i]));
        struct tensor* tensor = get_ir_graph_tensor(reading_.graph, static_cast<int>(list[i]));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, static_cast<int>(i), tensor));
    }
    return TENGINE_OK;
}

bool has_number(const struct node* node, uint32_t number)
{
    const struct tengine_record* record = node->op.method->tengine;
    return record && record->id == static_cast<int>(number);
}

int NodeReader::connect_output(struct node* node, const VectorView& list, uint32_t place)
{
    const int index = static_cast<int>(place);
    if (list[place] == kAbsentTensor) return set_ir_node_output_tensor(node, index, nullptr);
    TENGINE_RETURN_IF_ERROR(check_index(node, "output", place, list[place]));
    struct tensor* tensor = get_ir_graph_tensor(reading_.graph, static_cast<int>(list[place]));
    if (tensor->producer == node->index)
        return fail_node(node, TENGINE_EGRAPH, "it writes tensor '%s' twice", tensor->name);
    const bool is_constant_node = has_number(node, kConst);
    if ((tensor->tensor_type == TENSOR_TYPE_CONST) != is_constant_node)
        return fail_node(node, TENGINE_EGRAPH,
                         is_constant_node ? "its tensor '%s' does not have the type of constants"
                                          : "it writes the constant '%s'",
                         tensor->name);
    if (has_number(node, kInputOp)) tensor->tensor_type = TENSOR_TYPE_INPUT;
    return set_ir_node_output_tensor(node, index, tensor);
}

// Every input of a node must have a producer or values.
int NodeReader::check_inputs() const
{
    for (const struct node* node : nodes_)
        for (int i = 0; i < node->input_num; ++i) {
            const struct tensor* tensor = get_ir_node_input(node, i);
            const bool is_given =
                tensor && (tensor->tensor_type == TENSOR_TYPE_CONST ||
                           (reading_.depth > 0 && tensor->tensor_type == TENSOR_TYPE_INPUT));
            if (tensor && tensor->producer < 0 && !is_given)
                return fail_node(node, TENGINE_EGRAPH, "no node writes its input %d, tensor '%s'",
                                 i, tensor->name);
        }
    return TENGINE_OK;
}

}  // namespace

int add_nodes(Reading& reading, Vector<struct node*>* out_nodes)
{
    return NodeReader(reading, out_nodes).run();
}

}  // namespace tengine::tmfile
