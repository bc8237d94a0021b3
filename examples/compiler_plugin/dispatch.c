// SPDX-License-Identifier: Apache-2.0
// ACME's dispatch: checks a module and interprets it. A board needs nothing else.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "byte_code.h"
#include "tengine/compiler_plugin.h"

typedef struct module
{
    const acme_head_t* head;
    const acme_entry_t* entries;
    const acme_instruction_t* instructions;
    const float* constants;
} module_t;

typedef struct invocation
{
    const module_t* module;
    const acme_entry_t* entry;
    float** registers;  // inputs, outputs, then those in `memory`
    size_t* sizes;      // floats
    float* memory;
    double instructions;  // of the last run
} invocation_t;

// ---- modules ----

static int is_operand(const module_t* module, const acme_entry_t* entry, uint32_t operand,
                      uint32_t columns)
{
    const uint64_t constant = operand & ~ACME_CONSTANT;
    if ((operand & ACME_CONSTANT) == 0) return operand < entry->register_num;
    return constant + columns <= module->head->constant_num;
}

// The bytes may come from any source: everything that invoke() relies on is checked once.
static int check_entry(const module_t* module, const acme_entry_t* entry)
{
    if ((uint64_t)entry->first + entry->number > module->head->instruction_num ||
        (uint64_t)entry->input_num + entry->output_num > entry->register_num ||
        !memchr(entry->name, '\0', sizeof entry->name) || entry->register_num > 1u << 16 ||
        entry->register_size > 1u << 28)
        return 0;
    for (uint32_t i = 0; i < entry->number; ++i) {
        const acme_instruction_t* step = &module->instructions[entry->first + i];
        const uint64_t elements = (uint64_t)step->rows * step->columns;
        if (step->code >= ACME_CODE_NUMBER || elements > entry->register_size ||
            !is_operand(module, entry, step->a, step->columns) ||
            !is_operand(module, entry, step->b, step->columns) || step->y >= entry->register_num ||
            step->y < entry->input_num)
            return 0;
    }
    return 1;
}

static int check_module(const module_t* module, size_t size)
{
    const acme_head_t* head = module->head;
    const uint64_t wanted = sizeof *head + head->entry_num * (uint64_t)sizeof(acme_entry_t) +
                            head->instruction_num * (uint64_t)sizeof(acme_instruction_t) +
                            head->constant_num * (uint64_t)sizeof(float);
    if (head->magic != ACME_MAGIC || wanted != size) return 0;
    for (uint32_t i = 0; i < head->entry_num; ++i)
        if (!check_entry(module, &module->entries[i])) return 0;
    return 1;
}

static int load(const void* bytes, size_t size, void** out_module)
{
    const acme_head_t* head = bytes;
    if (size < sizeof *head)
        return tengine_error_set(TENGINE_EFORMAT, "%zu bytes are no module of ACME", size);
    module_t* module = malloc(sizeof *module);
    if (!module) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a module");
    module->head = head;
    module->entries = (const acme_entry_t*)(head + 1);
    module->instructions = (const acme_instruction_t*)(module->entries + head->entry_num);
    module->constants = (const float*)(module->instructions + head->instruction_num);
    if (!check_module(module, size) || head->fault == ACME_FAULT_LOAD) {
        const int fault = head->fault == ACME_FAULT_LOAD;
        free(module);
        return tengine_error_set(TENGINE_EFORMAT, "%s",
                                 fault ? "fault on demand: load" : "no module of ACME");
    }
    *out_module = module;
    return 0;
}

static void unload(void* module)
{
    free(module);
}

// ---- invocations ----

static void destroy_invocation(void* data)
{
    invocation_t* invocation = data;
    free(invocation->memory);
    free(invocation->registers);
    free(invocation->sizes);
    free(invocation);
}

static int create_invocation(void* data, const char* entry_point, int input_num, int output_num,
                             void** out_invocation)
{
    const module_t* module = data;
    const acme_entry_t* entry = NULL;
    for (uint32_t i = 0; i < module->head->entry_num; ++i)
        if (strcmp(module->entries[i].name, entry_point) == 0) entry = &module->entries[i];
    if (!entry || (int)entry->input_num != input_num || (int)entry->output_num != output_num)
        return tengine_error_set(TENGINE_EFORMAT, "no entry point '%s' with %d inputs, %d outputs",
                                 entry_point, input_num, output_num);
    invocation_t* invocation = calloc(1, sizeof *invocation);
    if (!invocation) return tengine_error_set(TENGINE_ENOMEM, "out of memory for an invocation");
    const uint32_t border = entry->input_num + entry->output_num;
    invocation->module = module;
    invocation->entry = entry;
    invocation->registers = calloc(entry->register_num + 1, sizeof *invocation->registers);
    invocation->sizes = calloc(entry->register_num + 1, sizeof *invocation->sizes);
    invocation->memory =
        calloc((size_t)(entry->register_num - border) * entry->register_size + 1, sizeof(float));
    if (!invocation->registers || !invocation->sizes || !invocation->memory) {
        destroy_invocation(invocation);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the registers");
    }
    for (uint32_t i = border; i < entry->register_num; ++i) {
        invocation->registers[i] = invocation->memory + (size_t)(i - border) * entry->register_size;
        invocation->sizes[i] = entry->register_size;
    }
    *out_invocation = invocation;
    return 0;
}

