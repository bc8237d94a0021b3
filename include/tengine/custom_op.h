// SPDX-License-Identifier: Apache-2.0
// Custom operators: a program or a plug-in adds an operator that models use and the library does
// not have, or replaces the implementation of one of the library's operators.
// docs/custom-operators.md shows it step by step. A kernel for a single node of a single graph is
// in custom_kernel.h.
//
//     static int prepare(void* user_data, tengine_op_context_t* context)
//     {
//         TENGINE_OP_ENSURE_EQ(context, tengine_op_input_number(context), 1);
//         return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
//     }
//     ...
//     tengine_op_t* op = tengine_op_create("com.example", "Atan", 1, 1);
//     tengine_op_set_prepare(op, prepare);
//     tengine_op_set_invoke(op, invoke);
//     tengine_op_register(NULL, op);
//     tengine_op_destroy(op);
//
// All types are opaque. Functions for programs follow c_api.h: on failure they return -1 or NULL
// and set get_tengine_errno() and get_tengine_error(). Functions for callbacks that return a status
// return 0 or the negative TENGINE_E... itself, which a callback may return; the message is set,
// too. All fail with TENGINE_EINVAL for a NULL argument unless their comment mentions NULL.
//
// Life of a node with such an operator: the first prerun_graph calls init; every prerun_graph calls
// prepare, unless the graph is still prepared for these shapes (option run.shape_cache); run_graph
// calls invoke; destroy_graph calls free. run_graph calls prepare before invoke in each run in
// which the shape of an input depends on data, and in the first run after a return to earlier
// shapes if prepare has been called for others since: prepare has always been called for the shapes
// that invoke sees. A node keeps the operator that its first prerun_graph has found.
//
// Threads: any thread may create, register and unregister operators. Callbacks of one node are
// called one at a time, those of different nodes also at the same time. init, prepare and free are
// called on the thread that prepares or destroys the graph; invoke, and prepare in a run, on the
// thread that runs the part, which is another one if the scheduler is not "sync". Callbacks must
// not use handles of contexts, graphs, nodes or tensors, nor register or unregister operators.
#pragma once

#include "tengine/c_api.h"
#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

// An operator; the node that a callback is called for; a tensor of that node. Contexts and tensors
// are valid until the callback returns, and in an asynchronous invoke until its completion.
typedef struct tengine_op tengine_op_t;
typedef struct tengine_op_context tengine_op_context_t;
typedef struct tengine_op_tensor tengine_op_tensor_t;

// ---- Callbacks ----
//
// `user_data` is that of tengine_op_set_user_data. A callback that succeeds returns 0. A callback
// that fails returns the result of tengine_op_report, or another value than 0. prerun_graph or
// run_graph then fails with that code and the message, after the names of operator, node and
// callback. A value that is not a negative code, or -1 without a message, becomes TENGINE_EDEVICE.

// Creates the state of one node, which tengine_op_state returns from then on. Attributes can be
// read; tensors do not exist yet. *out_state is NULL before the call. When init fails, *out_state
// is not freed.
typedef int (*tengine_op_init_t)(void* user_data, tengine_op_context_t* context, void** out_state);
// Frees the state of one node: called once for each init that succeeded, also for NULL.
typedef void (*tengine_op_free_t)(void* user_data, void* state);
// Checks the node and sets the types and sizes of its outputs; see "In prepare".
typedef int (*tengine_op_prepare_t)(void* user_data, tengine_op_context_t* context);
// Computes all outputs.
typedef int (*tengine_op_invoke_t)(void* user_data, tengine_op_context_t* context);
// The same, asynchronously: begins the work and returns. The invoke ends with tengine_op_complete,
// or with the failure of this callback, which must then not be completed. Until then context and
// tensors stay valid, and one thread at a time may use them.
typedef uint64_t tengine_op_completion_t;
typedef int (*tengine_op_invoke_async_t)(void* user_data, tengine_op_context_t* context,
                                         tengine_op_completion_t completion);
// Ends the invoke in flight soon, with any results: the run was cancelled, or its deadline is over
// (tengine/run.h). An asynchronous invoke still needs its completion, which this may be the place
// for. Called by another thread from the beginning of invoke or invoke_async until the invoke has
// ended, perhaps several times. It must not wait for the invoke, and of the context it may use
// tengine_op_state alone.
typedef void (*tengine_op_cancel_t)(void* user_data, tengine_op_context_t* context);

// ---- Operators ----

// An operator of a domain ("" is ONNX's own) in the versions min_version to max_version of the
// domain, as models import it. Strings are copied. The caller owns it and destroys it. Fails with
// TENGINE_EINVAL (name is NULL or empty, domain is NULL, a dot or a space in the name),
// TENGINE_ERANGE (a version below 1, or max_version below min_version) and TENGINE_ENOMEM.
TENGINE_API tengine_op_t* tengine_op_create(const char* domain, const char* name, int min_version,
                                            int max_version);

