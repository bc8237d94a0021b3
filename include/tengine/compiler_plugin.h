// SPDX-License-Identifier: Apache-2.0
// Compilers and drivers of a vendor's chip, without writing a device (device.h): a compiler selects
// nodes and compiles parts of graphs to byte code; a dispatch loads byte code and runs it. Both are
// tables of C functions that a plug-in (plugin.h) registers under one name, which is then the name
// of a device: docs/compiler-plugins.md. They may be in two libraries: parts that were compiled
// ahead of time (tengine compile), or are in the cache folder, run with the dispatch alone.
//
// Graphs are read with the functions of ir.h, and never changed. Functions that return int give 0,
// or a negative TENGINE_E... code after tengine_error_set(). Entries marked (optional) may be NULL.
#pragma once

#include "tengine/plugin.h"

TENGINE_EXTERN_C_BEGIN

// ---- compiler ----

#define TENGINE_HARDWARE_CPU 1u
#define TENGINE_HARDWARE_GPU 2u
#define TENGINE_HARDWARE_NPU 4u

// An option that the user has set for the device ("ACME.level" has the key "level").
typedef struct tengine_vendor_option
{
    const char* key;
    const char* value;
} tengine_vendor_option_t;

// The nodes that a compiler selects of a graph, under construction.
typedef struct tengine_op_list tengine_op_list_t;

// For tengine_compiler.partition: the node is to be compiled. Nodes of different indices, from 0
// on, never share a part; the nodes of one index become as few parts as possible. TENGINE_EINVAL
// for a node that the graph does not have, or an index below 0.
TENGINE_API int tengine_op_list_push(tengine_op_list_t* list, const struct node* node, int index);
// The node is left out for this reason, one line, which reports show. Nodes that are neither
// pushed nor refused have "not selected". TENGINE_EINVAL as above.
TENGINE_API int tengine_op_list_refuse(tengine_op_list_t* list, const struct node* node,
                                       const char* format, ...) TENGINE_PRINTF(3, 4);

// Thread rule: functions that get a compiler or a result are called by one thread at a time for
// each object. All strings are constants.
typedef struct tengine_compiler
{
    uint32_t size;             // of this structure; it grows at its end
    uint32_t hardware;         // TENGINE_HARDWARE_*, for reports
    const char* device;        // the name for users: letters, digits, '_'
    const char* manufacturer;  // for reports
    const char* sdk_version;   // parts of another version are compiled again
    // The version of byte code; the dispatch has the same. Parts of another are compiled again.
    const char* byte_code_version;
    // The chips that it compiles for. `soc_model` below is the chip that the option "soc" names,
    // else the dispatch's (get_soc_model), else NULL: the default.
    const char* const* soc_models;
    int soc_model_number;
    // Options that users may set, with keys other than "soc", which selects the chip.
    const ir_device_option_t* options;
    int option_number;
    // (optional, both or none) Called once for each preparation of a graph, with all options that
    // the user has set, which live as long as the compiler.
    int (*create)(const tengine_vendor_option_t options[], int option_number, void** out_compiler);
    void (*destroy)(void* compiler);
    // Chooses among the nodes of an execution graph, which are in topological order and in the
    // run's precision: a quantised model that runs in int8 has QLinearConv and similar operators.
    // Shapes and types are known unless they depend on data. A failure leaves all nodes to other
    // devices, and reports give the reason.
    int (*partition)(void* compiler, const char* soc_model, const struct graph* graph,
                     tengine_op_list_t* list);
    // Compiles parts: all of the device's in a preparation, of one graph, or a part that is the
    // only one of a graph of its own, when that failed or something is to be compiled again. On a
    // failure the parts go to other devices, smaller or whole, and reports give the reason. A call
    // that was given up (prerun.watchdog_ms) may return after the graph and its context were
    // destroyed: its parts, the compiler and its options exist until then, and no further call is
    // made.
    int (*compile)(void* compiler, const char* soc_model, const struct subgraph* const parts[],
                   int part_number, void** out_result);
    // The result of compile: modules of byte code, and for each part the module and the entry point
    // in it. Bytes and strings live until destroy_result.
    int (*get_module_number)(void* result);
    int (*get_module)(void* result, int index, const void** out_bytes, size_t* out_size);
    int (*get_call)(void* result, int part, int* out_module, const char** out_entry_point);
    void (*destroy_result)(void* result);
    // Tables of older plug-ins end here: `size` states it. (optional) The operators whose nodes
    // partition may choose, by the names that push_op_names() (device.h) takes, "Conv" or
    // "com.microsoft.QGemm": `tengine devices` lists them, and the device is asked about no others.
    // Read when the table is registered; names that the library does not know are skipped with a
    // warning. NULL: any operator.
    const char* const* operators;
    int operator_number;
    // (optional) Not 0: the compiler knows TensorFlow Lite's operators. partition and compile then
    // get the nodes of a .tflite as the file has them (see below), and those of other models as
    // above.
    int knows_tflite;
} tengine_compiler_t;

