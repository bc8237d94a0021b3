// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/states.h"

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "graph/entry.h"
#include "graph/graph.h"
#include "graph/name_index.h"
#include "graph/state.h"
#include "operator/infer.h"
#include "operator/registry.h"
#include "operator/tflite/front_end.h"
#include "serializer/tflite/control.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/option_fields.h"

namespace tengine::tflite {
namespace {

int check_whole_run(const Reading& reading, const char* name)
{
    if (reading.body_depth == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOTSUP,
                             "%s: variables and hash tables inside of the subgraphs of IF and "
                             "WHILE are not read",
                             quote(name).c_str());
}

String choose_name(const struct graph* graph, const String& wish)
{
    String name = wish.empty() ? String("state") : wish;
    for (int i = 1; find_ir_tensor_name(graph, name.c_str()) >= 0; ++i)
        name = print_text("%s_%d", wish.c_str(), i);
    return name;
}

// A tensor of the type, shape and quantisation of another. Null after setting the error.
struct tensor* create_like(const Reading& reading, const struct tensor& model, const String& wish)
{
    const String name = choose_name(reading.graph, wish);
    if (reading.budget.charge(sizeof(struct tensor) + name.size() + 1) < 0) return nullptr;
    struct tensor* made = create_ir_tensor(reading.graph, name.c_str(), model.data_type);
    if (!made || set_ir_tensor_shape(made, model.dims, model.dim_num) < 0) return nullptr;
    const int scales = model.quant_param_num;
    const float* scale = scales > 1 ? model.scale_list : &model.scale;
    const int* zero_point = scales > 1 ? model.zp_list : &model.zero_point;
    made->quant_axis = model.quant_axis;
    const bool has_scales =
        scales == 0 || set_ir_tensor_quantization_parameter(made, scale, zero_point, scales) == 0;
    return has_scales ? made : nullptr;
}

int make_input(const Reading& reading, struct tensor* tensor)
{
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(sizeof(struct node)));
    struct node* node =
        create_ir_node(reading.graph, tensor->name, get_op_type("tengine", "InputOp"), 0);
    if (!node) return last_error();
    tensor->tensor_type = TENSOR_TYPE_INPUT;
    return set_ir_node_output_tensor(node, 0, tensor);
}

// A value of equal elements is one element.
void set_first_value(Variable& variable, const uint8_t* bytes, size_t size, size_t element)
{
    const bool is_even =
        size >= element && std::equal(bytes, bytes + size - element, bytes + element);
    variable.first_value.assign(bytes, bytes + (is_even ? element : size));
}

Variable* find_variable(const Reading& reading, const struct tensor* value)
{
    for (Variable& variable : *reading.variables)
        if (value && variable.now == value) return &variable;
    return nullptr;
}

// ---- resources ----

bool handles_tables(int code)
{
    return code >= kHashTable && code <= kHashTableSize;
}

bool fills_tables(const Reading& reading, const file::Subgraph& subgraph)
{
    for (uint32_t i = 0; i < count(subgraph.operators()); ++i)
        if (find_code(reading, *subgraph.operators()->Get(i)) == kHashTableImport) return true;
    return false;
}

// The subgraph's operators that handle resources, in its graph or, for one that CALL_ONCE calls,
// without one.
class ResourceReader
{
  public:
    ResourceReader(Reading& reading, uint32_t index, int code, const file::Operator& record)
        : reading_(reading), index_(index), code_(code), record_(record)
    {
    }

    int run();

  private:
    int name_resource();
    int name_table();
    void take_resource(bool is_table, const String& container, const String& name);
    int find_resource(size_t* out_variable) const;
    int find_operand(const flatbuffers::Vector<int32_t>* list, uint32_t place,
                     struct tensor** out_tensor) const;
    int require_state(Variable& variable, const struct tensor& like) const;
    int connect(const char* op, std::initializer_list<const struct tensor*> inputs,
                struct tensor* output) const;
    int read();
    int assign();
    int fill_table() const;
    int look_up() const;
    int set_first(const Reading& reading, uint32_t index, const file::Operator& record,
                  int once) const;
    int call_once();

