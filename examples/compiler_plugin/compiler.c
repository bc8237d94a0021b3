// SPDX-License-Identifier: Apache-2.0
// ACME's compiler: takes Mul, Sub and Add of floats, and the nodes of an RMS normalisation, which
// become one instruction of the chip A2; A1 lacks it.
#include <stdlib.h>
#include <string.h>

#include "byte_code.h"
#include "tengine/compiler_plugin.h"

typedef struct compiler
{
    const char* fault;  // "partition", "compile", "load", "invoke"; "" for none
} compiler_t;

static const ir_device_option_t options[] = {
    {"fault", "", "what is to fail: partition, compile, load or invoke"}};

static int create(const tengine_vendor_option_t given[], int number, void** out_compiler)
{
    compiler_t* compiler = malloc(sizeof *compiler);
    if (!compiler) return tengine_error_set(TENGINE_ENOMEM, "out of memory for the compiler");
    compiler->fault = number > 0 ? given[0].value : "";
    *out_compiler = compiler;
    return 0;
}

static int fails(const void* data, const char* step)
{
    const compiler_t* compiler = data;
    if (strcmp(compiler->fault, step) != 0) return 0;
    return tengine_error_set(TENGINE_EDEVICE, "fault on demand: %s", step);
}

// ---- what ACME computes ----

static int is_op(const struct node* node, const char* name)
{
    return node && *get_ir_node_domain(node) == '\0' && strcmp(get_ir_node_op(node), name) == 0;
}

static int find_code(const struct node* node)
{
    static const char* const names[] = {"Mul", "Sub", "Add"};
    for (int code = ACME_MUL; code <= ACME_ADD; ++code)
        if (is_op(node, names[code])) return code;
    return -1;
}

static int columns_of(const struct tensor* tensor)
{
    return tensor->dim_num > 0 ? tensor->dims[tensor->dim_num - 1] : 1;
}

static int is_constant(const struct tensor* tensor)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST;
}

// Whether the operand has the output's type and shape, or is a constant of one number or one row.
static int is_operand(const struct tensor* operand, const struct tensor* output)
{
    if (!operand || operand->data_type != TENGINE_DT_FP32) return 0;
    if (is_constant(operand) &&
        (operand->elem_num == 1 ||
         (operand->elem_num == columns_of(output) && columns_of(operand) == columns_of(output))))
        return 1;
    return operand->dim_num == output->dim_num &&
           memcmp(operand->dims, output->dims, sizeof *output->dims * (size_t)output->dim_num) == 0;
}

static int is_computable(const struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    if (find_code(node) < 0 || !is_ir_tensor_shape_known(output) || output->elem_num == 0) return 0;
    return is_operand(get_ir_node_input(node, 0), output) &&
           is_operand(get_ir_node_input(node, 1), output);
}

// ---- RMS normalisation: x / sqrt(mean(x * x) + epsilon) ----

// The nodes of an RMS normalisation, from the Mul to the Div.
enum
{
    RMS_SQUARE,
    RMS_MEAN,
    RMS_ADD,
    RMS_ROOT,
    RMS_DIVIDE,
    RMS_NODE_NUMBER
};

static const struct node* find_writer(const struct node* node, int input)
{
    const struct tensor* tensor = get_ir_node_input(node, input);
    return tensor ? get_ir_graph_node(node->graph, tensor->producer) : NULL;
}

static int is_output(const struct graph* graph, const struct tensor* tensor)
{
    for (int i = 0; i < graph->output_tensor_num; ++i)
        if (graph->output_tensors[i] == tensor->index) return 1;
    return 0;
}

// Whether a node is an inner step: its one result is read by the next step only, and not by the
// user.
static int is_step(const struct node* node, const char* op)
{
    if (!is_op(node, op)) return 0;
    const struct tensor* result = get_ir_node_output(node, 0);
    return result->consumer_num == 1 && !is_output(node->graph, result);
}

static int is_mean_of_rows(const struct node* node)
{
    const struct tensor* axes = get_ir_node_input(node, 1);
    const int rank = get_ir_node_input(node, 0)->dim_num;
    return get_ir_node_int(node, "keepdims", 1) == 1 && is_constant(axes) && axes->elem_num == 1 &&
           (*axes->i64 == -1 || *axes->i64 == rank - 1);
}

