// SPDX-License-Identifier: Apache-2.0
// Source compatibility with custom operators of TensorFlow Lite and LiteRT: their names on top of
// tengine/custom_op.h, in C99 and C++. Such a source compiles with the include path
// <tengine/compat/tflite> and registers its operator with tengine_tflite_register below.
// docs/custom-operators.md says what differs.
//
// Functions behave as their documentation there describes. Thread rules are those of custom_op.h.
#pragma once

#include "tengine/compat/tflite/temporary.h"

TENGINE_EXTERN_C_BEGIN

typedef struct TfLiteOperator
{
    char* name;
    int version;
    void* user_data;
    void* (*init)(TfLiteOpaqueContext*, const char*, size_t);
    void (*free)(TfLiteOpaqueContext*, void*);
    TfLiteStatus (*prepare)(TfLiteOpaqueContext*, TfLiteOpaqueNode*);
    TfLiteStatus (*invoke)(TfLiteOpaqueContext*, TfLiteOpaqueNode*);
    // Callbacks whose first argument is user_data.
    void* (*init_with_data)(void*, TfLiteOpaqueContext*, const char*, size_t);
    void (*free_with_data)(void*, TfLiteOpaqueContext*, void*);
    TfLiteStatus (*prepare_with_data)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*);
    TfLiteStatus (*invoke_with_data)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*);
    // Kept for sources that set it; not used.
    TfLiteAsyncKernel* (*async_kernel)(TfLiteOpaqueContext*, TfLiteOpaqueNode*);
    TfLiteAsyncKernel* (*async_kernel_with_data)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*);
    uint64_t inplace_operator;
} TfLiteOperator;

// ---- operators ----

// TfLiteOperatorCreate(builtin code, name, version[, user_data]). The code must be
// kTfLiteBuiltinCustom. The name is copied. NULL when out of memory or for another code. The caller
// keeps the operator alive as long as it is registered.
#define TfLiteOperatorCreate(...)                                                            \
    TENGINE_TFLITE_FIFTH(__VA_ARGS__, tengine_tflite_create, tengine_tflite_create_plain, 0) \
    (__VA_ARGS__)
#define TENGINE_TFLITE_FIFTH(first, second, third, fourth, fifth, ...) fifth

static inline TfLiteOperator* tengine_tflite_create(TfLiteBuiltinOperator builtin_code,
                                                    const char* custom_name, int version,
                                                    void* user_data)
{
    const size_t size = custom_name ? strlen(custom_name) + 1 : 0;
    TfLiteOperator* op = NULL;
    if (size > 0 && builtin_code == kTfLiteBuiltinCustom)
        op = (TfLiteOperator*)calloc(1, sizeof(TfLiteOperator) + size);
    if (!op) return NULL;
    op->name = (char*)(op + 1);
    memcpy(op->name, custom_name, size);
    op->version = version;
    op->user_data = user_data;
    return op;
}

static inline TfLiteOperator* tengine_tflite_create_plain(TfLiteBuiltinOperator builtin_code,
                                                          const char* custom_name, int version)
{
    return tengine_tflite_create(builtin_code, custom_name, version, NULL);
}

static inline void TfLiteOperatorDelete(TfLiteOperator* op)
{
    free(op);
}

static inline const char* TfLiteOperatorGetCustomName(const TfLiteOperator* op)
{
    return op->name;
}

static inline TfLiteBuiltinOperator TfLiteOperatorGetBuiltInCode(const TfLiteOperator* op)
{
    (void)op;
    return kTfLiteBuiltinCustom;
}

static inline int TfLiteOperatorGetVersion(const TfLiteOperator* op)
{
    return op->version;
}

static inline void* TfLiteOperatorGetUserData(const TfLiteOperator* op)
{
    return op->user_data;
}

// Setters take a pointer to const, as the published guide passes one.
#define TENGINE_TFLITE_SETTER(Name, member, result, ...)                            \
    static inline void TfLiteOperatorSet##Name(const TfLiteOperator* op,            \
                                               result (*function)(__VA_ARGS__))     \
    {                                                                               \
        ((TfLiteOperator*)op)->member = function;                                   \
    }                                                                               \
    static inline TfLiteStatus TfLiteOperatorSet##Name##WithData(                   \
        const TfLiteOperator* op, result (*function)(void* user_data, __VA_ARGS__)) \
    {                                                                               \
        ((TfLiteOperator*)op)->member##_with_data = function;                       \
        return kTfLiteOk;                                                           \
    }

TENGINE_TFLITE_SETTER(Init, init, void*, TfLiteOpaqueContext*, const char*, size_t)
TENGINE_TFLITE_SETTER(Free, free, void, TfLiteOpaqueContext*, void*)
TENGINE_TFLITE_SETTER(Prepare, prepare, TfLiteStatus, TfLiteOpaqueContext*, TfLiteOpaqueNode*)
TENGINE_TFLITE_SETTER(Invoke, invoke, TfLiteStatus, TfLiteOpaqueContext*, TfLiteOpaqueNode*)
// TensorFlow Lite calls it if a delegate runs the node, and invoke otherwise, as this library
// always does.
TENGINE_TFLITE_SETTER(AsyncKernel, async_kernel, TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                      TfLiteOpaqueNode*)
#undef TENGINE_TFLITE_SETTER