    template <class... Arguments>
    int fail(int status, const char* format, Arguments... arguments) const
    {
        return fail_operator(status, index_, code_, format, arguments...);
    }

    Reading& reading_;
    uint32_t index_;
    int code_;
    const file::Operator& record_;
};

int ResourceReader::name_resource()
{
    const OptionFields options(*reading_.image, record_.options());
    std::string_view container, name;
    if (!options.read_text(0, &container) || !options.read_text(1, &name))
        return fail(TENGINE_EFORMAT, "%s", "its options are not inside the file");
    TENGINE_RETURN_IF_ERROR(
        reading_.budget.charge(sizeof(Variable) + container.size() + name.size()));
    take_resource(false, String(container), String(name));
    return TENGINE_OK;
}

// Hash tables have numbers.
int ResourceReader::name_table()
{
    int32_t number = 0;
    if (!OptionFields(*reading_.image, record_.options()).read_number(0, 0, &number))
        return fail(TENGINE_EFORMAT, "%s", "its options are not inside the file");
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(sizeof(Variable)));
    take_resource(true, {}, print_text("%d", number));
    return TENGINE_OK;
}

void ResourceReader::take_resource(bool is_table, const String& container, const String& name)
{
    const int32_t handle = count(record_.outputs()) == 1 ? record_.outputs()->Get(0) : -1;
    Vector<Variable>& variables = *reading_.variables;
    const auto known =
        std::find_if(variables.begin(), variables.end(), [&](const Variable& variable) {
            return variable.is_resource && variable.is_table == is_table &&
                   variable.container == container && variable.name == name;
        });
    reading_.resources[handle] = static_cast<size_t>(known - variables.begin());
    if (known != variables.end()) return;
    Variable made;
    made.is_resource = true;
    made.is_table = is_table;
    made.container = container;
    made.name = name;
    variables.push_back(made);
}

int ResourceReader::find_resource(size_t* out_variable) const
{
    const int32_t handle = count(record_.inputs()) > 0 ? record_.inputs()->Get(0) : -1;
    const auto known = reading_.resources.find(handle);
    if (known == reading_.resources.end() ||
        (*reading_.variables)[known->second].is_table != handles_tables(code_))
        return fail(TENGINE_EGRAPH, "input 0 is tensor %d, expected the output of a %s", handle,
                    find_code_name(handles_tables(code_) ? kHashTable : kVarHandle));
    *out_variable = known->second;
    return TENGINE_OK;
}

int ResourceReader::find_operand(const flatbuffers::Vector<int32_t>* list, uint32_t place,
                                 struct tensor** out_tensor) const
{
    const int32_t index = place < count(list) ? list->Get(place) : -1;
    *out_tensor = tengine::tflite::find_tensor(reading_, index);
    if (*out_tensor) return TENGINE_OK;
    return fail(TENGINE_EFORMAT, "tensor %d, expected one of %zu", index, reading_.tensors.size());
}

// The first operator that reads or assigns the variable gives it a type and a shape.
int ResourceReader::require_state(Variable& variable, const struct tensor& like) const
{
    if (variable.first) return TENGINE_OK;
    variable.first = create_like(reading_, like, variable.name);
    if (!variable.first) return last_error();
    variable.now = variable.first;
    return make_input(reading_, variable.first);
}

int ResourceReader::connect(const char* op, std::initializer_list<const struct tensor*> inputs,
                            struct tensor* output) const
{
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(sizeof(struct node)));
    if (output->producer >= 0 || output->tensor_type != TENSOR_TYPE_VAR)
        return fail(TENGINE_EGRAPH, "its output %s is an input, a constant or written before",
                    quote(output->name).c_str());
    struct node* node = create_ir_node(reading_.graph, output->name, get_op_type("tflite", op), 0);
    if (!node) return last_error();
    for (const struct tensor* input : inputs)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(
            node, node->input_num, reading_.graph->tensor_list[input->index]));
    return set_ir_node_output_tensor(node, 0, output);
}