// ---- nodes of a .tflite ----
// For a compiler that knows TensorFlow Lite's operators. get_ir_node_op() gives the name of the
// operator in the file's schema, "CONV_2D", get_ir_node_domain() "tflite", and functions such as
// get_ir_node_int() the options that the library reads ("stride_w", "activation"). Inputs and
// outputs are those of the file, absent ones included. Operators that a program defines are
// "Generic" of the domain "tengine"; the attribute "op_name" has the name in the file.

// The operator's code in files, 32 for one that files name; -1: it is not one of TensorFlow Lite's.
// Any thread.
TENGINE_API int tengine_node_get_tflite_code(const struct node* node);
// The options of an operator that a program defines, as the file has them; *out_size bytes, which
// live as long as the graph. NULL: it has none. Any thread.
TENGINE_API const void* tengine_node_get_tflite_options(const struct node* node, size_t* out_size);

// ---- dispatch ----

// The requirements of an invocation on a buffer.
typedef struct tengine_buffer_requirement
{
    size_t alignment;  // of its address, a power of two of at most 2^30; 0: any
    int data_type;     // TENGINE_DT_* that the byte code was compiled for
} tengine_buffer_requirement_t;

// Thread rule: functions that get an invocation, except cancel, are called by one thread at a time
// for each invocation; the others at any time by any thread.
typedef struct tengine_dispatch
{
    uint32_t size;  // of this structure; it grows at its end
    uint32_t reserved;
    const char* device;   // as the compiler's
    const char* version;  // of the driver, for reports
    const char* byte_code_version;
    // Loads a module: bytes that get_module has returned, in this or in another process. Any user
    // who can write to the folder or file that stores them may have made them. They are aligned to
    // 4096, read only, in a mapped file or in memory (always in memory for a module of several
    // parts), and live until unload. A module of several parts is loaded once for all of them.
    // After a failure the part is compiled if there is a compiler.
    int (*load)(const void* bytes, size_t size, void** out_module);
    void (*unload)(void* module);
    // A run of an entry point, with inputs and outputs in the order of the part.
    int (*create_invocation)(void* module, const char* entry_point, int input_number,
                             int output_number, void** out_invocation);
    void (*destroy_invocation)(void* invocation);
    // (optional) Requirements on buffers; NULL: any address, and no check of types. A buffer that
    // does not meet them is copied in every run; the counter "copies" counts the copies. Memory for
    // the copy is allocated when the graph is prepared.
    int (*get_input_requirement)(void* invocation, int port, tengine_buffer_requirement_t* out);
    int (*get_output_requirement)(void* invocation, int port, tengine_buffer_requirement_t* out);
    // The buffer of a port from now on; it stays until another is attached or the invocation ends.
    int (*attach_input)(void* invocation, int port, const void* data, size_t size);
    int (*attach_output)(void* invocation, int port, void* data, size_t size);
    int (*invoke)(void* invocation);
    // (optional, both or none) Begins a run and returns; then wait: 1 finished, 0 not yet (try_wait
    // only), negative failed. For the scheduler "pipeline".
    int (*invoke_async)(void* invocation);
    int (*wait)(void* invocation, int try_wait);
    // (optional) The invoke in flight was given up or cancelled: invoke or wait should return soon,
    // with any result. Called from another thread, perhaps several times, also before the invoke
    // has begun its work and after it has ended it. The invocation then gets no other invoke; the
    // next run has a new one.
    void (*cancel)(void* invocation);
    // (optional) The counts of the last invoke: the metric at `index`, from 0 on. 0 after
    // the last, else 1.
    int (*get_metric)(void* invocation, int index, ir_counter_t* out_metric);
    // Tables of older plug-ins end here: `size` states it. (optional) The model of this machine's
    // chip, one of the compiler's, for which it compiles when the option "soc" is not set. A
    // constant; NULL: not known. It is part of the key of stored parts, so a part that was compiled
    // for no named model, as on a machine without this dispatch, is not found.
    const char* (*get_soc_model)(void);
    // (optional) The maker of the chip, as .tflite files with byte code name it (LiteRtStamp). The
    // device runs their byte code (DISPATCH_OP) if this or the compiler's manufacturer is that
    // name, in any case of letters, or the file has no name, and get_soc_model gives no other model
    // than the file.
    const char* manufacturer;
} tengine_dispatch_t;

// ---- registration ----
// As of devices: not while graphs run on other threads. The tables must live until they are
// unregistered. The first of the two that is registered makes the device, and unregister_device, or
// unloading the plug-in that registered it, unregisters both.
// Fail with TENGINE_EINVAL (a string or an entry that is not optional is missing, or one of two),
// TENGINE_EEXIST (the name is that of another device, or has a compiler or dispatch already),
// TENGINE_EVERSION (the other has another byte code; a structure that is shorter than its first),
// TENGINE_ENOMEM.
TENGINE_API int tengine_register_compiler(const tengine_compiler_t* compiler);
TENGINE_API int tengine_register_dispatch(const tengine_dispatch_t* dispatch);
// Fail with TENGINE_ENOENT (not registered) and TENGINE_ESTATE (a prepared graph has a part of the
// device; for the last of the two, also as unregister_device fails).
TENGINE_API int tengine_unregister_compiler(const tengine_compiler_t* compiler);
TENGINE_API int tengine_unregister_dispatch(const tengine_dispatch_t* dispatch);

TENGINE_EXTERN_C_END