// Whether `divide` ends a normalisation; if so, its nodes.
static int match_rms(const struct node* divide, const struct node* out_nodes[RMS_NODE_NUMBER])
{
    if (!is_op(divide, "Div")) return 0;
    const struct tensor* x = get_ir_node_input(divide, 0);
    const struct node* root = find_writer(divide, 1);
    if (!x || x->data_type != TENGINE_DT_FP32 || !is_step(root, "Sqrt")) return 0;
    const struct node* add = find_writer(root, 0);
    if (!is_step(add, "Add")) return 0;
    const struct tensor* epsilon = get_ir_node_input(add, 1);
    const struct node* mean = find_writer(add, 0);
    if (!is_constant(epsilon) || epsilon->elem_num != 1) return 0;
    if (!is_step(mean, "ReduceMean") || !is_mean_of_rows(mean)) return 0;
    const struct node* square = find_writer(mean, 0);
    if (!is_step(square, "Mul") || get_ir_node_input(square, 0) != x ||
        get_ir_node_input(square, 1) != x || !is_ir_tensor_shape_known(x) || x->elem_num == 0)
        return 0;
    out_nodes[RMS_SQUARE] = square;
    out_nodes[RMS_MEAN] = mean;
    out_nodes[RMS_ADD] = add;
    out_nodes[RMS_ROOT] = root;
    out_nodes[RMS_DIVIDE] = divide;
    return 1;
}

// Without a model the code is for A2.
static int has_norm(const char* soc_model)
{
    return !soc_model || strcmp(soc_model, "A1") != 0;
}

static int push_norm(tengine_op_list_t* list, const char* soc_model,
                     const struct node* const nodes[RMS_NODE_NUMBER])
{
    for (int n = 0; n < RMS_NODE_NUMBER; ++n) {
        if (has_norm(soc_model))
            TENGINE_RETURN_IF_ERROR(tengine_op_list_push(list, nodes[n], 0));
        else if (!is_computable(nodes[n]))
            TENGINE_RETURN_IF_ERROR(
                tengine_op_list_refuse(list, nodes[n], "%s has no RMS_NORM", soc_model));
    }
    return 0;
}

static int partition(void* compiler, const char* soc_model, const struct graph* graph,
                     tengine_op_list_t* list)
{
    TENGINE_RETURN_IF_ERROR(fails(compiler, "partition"));
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        const struct node* rms[RMS_NODE_NUMBER];
        if (is_computable(node)) {
            TENGINE_RETURN_IF_ERROR(tengine_op_list_push(list, node, 0));
        } else if (match_rms(node, rms)) {
            TENGINE_RETURN_IF_ERROR(push_norm(list, soc_model, rms));
        } else if (find_code(node) >= 0) {
            TENGINE_RETURN_IF_ERROR(tengine_op_list_refuse(
                list, node, "operands are not floats of one shape, or rows of constants"));
        }
    }
    return 0;
}

// ---- code ----

typedef struct result
{
    int has_norm;
    uint32_t part_num;
    acme_entry_t* entries;
    acme_instruction_t* instructions;
    uint32_t instruction_num;
    float* constants;
    uint32_t constant_num;
    uint32_t constant_capacity;
    char* module;
    size_t module_size;
} result_t;

static void destroy_result(void* data)
{
    result_t* result = data;
    free(result->entries);
    free(result->instructions);
    free(result->constants);
    free(result->module);
    free(result);
}

static int no_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for byte code");
}

// Adds a constant as one row.
static int add_row(result_t* result, const struct tensor* constant, uint32_t columns,
                   uint32_t* out_operand)
{
    if (result->constant_num + columns > result->constant_capacity) {
        const uint32_t capacity = 2 * (result->constant_num + columns);
        float* more = realloc(result->constants, capacity * sizeof(float));
        if (!more) return no_memory();
        result->constants = more;
        result->constant_capacity = capacity;
    }
    *out_operand = result->constant_num | ACME_CONSTANT;
    for (uint32_t i = 0; i < columns; ++i)
        result->constants[result->constant_num++] = constant->f32[constant->elem_num == 1 ? 0 : i];
    return 0;
}

// The registers of tensors: first inputs and outputs in order, then others in the order of use.
typedef struct registers
{
    const struct subgraph* part;
    acme_entry_t* entry;
    uint32_t* of_tensor;  // indexed by tensor, from 1; 0: none yet
} registers_t;