static int get_requirement(void* invocation, int port, tengine_buffer_requirement_t* out)
{
    (void)invocation;
    (void)port;
    out->alignment = 64;
    out->data_type = TENGINE_DT_FP32;
    return 0;
}

static int attach(invocation_t* invocation, uint32_t index, const void* data, size_t size)
{
    invocation->registers[index] = (float*)data;
    invocation->sizes[index] = size / sizeof(float);
    return 0;
}

static int attach_input(void* invocation, int port, const void* data, size_t size)
{
    return attach(invocation, (uint32_t)port, data, size);
}

static int attach_output(void* data, int port, void* buffer, size_t size)
{
    invocation_t* invocation = data;
    return attach(invocation, invocation->entry->input_num + (uint32_t)port, buffer, size);
}

static float norm(const float* row, uint32_t columns, float epsilon)
{
    float sum = 0;
    for (uint32_t i = 0; i < columns; ++i)
        sum += row[i] * row[i];
    return 1.0f / sqrtf(sum / (float)columns + epsilon);
}

static void run_row(const acme_instruction_t* step, const float* a, const float* b, float* y)
{
    const float scale = step->code == ACME_RMS_NORM ? norm(a, step->columns, step->value) : 0.0f;
    for (uint32_t i = 0; i < step->columns; ++i) {
        switch (step->code) {
            case ACME_MUL:
                y[i] = a[i] * b[i];
                break;
            case ACME_SUB:
                y[i] = a[i] - b[i];
                break;
            case ACME_ADD:
                y[i] = a[i] + b[i];
                break;
            default:
                y[i] = a[i] * scale;
        }
    }
}

// Returns a row of an operand; NULL if a buffer is too small for it.
static float* find_row(const invocation_t* invocation, uint32_t operand, uint32_t row,
                       uint32_t columns)
{
    const size_t first = (size_t)row * columns;
    if (operand & ACME_CONSTANT)
        return (float*)invocation->module->constants + (operand & ~ACME_CONSTANT);
    return first + columns <= invocation->sizes[operand] ? invocation->registers[operand] + first
                                                         : NULL;
}

static int run_step(const invocation_t* invocation, const acme_instruction_t* step)
{
    for (uint32_t row = 0; row < step->rows; ++row) {
        const float* a = find_row(invocation, step->a, row, step->columns);
        const float* b = find_row(invocation, step->b, row, step->columns);
        float* y = find_row(invocation, step->y, row, step->columns);
        if (!a || !b || !y) return tengine_error_set(TENGINE_EINVAL, "a buffer is too small");
        run_row(step, a, b, y);
    }
    return 0;
}

static int invoke(void* data)
{
    invocation_t* invocation = data;
    const acme_entry_t* entry = invocation->entry;
    if (invocation->module->head->fault == ACME_FAULT_INVOKE)
        return tengine_error_set(TENGINE_EDEVICE, "fault on demand: invoke");
    for (uint32_t i = 0; i < entry->number; ++i)
        TENGINE_RETURN_IF_ERROR(
            run_step(invocation, &invocation->module->instructions[entry->first + i]));
    invocation->instructions = entry->number;
    return 0;
}

static int get_metric(void* data, int index, ir_counter_t* out_metric)
{
    const invocation_t* invocation = data;
    if (index > 0) return 0;
    strcpy(out_metric->name, "instructions");
    out_metric->value = invocation->instructions;
    return 1;
}

static const tengine_dispatch_t dispatch = {
    .size = sizeof(tengine_dispatch_t),
    .device = "ACME",
    .version = "1.0",
    .byte_code_version = ACME_VERSION,
    .load = load,
    .unload = unload,
    .create_invocation = create_invocation,
    .destroy_invocation = destroy_invocation,
    .get_input_requirement = get_requirement,
    .get_output_requirement = get_requirement,
    .attach_input = attach_input,
    .attach_output = attach_output,
    .invoke = invoke,
    .get_metric = get_metric,
};

static int init(void)
{
    return tengine_register_dispatch(&dispatch);
}

static int release(void)
{
    return tengine_unregister_dispatch(&dispatch);
}

TENGINE_PLUGIN("acme_dispatch", "1.0", init, release);
