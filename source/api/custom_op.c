// SPDX-License-Identifier: Apache-2.0
// C API, custom operators (tengine/custom_op.h): making and registering them. The functions that
// callbacks call are in operator/custom/op_context.c.
#include "api/check.h"
#include "operator/custom/op.h"

tengine_op_t* tengine_op_create(const char* domain, const char* name, int min_version,
                                int max_version)
{
    if (check_initialised(__func__) < 0) return api_pointer(NULL);
    return api_pointer(create_custom_op(domain, name, min_version, max_version, __func__));
}

void tengine_op_destroy(tengine_op_t* op)
{
    if (op) drop_custom_op(op);
}

static int check_open(const tengine_op_t* op, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(op, function, "op"));
    if (op->registration_num == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE,
                             "%s: operator '%s' has been registered and stays as it is", function,
                             op->full_name);
}

int tengine_op_set_init(tengine_op_t* op, tengine_op_init_t init)
{
    if (check_open(op, __func__) < 0) return api_failure();
    op->init = init;
    return 0;
}

int tengine_op_set_free(tengine_op_t* op, tengine_op_free_t free)
{
    if (check_open(op, __func__) < 0) return api_failure();
    op->free = free;
    return 0;
}

int tengine_op_set_prepare(tengine_op_t* op, tengine_op_prepare_t prepare)
{
    if (check_open(op, __func__) < 0) return api_failure();
    op->prepare = prepare;
    return 0;
}

int tengine_op_set_invoke(tengine_op_t* op, tengine_op_invoke_t invoke)
{
    if (check_open(op, __func__) < 0) return api_failure();
    op->invoke = invoke;
    return 0;
}

int tengine_op_set_invoke_async(tengine_op_t* op, tengine_op_invoke_async_t invoke)
{
    if (check_open(op, __func__) < 0) return api_failure();
    op->invoke_async = invoke;
    return 0;
}

int tengine_op_set_cancel(tengine_op_t* op, tengine_op_cancel_t cancel)
{
    if (check_open(op, __func__) < 0) return api_failure();
    op->cancel = cancel;
    return 0;
}

int tengine_op_set_device(tengine_op_t* op, const char* device)
{
    if (check_open(op, __func__) < 0 || check_pointer(device, __func__, "device") < 0)
        return api_failure();
    return api_result(set_custom_op_device(op, device, __func__));
}

int tengine_op_set_user_data(tengine_op_t* op, void* user_data, void (*release)(void* user_data))
{
    if (check_open(op, __func__) < 0) return api_failure();
    op->user_data = user_data;
    op->release = release;
    return 0;
}

int tengine_op_set_outputs_like(tengine_op_t* op, int input)
{
    if (check_open(op, __func__) < 0) return api_failure();
    if (input < 0)
        return api_result(
            tengine_error_set(TENGINE_ERANGE, "%s: input %d: expected 0 or more", __func__, input));
    op->like_input = input;
    return 0;
}

// NULL stands for the process.
static int check_place(context_t context, const tengine_op_t* op, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_initialised(function));
    TENGINE_RETURN_IF_ERROR(check_pointer(op, function, "op"));
    return context && !find_context(context, function) ? tengine_error_code() : TENGINE_OK;
}

int tengine_op_register(context_t context, tengine_op_t* op)
{
    if (check_place(context, op, __func__) < 0) return api_failure();
    return api_result(register_custom_op(context, op, __func__));
}

int tengine_op_unregister(context_t context, tengine_op_t* op)
{
    if (check_place(context, op, __func__) < 0) return api_failure();
    return api_result(unregister_custom_op(context, op, __func__));
}