int ResourceReader::read()
{
    size_t place = 0;
    struct tensor* output = nullptr;
    TENGINE_RETURN_IF_ERROR(find_resource(&place));
    TENGINE_RETURN_IF_ERROR(find_operand(record_.outputs(), 0, &output));
    Variable& variable = (*reading_.variables)[place];
    TENGINE_RETURN_IF_ERROR(require_state(variable, *output));
    return connect("READ_VARIABLE", {variable.now}, output);
}

int ResourceReader::assign()
{
    size_t place = 0;
    struct tensor* value = nullptr;
    TENGINE_RETURN_IF_ERROR(find_resource(&place));
    TENGINE_RETURN_IF_ERROR(find_operand(record_.inputs(), 1, &value));
    Variable& variable = (*reading_.variables)[place];
    TENGINE_RETURN_IF_ERROR(require_state(variable, *value));
    struct tensor* next = create_like(reading_, *value, variable.name + "/next");
    if (!next) return last_error();
    TENGINE_RETURN_IF_ERROR(connect("ASSIGN_VARIABLE", {variable.now, value}, next));
    variable.now = next;
    return TENGINE_OK;
}

// The first import counts, as in LiteRT: converters leave it in the model, too.
int ResourceReader::fill_table() const
{
    size_t place = 0;
    struct tensor *keys = nullptr, *values = nullptr;
    TENGINE_RETURN_IF_ERROR(find_resource(&place));
    TENGINE_RETURN_IF_ERROR(find_operand(record_.inputs(), 1, &keys));
    TENGINE_RETURN_IF_ERROR(find_operand(record_.inputs(), 2, &values));
    if (keys->tensor_type != TENSOR_TYPE_CONST || values->tensor_type != TENSOR_TYPE_CONST)
        return fail(TENGINE_ENOTSUP, "%s", "its keys or values are computed, expected constants");
    Variable& table = (*reading_.variables)[place];
    if (table.keys) return TENGINE_OK;
    table.keys = keys;
    table.values = values;
    return TENGINE_OK;
}

int ResourceReader::look_up() const
{
    size_t place = 0;
    struct tensor *query = nullptr, *other = nullptr, *output = nullptr;
    TENGINE_RETURN_IF_ERROR(find_resource(&place));
    TENGINE_RETURN_IF_ERROR(find_operand(record_.outputs(), 0, &output));
    const Variable& table = (*reading_.variables)[place];
    if (!table.keys)
        return fail(TENGINE_EGRAPH, "no HASHTABLE_IMPORT before it fills table %s",
                    table.name.c_str());
    if (code_ == kHashTableSize)
        return connect("HASHTABLE_SIZE", {table.keys, table.values}, output);
    TENGINE_RETURN_IF_ERROR(find_operand(record_.inputs(), 1, &query));
    TENGINE_RETURN_IF_ERROR(find_operand(record_.inputs(), 2, &other));
    return connect("HASHTABLE_FIND", {query, other, table.keys, table.values}, output);
}

// The reading is that of the subgraph which CALL_ONCE calls; its constants are there.
int ResourceReader::set_first(const Reading& reading, uint32_t index, const file::Operator& record,
                              int once) const
{
    const bool has_inputs = count(record.inputs()) == 2;
    const auto known = reading.resources.find(has_inputs ? record.inputs()->Get(0) : -1);
    const struct tensor* value =
        !has_inputs || known == reading.resources.end()
            ? nullptr
            : tengine::tflite::find_tensor(reading, record.inputs()->Get(1));
    if (!value || value->tensor_type != TENSOR_TYPE_CONST || value->data_type == TENGINE_DT_STRING)
        return fail(TENGINE_ENOTSUP,
                    "operator %u of its subgraph assigns to a resource, expected a constant of "
                    "numbers and the output of a VAR_HANDLE",
                    index);
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(get_ir_tensor_bytes(value)));
    Variable& variable = (*reading.variables)[known->second];
    set_first_value(variable, value->u8, get_ir_tensor_bytes(value), value->elem_size);
    variable.once = once;
    return TENGINE_OK;
}