// Ends the caller's use of the operator, which is freed when it is neither registered nor used by a
// node. NULL is ignored. Operators must be destroyed before release_tengine.
TENGINE_API void tengine_op_destroy(tengine_op_t* op);

// Set the callbacks of the operator. It needs one of invoke and invoke_async, and prepare or
// tengine_op_set_outputs_like. All fail with TENGINE_ESTATE once the operator has been registered.
TENGINE_API int tengine_op_set_init(tengine_op_t* op, tengine_op_init_t init);
TENGINE_API int tengine_op_set_free(tengine_op_t* op, tengine_op_free_t free);
TENGINE_API int tengine_op_set_prepare(tengine_op_t* op, tengine_op_prepare_t prepare);
TENGINE_API int tengine_op_set_invoke(tengine_op_t* op, tengine_op_invoke_t invoke);
// The scheduler "pipeline" continues with other parts and runs meanwhile; "sync" waits.
TENGINE_API int tengine_op_set_invoke_async(tengine_op_t* op, tengine_op_invoke_async_t invoke);
TENGINE_API int tengine_op_set_cancel(tengine_op_t* op, tengine_op_cancel_t cancel);
// Sets the device of the operator, which need not be registered yet; the name is copied. The
// default is the CPU. TENGINE_EINVAL for an empty name, TENGINE_ENOMEM.
TENGINE_API int tengine_op_set_device(tengine_op_t* op, const char* device);
// Sets the first argument of callbacks, which may be NULL. `release`, which may be NULL, is called
// for it once, by the thread that frees the operator.
TENGINE_API int tengine_op_set_user_data(tengine_op_t* op, void* user_data,
                                         void (*release)(void* user_data));
// Every output has type and shape of input `input`, before prepare is called. TENGINE_ERANGE when
// `input` is negative.
TENGINE_API int tengine_op_set_outputs_like(tengine_op_t* op, int input);

// ---- Registration ----
//
// Registers the operator for graphs of `context`, or with NULL for all graphs of the process:
// create_graph loads models that name it, and prerun_graph uses it, also in place of an operator of
// the library with this domain, name and version. Operators of a context precede those of the
// process. Nodes of unknown version, such as those of Tengine Lite's files, use the newest version.
// The library holds the operator, which may be registered several times.
//
// One operator may be registered for several devices, as several tengine_op_t. A node then runs on
// the first device of its graph that has one of them, as affinity, inspect and cost allow; where
// none has, prerun_graph fails with TENGINE_EOPERATOR. Each has a state of its own in each node.
// The prepare of the CPU's operator, or else that of the first one registered, sets types and
// sizes; the others must give equal ones. An operator of the library is replaced only by one for
// the CPU.

// Fails with TENGINE_EHANDLE (context), TENGINE_EINVAL (there is no invoke, or both kinds, or
// neither prepare nor tengine_op_set_outputs_like), TENGINE_EEXIST (the context, or the process,
// has an operator of this domain and name for some of these versions and this device),
// TENGINE_ESTATE (before init_tengine), TENGINE_ENOMEM.
TENGINE_API int tengine_op_register(context_t context, tengine_op_t* op);

// Unregisters the operator. destroy_context and release_tengine unregister the others. Fails with
// TENGINE_EHANDLE, TENGINE_ENOENT (not registered there), TENGINE_ESTATE (a node of a graph has
// been prepared with it; that ends with destroy_graph).
TENGINE_API int tengine_op_unregister(context_t context, tengine_op_t* op);

// ---- In all callbacks ----

// Operator ("com.example.Atan"), and name of the node; "" for NULL.
TENGINE_API const char* tengine_op_type(const tengine_op_context_t* context);
TENGINE_API const char* tengine_op_node_name(const tengine_op_context_t* context);
// The version of the domain that the model imports; 0: not known.
TENGINE_API int tengine_op_version(const tengine_op_context_t* context);
// The state that init has created; NULL in init, and without init.
TENGINE_API void* tengine_op_state(const tengine_op_context_t* context);

// Attributes by name. `otherwise` is returned when the node has none of this name and kind; lists
// then are NULL and *out_num is 0. Pointers live as long as the node. Set no error.
TENGINE_API int64_t tengine_op_int(const tengine_op_context_t* context, const char* name,
                                   int64_t otherwise);
TENGINE_API float tengine_op_float(const tengine_op_context_t* context, const char* name,
                                   float otherwise);
TENGINE_API const char* tengine_op_text(const tengine_op_context_t* context, const char* name,
                                        const char* otherwise);