// A hint about outputs that may share memory with inputs. Outputs never do here.
static inline void TfLiteOperatorSetInplaceOperator(const TfLiteOperator* op,
                                                    uint64_t inplace_operator)
{
    ((TfLiteOperator*)op)->inplace_operator = inplace_operator;
}

static inline uint64_t TfLiteOperatorGetInplaceOperator(const TfLiteOperator* op)
{
    return op->inplace_operator;
}

// ---- callbacks of custom_op.h ----

static inline void tengine_tflite_free_node(TfLiteOpaqueNode* node)
{
    for (int i = 0; node->tensors && i < node->input_num + node->output_num; ++i)
        TfLiteIntArrayFree(node->tensors[i].dims);
    for (int i = 0; i < node->temporary_num; ++i) {
        tengine_tflite_empty_temporary(node->temporaries[i]);
        free(node->temporaries[i]);
    }
    TfLiteIntArrayFree(node->claimed);
    free((void*)node->temporaries);
    free(node->indices);
    free(node->tensors);
    free(node);
}

// Init gets the node's attributes as a flexbuffer, as of a model of TensorFlow Lite. The functions
// of custom_op.h read them by name, from context->op.
static inline int tengine_tflite_init(void* user_data, tengine_op_context_t* op_context,
                                      void** out_state)
{
    const TfLiteOperator* op = (const TfLiteOperator*)user_data;
    TfLiteOpaqueNode* node = (TfLiteOpaqueNode*)calloc(1, sizeof(TfLiteOpaqueNode));
    TfLiteOpaqueContext context = {op_context, node};
    if (!node) return tengine_op_report(op_context, TENGINE_ENOMEM, "out of memory for a node");
    node->input_num = tengine_op_input_number(op_context);
    node->output_num = tengine_op_output_number(op_context);
    const size_t number = (size_t)(node->input_num + node->output_num);
    node->tensors = (TfLiteOpaqueTensor*)calloc(number + 1, sizeof(TfLiteOpaqueTensor));
    node->indices = (int*)calloc(number + 1, sizeof(int));
    if (!node->tensors || !node->indices) {
        tengine_tflite_free_node(node);
        return tengine_op_report(op_context, TENGINE_ENOMEM, "out of memory for tensors");
    }
    node->init_data = (const char*)tengine_op_attributes(op_context, &node->init_size);
    if (!node->init_data) {
        tengine_tflite_free_node(node);
        return TENGINE_ENOMEM;  // with its message
    }
    if (op->init_with_data)
        node->user_data =
            op->init_with_data(op->user_data, &context, node->init_data, node->init_size);
    else if (op->init)
        node->user_data = op->init(&context, node->init_data, node->init_size);
    *out_state = node;
    return 0;
}

static inline void tengine_tflite_free(void* user_data, void* state)
{
    const TfLiteOperator* op = (const TfLiteOperator*)user_data;
    TfLiteOpaqueNode* node = (TfLiteOpaqueNode*)state;
    TfLiteOpaqueContext context = {NULL, node};
    if (node->user_data && op->free_with_data)
        op->free_with_data(op->user_data, &context, node->user_data);
    else if (node->user_data && op->free)
        op->free(&context, node->user_data);
    tengine_tflite_free_node(node);
}

// Reuses an array of the right size, so that runs allocate nothing. NULL when out of memory.
static inline TfLiteIntArray* tengine_tflite_resize_array(TfLiteIntArray* array, int size)
{
    if (array && array->size == size) return array;
    TfLiteIntArrayFree(array);
    return TfLiteIntArrayCreate(size);
}

static inline int tengine_tflite_take_tensor(tengine_op_context_t* context, int output,
                                             const tengine_op_tensor_t* from,
                                             TfLiteOpaqueTensor* to)
{
    const int rank = from ? tengine_op_tensor_rank(from) : -1;
    const bool is_dynamic = to->allocation_type == kTfLiteDynamic;
    TfLiteIntArray* dims = rank < 0 ? NULL : tengine_tflite_resize_array(to->dims, rank);
    if (rank < 0) TfLiteIntArrayFree(to->dims);
    memset(to, 0, sizeof *to);
    to->dims = dims;
    to->tensor = from;
    to->output = output;
    to->temporary = -1;
    to->type = tengine_tflite_type_of(tengine_op_tensor_type(from));
    to->allocation_type = tengine_op_tensor_is_constant(from) ? kTfLiteMmapRo
                          : is_dynamic                        ? kTfLiteDynamic
                                                              : kTfLiteArenaRw;
    to->data = (void*)tengine_op_tensor_data(from);
    if (rank >= 0 && !dims)
        return tengine_op_report(context, TENGINE_ENOMEM, "out of memory for a shape");
    for (int i = 0; i < rank; ++i)
        dims->data[i] = tengine_op_tensor_dim(from, i);
    return 0;
}