int ResourceReader::call_once()
{
    const file::Subgraph* subgraph = nullptr;
    TENGINE_RETURN_IF_ERROR(find_called_subgraph(reading_, index_, record_, 0, &subgraph));
    const auto destroy = [](struct graph* graph) { destroy_ir_graph(graph); };
    const std::unique_ptr<struct graph, decltype(destroy)> scratch(
        create_ir_graph(reading_.graph->attribute->context), destroy);
    if (!scratch) return last_error();
    // The keys and values of tables are constants of the graph itself.
    const String name = print_text("once_%u", index_);
    Reading inner(reading_, fills_tables(reading_, *subgraph) ? reading_.graph : scratch.get(),
                  subgraph, name.c_str());
    TENGINE_RETURN_IF_ERROR(add_tensors(inner));
    const auto& subgraphs = *reading_.model->subgraphs();
    int once = 0;
    while (subgraphs.Get(static_cast<uint32_t>(once)) != subgraph)
        ++once;
    for (uint32_t i = 0; i < count(subgraph->operators()); ++i) {
        const file::Operator& record = *subgraph->operators()->Get(i);
        const int code = find_code(inner, record);
        if (code == kVarHandle || code == kHashTable || code == kHashTableImport)
            TENGINE_RETURN_IF_ERROR(ResourceReader(inner, i, code, record).run());
        else if (code == kAssignVariable)
            TENGINE_RETURN_IF_ERROR(set_first(inner, i, record, once));
        else
            return fail(TENGINE_ENOTSUP,
                        "operator %u of its subgraph is %s, expected VAR_HANDLE, "
                        "ASSIGN_VARIABLE, HASHTABLE and HASHTABLE_IMPORT",
                        i, find_code_name(code));
    }
    return TENGINE_OK;
}

int ResourceReader::run()
{
    TENGINE_RETURN_IF_ERROR(check_whole_run(reading_, find_code_name(code_)));
    switch (code_) {
        case kCallOnce:
            return call_once();
        case kVarHandle:
            return name_resource();
        case kHashTable:
            return name_table();
        case kHashTableImport:
            return fill_table();
        case kHashTableFind:
        case kHashTableSize:
            return look_up();
        case kReadVariable:
            return read();
        default:
            return assign();
    }
}

// A state that no operator writes keeps its value.
int keep_value(const Reading& reading, Variable& variable)
{
    if (variable.now != variable.first) return TENGINE_OK;
    struct tensor* next = create_like(reading, *variable.first, variable.name + "/next");
    struct node* node =
        next ? create_op_node(reading.graph, next->name, "Identity", nullptr) : nullptr;
    if (!node) return last_error();
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, variable.first));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, next));
    variable.now = next;
    return TENGINE_OK;
}

}  // namespace

bool is_resource(const file::Tensor& record)
{
    return record.type() == kResourceType;
}

bool handles_resources(int code)
{
    return code == kCallOnce || code == kVarHandle || code == kReadVariable ||
           code == kAssignVariable || handles_tables(code);
}

int add_resource_operator(Reading& reading, uint32_t index, int code, const file::Operator& record)
{
    return ResourceReader(reading, index, code, record).run();
}

int add_variable(Reading& reading, struct tensor* tensor, const uint8_t* values, uint64_t size)
{
    TENGINE_RETURN_IF_ERROR(check_whole_run(reading, tensor->name));
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(sizeof(Variable) + size));
    Variable variable;
    variable.name = tensor->name;
    variable.first = variable.now = tensor;
    if (values) {
        set_first_value(variable, values, static_cast<size_t>(size), tensor->elem_size);
    } else if (tensor->data_type == TENGINE_DT_INT8 && tensor->quant_param_num == 1) {
        const auto zero = static_cast<uint8_t>(tensor->zero_point);
        set_first_value(variable, &zero, 1, 1);
    }
    reading.variables->push_back(variable);
    return make_input(reading, tensor);
}