TENGINE_API const int64_t* tengine_op_ints(const tengine_op_context_t* context, const char* name,
                                           int* out_num);
TENGINE_API const float* tengine_op_floats(const tengine_op_context_t* context, const char* name,
                                           int* out_num);
TENGINE_API const char* const* tengine_op_texts(const tengine_op_context_t* context,
                                                const char* name, int* out_num);

// All attributes as a FlexBuffer (flatbuffers.dev), the form in which TensorFlow Lite passes the
// options of a custom operator: a map from names to integers, floats, strings and vectors of these.
// Attributes that are tensors are not in it. Attributes of one of the library's operators that the
// model does not state have their defaults. The bytes live as long as the node. NULL fails with
// TENGINE_EINVAL (NULL) and TENGINE_ENOMEM.
TENGINE_API const void* tengine_op_attributes(tengine_op_context_t* context, size_t* out_size);

// Records a failure and returns `code`, which is negative: `return tengine_op_report(...)`. The
// message states the fault, the values, and the values that are expected; it need not name the
// node.
TENGINE_API int tengine_op_report(tengine_op_context_t* context, int code, const char* format, ...)
    TENGINE_PRINTF(3, 4);

// ---- In prepare and invoke: tensors ----

TENGINE_API int tengine_op_input_number(const tengine_op_context_t* context);
TENGINE_API int tengine_op_output_number(const tengine_op_context_t* context);
// NULL where an optional tensor is absent, and for an index out of range; sets no error.
TENGINE_API const tengine_op_tensor_t* tengine_op_input(const tengine_op_context_t* context,
                                                        int index);
TENGINE_API tengine_op_tensor_t* tengine_op_output(const tengine_op_context_t* context, int index);

// These describe a tensor; for NULL they return 0, "" or NULL. Type: TENGINE_DT_*,
// TENGINE_DT_UNKNOWN for an output whose type is not known yet. Rank: -1 while it is not known. A
// dimension: -1 while it is not known, 0 for an axis that the tensor does not have.
TENGINE_API const char* tengine_op_tensor_name(const tengine_op_tensor_t* tensor);
TENGINE_API int tengine_op_tensor_type(const tengine_op_tensor_t* tensor);
TENGINE_API int tengine_op_tensor_rank(const tengine_op_tensor_t* tensor);
TENGINE_API int tengine_op_tensor_dim(const tengine_op_tensor_t* tensor, int axis);
// Elements and bytes of the whole; 0 while the shape is not known.
TENGINE_API int64_t tengine_op_tensor_elements(const tengine_op_tensor_t* tensor);
TENGINE_API size_t tengine_op_tensor_bytes(const tengine_op_tensor_t* tensor);
// 1 for a constant of the model, else 0.
TENGINE_API int tengine_op_tensor_is_constant(const tengine_op_tensor_t* tensor);

// Elements, dense and row-major, in host memory. In prepare only constants have data; in invoke all
// inputs have, and all outputs whose size is known. NULL without data; it may be NULL for an empty
// tensor. Only outputs may be written to.
TENGINE_API const void* tengine_op_tensor_data(const tengine_op_tensor_t* tensor);
TENGINE_API void* tengine_op_tensor_mutable_data(tengine_op_tensor_t* tensor);

// Quantisation: real = scale * (integer - zero point). The number of scales is 0 for a tensor that
// is not quantised, 1 for one scale, else one for each slice along the axis. Scale and zero point
// are 0 for an index out of range.
TENGINE_API int tengine_op_tensor_scale_number(const tengine_op_tensor_t* tensor);
TENGINE_API int tengine_op_tensor_scale_axis(const tengine_op_tensor_t* tensor);
TENGINE_API float tengine_op_tensor_scale(const tengine_op_tensor_t* tensor, int index);
TENGINE_API int tengine_op_tensor_zero_point(const tengine_op_tensor_t* tensor, int index);

// ---- In prepare: types and sizes of the outputs, temporaries ----
//
// The shapes of all inputs are known. Each output must get a size, or be marked as dynamic. An
// output has the type that the model declares for it, else that of the first input; prepare may
// change it. An absent output is skipped with success. All fail with TENGINE_ERANGE for an index
// without output, and with TENGINE_ESTATE in another callback.

// `data_type` is a TENGINE_DT_*. TENGINE_EDTYPE for another value, and in a run for another type
// than the one that the graph was prepared with.
TENGINE_API int tengine_op_set_output_type(tengine_op_context_t* context, int index, int data_type);

// `rank` dimensions of 0 or more. TENGINE_ERANGE for a rank above MAX_SHAPE_DIM_NUM, a negative
// dimension, or a tensor that is larger than the library can count. Also in invoke, for an output
// marked as dynamic, which has data then: TENGINE_ENOMEM, TENGINE_ELIMIT (the limit of the
// context). Each call in one invoke replaces the data.
TENGINE_API int tengine_op_resize_output(tengine_op_context_t* context, int index, const int dims[],
                                         int rank);

