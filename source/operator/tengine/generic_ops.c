// SPDX-License-Identifier: Apache-2.0
// Operators whose meaning is the program's own: Generic, in source graphs, stands for one that is
// not known here; Custom, in execution graphs, for any node that has a custom kernel
// (operator/custom/custom_kernel.h).
#include <string.h>

#include "graph/core.h"
#include "operator/custom/custom_kernel.h"
#include "operator/infer.h"
#include "operator/row.h"

struct tm_generic_param
{
    int max_input_num;
    int max_output_num;
    char* op_name;
    int domain_version;
};

struct custom_param
{
    char* op;
    char* kernel;
};

// The number is more than any model has; without a limit, no input could be absent.
enum
{
    MOST_TENSORS = 65536
};

static const op_field_t generic_fields[] = {
    TM_FIELD(struct tm_generic_param, INT, max_input_num, WORD, 0, .number = 0),
    TM_FIELD(struct tm_generic_param, INT, max_output_num, WORD, 4, .number = 0),
    TM_FIELD(struct tm_generic_param, STRING, op_name, OFFSET, 8, .text = NULL),
    // The version that the model imports; 0: not known, as in tmfiles.
    OP_FIELD(struct tm_generic_param, INT, domain_version, .number = 0),
};

// For dumps: the operator that the node stands for, and the kernel's name.
static const op_field_t custom_fields[] = {
    OP_FIELD(struct custom_param, STRING, op, .text = NULL),
    OP_FIELD(struct custom_param, STRING, kernel, .text = NULL),
};

// Operators of .tflite files that hold byte code for another runtime.
static const struct
{
    const char* op;
    const char* compiler;
} byte_codes[] = {
    {"tflite.edgetpu-custom-op", "Coral's compiler for the Edge TPU"},
    {"tflite.ethos-u", "Arm's compiler for the Ethos-U"},
    {"tflite.NeutronGraph", "NXP's compiler for the eIQ Neutron"},
};

static const char* find_byte_code_compiler(const char* op)
{
    for (size_t i = 0; i < sizeof byte_codes / sizeof byte_codes[0]; ++i)
        if (strcmp(byte_codes[i].op, op) == 0) return byte_codes[i].compiler;
    return NULL;
}

static int infer_generic(struct node* node)
{
    const char* compiler = find_byte_code_compiler(get_source_op(node));
    if (compiler)
        return tengine_error_set(
            TENGINE_EOPERATOR,
            "operator '%s' of node '%s' is byte code of %s: load the model that it was compiled "
            "from, or register a custom operator that runs it",
            get_source_op(node), node->name, compiler);
    return tengine_error_set(TENGINE_EOPERATOR,
                             "operator '%s' of node '%s' is unknown: register a custom operator "
                             "with tengine_op_register, or set a kernel with set_custom_kernel",
                             get_source_op(node), node->name);
}

static int infer_custom(struct node* node)
{
    if (!node->core->custom_kernel ||
        !node->core->custom_kernel->table->tells_shapes(node->core->custom_kernel))
        return fail_node(node, TENGINE_EOPERATOR, "has no custom kernel that infers its shapes");
    return infer_custom_shapes(node);
}

#define ANY_TENSORS .max_input = MOST_TENSORS, .max_output = MOST_TENSORS

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Generic, 0, 32, 12, ANY_TENSORS, OP_FIELDS(generic_fields),
                .param_size = sizeof(struct tm_generic_param), .traits = OP_OPEN | OP_RANDOM,
                .infer_shape = infer_generic),
    // Two runs of a kernel need not have the same result.
    TENGINE_ROW(Custom, -1, -1, 0, ANY_TENSORS, OP_FIELDS(custom_fields),
                .param_size = sizeof(struct custom_param), .traits = OP_RANDOM,
                .infer_shape = infer_custom),
};

OPERATOR_TABLE(tengine_generic_ops, rows);