bool writes_next_values(const struct node& node)
{
    return node.op.method->max_output > node.op.method->min_output;
}

int add_next_values(Reading& reading, struct node* node, const file::Operator& record)
{
    const int most = node->op.method->max_output;
    for (int i = 0; writes_next_values(*node) && i < node->input_num && node->output_num < most;
         ++i) {
        Variable* variable = find_variable(reading, get_ir_node_input(node, i));
        if (!variable || variable->is_resource) continue;
        const auto index = static_cast<uint32_t>(record.inputs()->Get(static_cast<uint32_t>(i)));
        // The memory that a custom operator works in has no next value.
        if (!reading.subgraph->tensors()->Get(index)->is_variable()) continue;
        struct tensor* next = create_like(reading, *variable->first, variable->name + "/next");
        if (!next) return last_error();
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, node->output_num, next));
        variable->now = next;
        reading.tensors[index] = next->index;
    }
    return TENGINE_OK;
}

int add_hidden_states(Reading& reading, struct node* node, const file::Operator& record)
{
    tfl_state_t states[TFL_MOST_STATES];
    const int number = list_tfl_states(node, states);
    if (number <= 0) return number;
    const int outputs = node->op.method->min_output;
    if (count(record.inputs()) != 1 || node->output_num != outputs)
        return fail_node(node, TENGINE_EGRAPH, "it has %u inputs and %d outputs, expected 1 and %d",
                         count(record.inputs()), node->output_num, outputs);
    for (int i = 0; i < number; ++i) {
        const String name = choose_name(reading.graph, String(node->name) + "/state");
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(sizeof(struct tensor) + name.size() + 1));
        struct tensor* tensor = create_ir_tensor(reading.graph, name.c_str(), states[i].data_type);
        if (!tensor) return last_error();
        const Vector<int> dims(states[i].dims, states[i].dims + states[i].rank);
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, dims.data(), states[i].rank));
        TENGINE_RETURN_IF_ERROR(add_variable(reading, tensor, nullptr, 0));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 1 + i, tensor));
        struct tensor* next = create_like(reading, *tensor, name + "/next");
        if (!next) return last_error();
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, outputs + i, next));
        reading.variables->back().now = next;
    }
    return TENGINE_OK;
}

namespace {

// Signatures share the resources of the same container and name, and no other variables. Each
// subgraph that CALL_ONCE calls assigns their first values once, at the first run of a signature
// that has it.
int declare_sharing(const Reading& reading, const Variable& variable)
{
    if (count_ir_entries(reading.graph) < 2) return TENGINE_OK;
    const char* state = variable.first->name;
    String key =
        variable.container.empty() ? variable.name : variable.container + ":" + variable.name;
    if (!variable.is_resource) key.clear();
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(key.size()));
    if (key != state) TENGINE_RETURN_IF_ERROR(share_ir_state_as(reading.graph, state, key.c_str()));
    return variable.is_resource ? begin_ir_state_once(reading.graph, state, variable.once)
                                : int{TENGINE_OK};
}

}  // namespace

int declare_states(Reading& reading, Vector<int32_t>* inout_inputs, Vector<int32_t>* inout_outputs)
{
    for (Variable& variable : *reading.variables) {
        if (!variable.first) continue;
        TENGINE_RETURN_IF_ERROR(keep_value(reading, variable));
        const bool has_value = !variable.first_value.empty();
        TENGINE_RETURN_IF_ERROR(declare_ir_state(
            reading.graph, variable.first->name, variable.now->name,
            has_value ? variable.first_value.data() : nullptr, variable.first_value.size()));
        TENGINE_RETURN_IF_ERROR(declare_sharing(reading, variable));
        inout_inputs->push_back(variable.first->index);
        inout_outputs->push_back(variable.now->index);
    }
    return TENGINE_OK;
}

}  // namespace tengine::tflite