static uint32_t find_register(registers_t* registers, const struct tensor* tensor)
{
    uint32_t* place = &registers->of_tensor[tensor->index];
    if (*place == 0) *place = ++registers->entry->register_num;
    if (registers->entry->register_size < (uint32_t)tensor->elem_num)
        registers->entry->register_size = (uint32_t)tensor->elem_num;
    return *place - 1;
}

static int find_operand(result_t* result, registers_t* registers, const struct node* node,
                        int input, uint32_t columns, uint32_t* out_operand)
{
    const struct tensor* tensor = get_ir_node_input(node, input);
    const int is_row = is_constant(tensor) && tensor->elem_num <= (int64_t)columns;
    if (is_row) return add_row(result, tensor, columns, out_operand);
    *out_operand = find_register(registers, tensor);
    return 0;
}

static int add_instruction(result_t* result, registers_t* registers, const struct node* node)
{
    acme_instruction_t* step = &result->instructions[result->instruction_num];
    const struct node* rms[RMS_NODE_NUMBER];
    const struct tensor* y = get_ir_node_output(node, 0);
    const int is_rms = result->has_norm && match_rms(node, rms);
    if (!is_rms && !is_computable(node))
        return tengine_error_set(TENGINE_ENOTSUP, "'%s' is only computed in an RMS normalisation",
                                 node->name);
    step->code = is_rms ? ACME_RMS_NORM : (uint32_t)find_code(node);
    step->columns = (uint32_t)columns_of(y);
    step->rows = (uint32_t)(y->elem_num / step->columns);
    step->value = is_rms ? *get_ir_node_input(rms[RMS_ADD], 1)->f32 : 0.0f;
    TENGINE_RETURN_IF_ERROR(find_operand(result, registers, node, 0, step->columns, &step->a));
    step->b = step->a;
    if (!is_rms)
        TENGINE_RETURN_IF_ERROR(find_operand(result, registers, node, 1, step->columns, &step->b));
    step->y = find_register(registers, y);
    ++result->instruction_num;
    return 0;
}

// Whether the instruction of an RMS normalisation computes the node as an inner step.
static int is_inside_rms(const struct node* node)
{
    const struct node* rms[RMS_NODE_NUMBER];
    for (int i = 0; i < node->graph->node_num; ++i) {
        if (!match_rms(node->graph->node_list[i], rms)) continue;
        for (int n = RMS_SQUARE; n < RMS_DIVIDE; ++n)
            if (rms[n] == node) return 1;
    }
    return 0;
}

// A normalisation may have lost its last node to another part: then the other nodes compute
// nothing.
static int check_outputs(const result_t* result, const registers_t* registers)
{
    const struct subgraph* part = registers->part;
    const acme_entry_t* entry = registers->entry;
    for (int i = 0; i < part->output_num; ++i) {
        const struct tensor* output = get_ir_graph_tensor(part->graph, part->output_tensor_list[i]);
        const uint32_t wanted = registers->of_tensor[output->index] - 1;
        uint32_t step = 0;
        while (step < entry->number && result->instructions[entry->first + step].y != wanted)
            ++step;
        if (step == entry->number)
            return tengine_error_set(TENGINE_ENOTSUP, "no instruction computes the output '%s'",
                                     output->name);
    }
    return 0;
}

static int add_part(result_t* result, const struct subgraph* part, registers_t* registers)
{
    for (int i = 0; i < part->input_num; ++i)
        find_register(registers, get_ir_graph_tensor(part->graph, part->input_tensor_list[i]));
    for (int i = 0; i < part->output_num; ++i)
        find_register(registers, get_ir_graph_tensor(part->graph, part->output_tensor_list[i]));
    registers->entry->first = result->instruction_num;
    registers->entry->input_num = (uint32_t)part->input_num;
    registers->entry->output_num = (uint32_t)part->output_num;
    for (int i = 0; i < part->node_num; ++i) {
        const struct node* node = get_ir_graph_node(part->graph, part->node_list[i]);
        if (result->has_norm && is_inside_rms(node)) continue;
        TENGINE_RETURN_IF_ERROR(add_instruction(result, registers, node));
    }
    registers->entry->number = result->instruction_num - registers->entry->first;
    return check_outputs(result, registers);
}