// Sets type and size to those of `tensor`, which belongs to the context.
TENGINE_API int tengine_op_set_output_like(tengine_op_context_t* context, int index,
                                           const tengine_op_tensor_t* tensor);

// The size depends on data: invoke calls tengine_op_resize_output. Nodes that read the output are
// then computed with shapes that are found at run time, on the CPU.
TENGINE_API int tengine_op_set_output_dynamic(tengine_op_context_t* context, int index);

// Requests `bytes` of memory during invoke and returns the index of that temporary. The memory
// belongs to the plan of the graph and is shared with other nodes: it loses its values between two
// calls of invoke. Each call of prepare begins without temporaries. TENGINE_ELIMIT for more bytes
// than can be counted, TENGINE_ENOMEM.
TENGINE_API int tengine_op_request_temporary(tengine_op_context_t* context, size_t bytes);

// ---- In invoke: temporaries ----

// Memory of a temporary, aligned to 64 bytes. NULL, without an error, for an index without one and
// in other callbacks.
TENGINE_API void* tengine_op_temporary(const tengine_op_context_t* context, int index);

// In invoke, and in an asynchronous invoke until its completion, by any thread: 1 when the run was
// cancelled, so that the invoke should end soon, with any results; else 0.
TENGINE_API int tengine_op_is_cancelled(const tengine_op_context_t* context);

// ---- The end of an asynchronous invoke ----

// Completes an asynchronous invoke. Any thread may call it, also before invoke_async has returned.
// Context and tensors must not be used afterwards. `status` is the value that invoke would return;
// a failure's `message`, which may be NULL, is copied. TENGINE_ENOENT for an invoke that has been
// completed, or whose invoke_async has failed. The run does not end without it.
TENGINE_API int tengine_op_complete(tengine_op_completion_t completion, int status,
                                    const char* sentence);

// ---- Checks ----
//
// Return from a callback with a failure if a condition does not hold. The first argument is the
// callback's context.

#define TENGINE_OP_ENSURE(context, condition)                                                    \
    do {                                                                                         \
        if (!(condition))                                                                        \
            return tengine_op_report((context), TENGINE_EINVAL, "%s does not hold", #condition); \
    } while (0)

// Integers: "tengine_op_input_number(context) is 3, expected 2".
#define TENGINE_OP_ENSURE_EQ(context, value, expected)                                       \
    do {                                                                                     \
        const long long tengine_value_ = (long long)(value);                                 \
        const long long tengine_expected_ = (long long)(expected);                           \
        if (tengine_value_ != tengine_expected_)                                             \
            return tengine_op_report((context), TENGINE_EINVAL, "%s is %lld, expected %lld", \
                                     #value, tengine_value_, tengine_expected_);             \
    } while (0)

// A tensor that exists and has this type: "'x' is int64, expected fp32".
#define TENGINE_OP_ENSURE_TYPE(context, tensor, data_type)                                   \
    do {                                                                                     \
        const int tengine_status_ = tengine_op_check_type((context), (tensor), (data_type)); \
        if (tengine_status_ < 0) return tengine_status_;                                     \
    } while (0)

// A call that returns a status: its failure is the callback's.
#define TENGINE_OP_ENSURE_OK(call)                       \
    do {                                                 \
        const int tengine_status_ = (call);              \
        if (tengine_status_ < 0) return tengine_status_; \
    } while (0)

// Called by TENGINE_OP_ENSURE_TYPE. TENGINE_EDTYPE; TENGINE_EINVAL when the tensor is absent.
TENGINE_API int tengine_op_check_type(tengine_op_context_t* context,
                                      const tengine_op_tensor_t* tensor, int data_type);

// ---- For devices ----
//
// A device (device.h) that lists get_op_type("tengine", "Custom") in describe is asked about nodes
// whose operator is registered for it, and computes them by calling these on the nodes of its part.
// Both fail with TENGINE_EINVAL for another node, else as the callbacks do. Its calls for a part
// with such nodes are not watched ("run.watchdog_ms").

struct node;

// For pre_run: calls prepare. *out_scratch: the bytes of scratch that a run needs.
TENGINE_API int tengine_op_prepare_node(const struct node* node, uint64_t* out_scratch);
// For run: calls invoke, and returns when it has ended. Inputs and outputs must have data.
// `scratch`, of that many bytes and aligned to 64, is used during the call only.
TENGINE_API int tengine_op_run_node(const struct node* node, void* scratch, uint64_t scratch_size);

TENGINE_EXTERN_C_END