static inline int tengine_tflite_take_tensors(tengine_op_context_t* context, TfLiteOpaqueNode* node)
{
    if (node->input_num != tengine_op_input_number(context) ||
        node->output_num != tengine_op_output_number(context))
        return tengine_op_report(context, TENGINE_ESTATE,
                                 "the node has been connected in another way since init");
    for (int i = 0; i < node->input_num; ++i)
        TENGINE_OP_ENSURE_OK(tengine_tflite_take_tensor(context, -1, tengine_op_input(context, i),
                                                        &node->tensors[i]));
    for (int i = 0; i < node->output_num; ++i)
        TENGINE_OP_ENSURE_OK(tengine_tflite_take_tensor(context, i, tengine_op_output(context, i),
                                                        &node->tensors[node->input_num + i]));
    for (int i = 0; i < node->input_num + node->output_num; ++i)
        node->indices[i] = node->tensors[i].tensor ? i : kTfLiteOptionalTensor;
    return 0;
}

// Passes the requests of prepare to the library.
static inline int tengine_tflite_end_prepare(tengine_op_context_t* context, TfLiteOpaqueNode* node)
{
    for (int i = 0; i < node->output_num; ++i) {
        const TfLiteOpaqueTensor* output = &node->tensors[node->input_num + i];
        if (output->tensor && output->allocation_type == kTfLiteDynamic)
            TENGINE_OP_ENSURE_OK(tengine_op_set_output_dynamic(context, i));
    }
    for (int i = 0; i < node->temporary_num; ++i) {
        TfLiteOpaqueTensor* temporary = node->temporaries[i];
        if (!temporary->is_claimed) tengine_tflite_empty_temporary(temporary);
        if (!temporary->is_used || temporary->allocation_type != kTfLiteArenaRw) continue;
        temporary->temporary =
            tengine_op_request_temporary(context, TfLiteOpaqueTensorByteSize(temporary));
        if (temporary->temporary < 0) return temporary->temporary;
    }
    return 0;
}

static inline int tengine_tflite_prepare(void* user_data, tengine_op_context_t* op_context)
{
    const TfLiteOperator* op = (const TfLiteOperator*)user_data;
    TfLiteOpaqueNode* node = (TfLiteOpaqueNode*)tengine_op_state(op_context);
    TfLiteOpaqueContext context = {op_context, node};
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < node->output_num; ++i)
        node->tensors[node->input_num + i].allocation_type = kTfLiteArenaRw;
    TENGINE_OP_ENSURE_OK(tengine_tflite_take_tensors(op_context, node));
    if (op->prepare_with_data)
        status = op->prepare_with_data(op->user_data, &context, node);
    else if (op->prepare)
        status = op->prepare(&context, node);
    return status == kTfLiteOk ? tengine_tflite_end_prepare(op_context, node) : (int)status;
}

static inline int tengine_tflite_invoke(void* user_data, tengine_op_context_t* op_context)
{
    const TfLiteOperator* op = (const TfLiteOperator*)user_data;
    TfLiteOpaqueNode* node = (TfLiteOpaqueNode*)tengine_op_state(op_context);
    TfLiteOpaqueContext context = {op_context, node};
    TENGINE_OP_ENSURE_OK(tengine_tflite_take_tensors(op_context, node));
    for (int i = 0; i < node->temporary_num; ++i)
        if (node->temporaries[i]->temporary >= 0)
            node->temporaries[i]->data =
                tengine_op_temporary(op_context, node->temporaries[i]->temporary);
    return op->invoke_with_data ? (int)op->invoke_with_data(op->user_data, &context, node)
                                : (int)op->invoke(&context, node);
}

// ---- registration ----

// Registers the operator as <domain>.<name> for all graphs of `context`, or with NULL of the
// process, for this version of the domain. The domain and its version are those that the model
// imports, which TensorFlow Lite does not have; version 1, which its guide writes, stands for any.
// Without Prepare, outputs are like input 0. Fails with TENGINE_EINVAL (op is NULL, or has no
// Invoke) and as tengine_op_create and tengine_op_register do.
static inline int tengine_tflite_register(context_t context, const char* domain,
                                          const TfLiteOperator* op)
{
    if (!op || (!op->invoke && !op->invoke_with_data)) {
        tengine_error_set(TENGINE_EINVAL, "%s: %s", __func__,
                          op ? "the operator has no Invoke" : "op is NULL");
        return -1;
    }
    const int last = op->version == 1 ? INT_MAX : op->version;
    tengine_op_t* made = tengine_op_create(domain, op->name, op->version, last);
    if (!made) return -1;
    tengine_op_set_init(made, tengine_tflite_init);
    tengine_op_set_free(made, tengine_tflite_free);
    tengine_op_set_prepare(made, tengine_tflite_prepare);
    tengine_op_set_invoke(made, tengine_tflite_invoke);
    tengine_op_set_user_data(made, (void*)op, NULL);
    if (!op->prepare && !op->prepare_with_data) tengine_op_set_outputs_like(made, 0);
    const int status = tengine_op_register(context, made);
    tengine_op_destroy(made);
    return status;
}

TENGINE_EXTERN_C_END