static int compile_part(result_t* result, const struct subgraph* part, uint32_t index)
{
    registers_t registers = {part, &result->entries[index],
                             calloc((size_t)part->graph->tensor_num, sizeof(uint32_t))};
    if (!registers.of_tensor) return no_memory();
    const char digits[] = {(char)('0' + index / 10 % 10), (char)('0' + index % 10), '\0'};
    strcpy(registers.entry->name, "part");
    strcat(registers.entry->name, digits);
    const int status = add_part(result, part, &registers);
    free(registers.of_tensor);
    return status;
}

static void append(char** end, const void* bytes, size_t size)
{
    if (size > 0) memcpy(*end, bytes, size);
    *end += size;
}

static int link(result_t* result, uint32_t fault)
{
    const acme_head_t head = {ACME_MAGIC, result->part_num, result->instruction_num,
                              result->constant_num, fault};
    const size_t entries = sizeof *result->entries * result->part_num;
    const size_t instructions = sizeof *result->instructions * result->instruction_num;
    const size_t constants = sizeof *result->constants * result->constant_num;
    result->module_size = sizeof head + entries + instructions + constants;
    char* end = result->module = malloc(result->module_size);
    if (!end) return no_memory();
    append(&end, &head, sizeof head);
    append(&end, result->entries, entries);
    append(&end, result->instructions, instructions);
    append(&end, result->constants, constants);
    return 0;
}

static int fill(result_t* result, const compiler_t* compiler, const struct subgraph* const parts[])
{
    size_t nodes = 1;
    for (uint32_t i = 0; i < result->part_num; ++i)
        nodes += (size_t)parts[i]->node_num;
    result->entries = calloc(result->part_num, sizeof *result->entries);
    result->instructions = calloc(nodes, sizeof *result->instructions);
    if (!result->entries || !result->instructions) return no_memory();
    for (uint32_t i = 0; i < result->part_num; ++i)
        TENGINE_RETURN_IF_ERROR(compile_part(result, parts[i], i));
    const uint32_t fault = strcmp(compiler->fault, "load") == 0     ? ACME_FAULT_LOAD
                           : strcmp(compiler->fault, "invoke") == 0 ? ACME_FAULT_INVOKE
                                                                    : ACME_FAULT_NONE;
    return link(result, fault);
}

static int compile(void* compiler, const char* soc_model, const struct subgraph* const parts[],
                   int part_num, void** out_result)
{
    TENGINE_RETURN_IF_ERROR(fails(compiler, "compile"));
    if (part_num > 100) return tengine_error_set(TENGINE_ELIMIT, "more than 100 parts");
    result_t* result = calloc(1, sizeof *result);
    if (!result) return no_memory();
    result->has_norm = has_norm(soc_model);
    result->part_num = (uint32_t)part_num;
    const int status = fill(result, compiler, parts);
    if (status < 0)
        destroy_result(result);
    else
        *out_result = result;
    return status;
}

static int get_module_number(void* result)
{
    (void)result;
    return 1;
}

static int get_module(void* data, int index, const void** out_bytes, size_t* out_size)
{
    const result_t* result = data;
    (void)index;
    *out_bytes = result->module;
    *out_size = result->module_size;
    return 0;
}

static int get_call(void* data, int part, int* out_module, const char** out_entry_point)
{
    const result_t* result = data;
    *out_module = 0;
    *out_entry_point = result->entries[part].name;
    return 0;
}

static const char* const soc_models[] = {"A1", "A2"};

static const tengine_compiler_t compiler = {
    .size = sizeof(tengine_compiler_t),
    .hardware = TENGINE_HARDWARE_NPU,
    .device = "ACME",
    .manufacturer = "Acme",
    .sdk_version = "3.1",
    .byte_code_version = ACME_VERSION,
    .soc_models = soc_models,
    .soc_model_number = 2,
    .options = options,
    .option_number = 1,
    .create = create,
    .destroy = free,
    .partition = partition,
    .compile = compile,
    .get_module_number = get_module_number,
    .get_module = get_module,
    .get_call = get_call,
    .destroy_result = destroy_result,
};

static int init(void)
{
    return tengine_register_compiler(&compiler);
}

static int release(void)
{
    return tengine_unregister_compiler(&compiler);
}

TENGINE_PLUGIN("acme_compiler", "3.1", init, release);
