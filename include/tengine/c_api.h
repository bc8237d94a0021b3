// SPDX-License-Identifier: Apache-2.0
// The C API: load a model or build one node by node, name the devices, prepare, run. Source
// compatible with Tengine Lite. inspect.h lists devices and operators and shows what a graph
// consists of; device authors start at device.h.
//
// Rules that hold for every function and are not repeated below:
//
// - Functions that return `int` return 0 (or the value in their comment) on success and -1 on
//   failure; functions that return a handle or a pointer return NULL on failure. Every failure
//   records, for the calling thread, a code (get_tengine_errno) and a message (get_tengine_error).
//   "Fails with" lists the codes. Both are valid after a failure only: a success may clear them.
// - Every failure also logs its message once, at LOG_ERR, to standard error, unless set_log_level
//   or a sink changes that; so a program that just stops is not silent. Where NULL is a valid
//   answer, e.g. for an omitted optional input, the comment says "answers", and nothing is logged.
// - A handle that is NULL, destroyed, or of another kind fails with TENGINE_EHANDLE. One case
//   cannot be detected: a stale handle whose address was reused by a new object of the same kind.
// - Before init_tengine every function fails with TENGINE_ESTATE, except those of the groups
//   Library and Log.
// - Every function that creates something can fail with TENGINE_ENOMEM.
// - Nodes and tensors belong to their graph and die with it. Returned strings belong to the
//   library and live as long as the object they describe.
// - Threads: different graphs may be used by different threads at the same time. One graph, with
//   its nodes and tensors, must be used by one thread at a time. A context may be shared by
//   graphs of several threads; changing it must not overlap with its use, and a run in flight uses
//   it. init_tengine and release_tengine must not overlap with anything.
// - Processes: fork() must not overlap with a call of the library. The child has a copy of every
//   graph, but no threads: those that a graph was prepared with (more than one thread, the
//   scheduler "pipeline", "run.watchdog_ms", "run.deadline_ms") stay in the parent. In the child
//   run_graph and wait_graph then fail with TENGINE_ESTATE until prerun_graph has been called
//   again; all other functions, and graphs that were prepared without threads, work as before.
//
// States of a graph, as get_graph_exec_status returns them:
//
//     CREATED --prerun--> READY --run--> RUNNING --last one finished--> READY
//                           |                        `it failed--> ERROR
//                           `--postrun--> DONE --prerun--> READY
//
// - prerun_graph is legal in every state but RUNNING; on a prepared graph it implies postrun_graph,
//   but keeps preparations for other input shapes, as many as the option "run.shape_cache" allows,
//   and uses them again. When it fails nothing is prepared, and the state is CREATED or DONE.
// - run_graph needs READY, or ERROR after a failed run, and otherwise fails with TENGINE_ESTATE.
//   With `block` 0 it is legal in RUNNING as well while fewer runs are in flight than the scheduler
//   takes: the option "pipeline.frames" of the scheduler "pipeline", 1 of the others.
// - Changing the graph (new nodes or tensors, links, attributes, shapes, data types, quantisation,
//   the inputs and outputs, the data of a constant, layouts, the device, affinity) is legal in
//   every state but RUNNING. The preparation stays as it was, and run_graph fails with
//   TENGINE_ESTATE until prerun_graph has been called again. Setting a shape to its present value
//   changes nothing, and neither does giving inputs and outputs other buffers or data. With the
//   scheduler "pipeline" the latter is legal in RUNNING too: it has copied the inputs of the runs
//   in flight, and output buffers are read when wait_graph is called.
// - postrun_graph is legal in every state but RUNNING; without a preceding prerun_graph it does
//   nothing. destroy_graph is legal in every state and waits for the runs in flight; from within an
//   event hook it fails with TENGINE_ESTATE.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/custom_kernel.h"
#include "tengine/defines.h"
#include "tengine/error.h"
#include "tengine/memory.h"
#include "tengine/plugin_loader.h"

// Names of Tengine Lite's header, for programs that use them.
#define DLLEXPORT TENGINE_API
#if defined(_MSC_VER)
#define DEPRECATED_BEFORE __declspec(deprecated)
#define DEPRECATED_AFTER
#elif defined(__GNUC__)
#define DEPRECATED_BEFORE
#define DEPRECATED_AFTER __attribute__((deprecated))
#else
#define DEPRECATED_BEFORE
#define DEPRECATED_AFTER
#endif

TENGINE_EXTERN_C_BEGIN

// Severities of log lines. Include <syslog.h>, whose macros have the same names and values, after
// this header or not at all.
enum log_level
{
    LOG_EMERG,
    LOG_ALERT,
    LOG_CRIT,
    LOG_ERR,
    LOG_WARNING,
    LOG_NOTICE,
    LOG_INFO,
    LOG_DEBUG
};

enum graph_exec_event
{
    GRAPH_EXEC_START,
    GRAPH_EXEC_SUSPEND,  // never raised
    GRAPH_EXEC_RESUME,   // never raised
    GRAPH_EXEC_ABORT,
    GRAPH_EXEC_DONE
};

// Kept so that programs compile; no function has such a parameter.
enum device_policy
{
    DEFAULT_POLICY,
    LATENCY_POLICY,
    LOW_POWER_POLICY
};

typedef void* context_t;
typedef void* graph_t;
typedef void* tensor_t;
typedef void* node_t;

// Gets the graph, the GRAPH_EXEC_* event and the cb_arg of set_graph_event_hook. The returned
// value is not used.
typedef int (*event_handler_t)(graph_t, int, void* arg);

// Gets one log line, NUL-terminated.
typedef void (*log_print_t)(const char*);

// The same with its severity, one of enum log_level.
typedef void (*tengine_log_sink_t)(int level, const char* line);

// How prerun_graph_multithread prepares a graph.
typedef struct options
{
    int num_thread;     // threads wanted, capped to the cores of the cluster; <= 0: all of these
    int cluster;        // TENGINE_CLUSTER_*; negative: TENGINE_CLUSTER_BIG
    int precision;      // TENGINE_MODE_* (defines.h); any other value:
                        // TENGINE_MODE_FP32. A device chooses the nodes that it computes in it; see
                        // docs/precision.md.
    uint64_t affinity;  // mask of CPUs; 0, or one with no CPU in the cluster: the cluster's mask
} options_t;

// ---- Library ----

// Registers operators, serializers and devices. Must come before the functions of the other groups.
// A second call does nothing. Fails with the code of the first registration that fails; the
// message names it, and nothing stays registered.
TENGINE_API int init_tengine(void);

// Undoes init_tengine; does nothing before it. Contexts and graphs that are still alive are
// destroyed first, so that their handles become stale. init_tengine may be called again.
TENGINE_API void release_tengine(void);

// 1 between init_tengine and release_tengine, else 0.
TENGINE_API int tengine_is_initialised(void);

// "<version>-<postfix>". Never NULL.
TENGINE_API const char* get_tengine_version(void);

// 1: programs written for `version` are supported. Any version is.
TENGINE_API int request_tengine_version(const char* version);

// Always NULL: the kernels have no version of their own.
TENGINE_API const char* get_tengine_hcl_version(void);

// The enum tengine_error value (negative) of this thread's last failure, 0 if there was none.
TENGINE_API int get_tengine_errno(void);

// The message of this thread's last failure, "" if there was none: the object, the fault, the
// values, and the values that are expected. Valid until this thread's next failure or clear.
TENGINE_API const char* get_tengine_error(void);

// Clears this thread's last failure. Returns 0.
TENGINE_API int clr_tengine_errno(void);

// ---- Context: an ordered list of devices, best first, with their options ----
// The CPU takes the nodes that every other device refuses, whether it is in the list or not.

// `context_name` may be NULL. With `empty_context` 0 the list holds the default device
// (set_default_device), otherwise it is empty.
TENGINE_API context_t create_context(const char* context_name, int empty_context);

// Releases the context and invalidates its handle. Graphs created with it stay valid; the context
// is freed with the last of them. NULL does nothing.
TENGINE_API void destroy_context(context_t context);

// Count of devices in the list.
TENGINE_API int get_context_device_number(context_t context);

// Appends a device, without options. "CPU" always stays last.
// Fails with TENGINE_ENOENT (no such device), TENGINE_EEXIST (already in the list).
TENGINE_API int add_context_device(context_t context, const char* dev_name);

// Appends a device with options: `dev_opt_size` bytes are copied from `dev_option`, unless it is
// NULL; the targets of pointers in it are not copied. The header of the device defines the struct.
// Fails as add_context_device, and with TENGINE_EINVAL (option without size, or size without
// option).
TENGINE_API int set_context_device(context_t context, const char* dev_name, const void* dev_option,
                                   size_t dev_opt_size);

// Removes a device from the list. A NULL name does nothing.
// Fails with TENGINE_ENOENT (not in the list).
TENGINE_API int remove_context_device(context_t context, const char* dev_name);

// Options by key, all strings. The core's, such as "split.prune" or "scheduler", are listed by
// tengine_option_get_name of inspect.h; docs/options.md explains them. "<device>.<key>" is an
// option of that device, which must already be in the list. Options take effect at the next
// prerun_graph of a graph of this context.
// Fail with TENGINE_ENOENT (no such option, no such device in the list; the message lists the
// valid ones), TENGINE_EINVAL (NULL, not a number), TENGINE_ERANGE (a number outside the range).
TENGINE_API int tengine_context_set_option(context_t context, const char* key, const char* value);
// The value set last, or the default; answers NULL with TENGINE_ENOENT for a device's option that
// was not set. Valid until the option is set again or the context is freed.
TENGINE_API const char* tengine_context_get_option(context_t context, const char* key);

// A context has no attributes; its options have keys (tengine_context_set_option): fails with
// TENGINE_ENOTSUP.
TENGINE_API int set_context_attr(context_t context, const char* attr_name, const void* val,
                                 int val_size);
TENGINE_API int get_context_attr(context_t context, const char* attr_name, void* val, int val_size);

// ---- Graph ----

// Creates a graph, by `model_format`:
//   NULL            an empty graph, layout NCHW, to be filled by hand; `file_name` is not used.
//   "onnx"          loads the ONNX file `file_name` and the files of external data it names.
//   "tengine"       loads the tmfile `file_name`, "tflite" a model of TensorFlow Lite.
//                   Files up to 16 MiB are copied; larger ones are mapped, and weights are used in
//                   place: when a file changes in place (not by a rename), prerun_graph, run_graph,
//                   wait_graph and save_graph fail with TENGINE_EIO (option model.map).
//   "tengine:m"     loads a tmfile ("tflite:m": a .tflite) from memory: `file_name` is the address
//                   of the bytes, cast to const char*, and an `int`, their number, must follow. As
//                   in Tengine Lite the graph takes ownership of the block: it must be malloc()'s,
//                   destroy_graph frees it, and until then the weights are in it. When create_graph
//                   fails, the block is the caller's. ":m" with an unknown format is the same.
//   "tengine:view"  the same, without ownership: the bytes stay the caller's, are only read, and
//                   must stay unchanged until the graph is destroyed.
//   "onnx:m"        loads an ONNX model from memory. The bytes stay the caller's and may be freed
//                   as soon as create_graph returns. "onnx:view" is the same.
// The graph keeps `context` alive when that is destroyed first. NULL: a context of the graph's own,
// with the default device. Fails with TENGINE_EINVAL (no file name, size not positive),
// TENGINE_EIO, TENGINE_EFORMAT and TENGINE_EGRAPH (the message states the fault of the file),
// TENGINE_EOPERATOR (the message names the operators that are not supported), TENGINE_ELIMIT (a
// tmfile that would take many times its size) and TENGINE_ENOENT (no such format).
TENGINE_API graph_t create_graph(context_t context, const char* model_format, const char* file_name,
                                 ...);

// Frees the graph with its nodes, tensors and prepared work. Fails with TENGINE_ESTATE (called from
// an event hook of the graph).
TENGINE_API int destroy_graph(graph_t graph);

// Sets the layout that tensors created from now on are tagged with; no data is transposed.
// Fails with TENGINE_EINVAL (neither TENGINE_LAYOUT_NCHW nor TENGINE_LAYOUT_NHWC).
TENGINE_API int set_graph_layout(graph_t graph, int layout_type);

// Replaces the input or output nodes by those with these names. The output tensors that an input
// node has at this time are fed by the user; those of an output node are the results, have memory
// of their own, and other nodes may read them, too. Must be called when a graph is built by hand,
// after the tensors were connected.
// Any node can be either, so a part of a graph can be run: an input node that computes is not run,
// and only the nodes and inputs that the output nodes need are run and fed. The tensors of such an
// input node have the shape and type that the file or an earlier prerun_graph gave them, or else
// need set_tensor_shape; when it is no longer an input node, it computes again.
// Fails with TENGINE_EINVAL (NULL, number <= 0, a node named twice), TENGINE_ENOENT (no such node).
TENGINE_API int set_graph_input_node(graph_t graph, const char* input_nodes[], int input_number);
TENGINE_API int set_graph_output_node(graph_t graph, const char* output_nodes[], int output_number);

// Number of input and output nodes, 0 in an empty graph.
TENGINE_API int get_graph_input_node_number(graph_t graph);
TENGINE_API int get_graph_output_node_number(graph_t graph);

// Fail with TENGINE_ERANGE.
TENGINE_API node_t get_graph_input_node(graph_t graph, int idx);
TENGINE_API node_t get_graph_output_node(graph_t graph, int idx);

// Output tensor `tensor_idx` of an input node, or of an output node. Fail with TENGINE_ERANGE.
TENGINE_API tensor_t get_graph_input_tensor(graph_t graph, int input_node_idx, int tensor_idx);
TENGINE_API tensor_t get_graph_output_tensor(graph_t graph, int output_node_idx, int tensor_idx);

// The inputs and outputs by tensor, in the order of the file or of the nodes given to
// set_graph_input_node and set_graph_output_node. These functions follow the model where a node has
// outputs that are not outputs of the model, and where the file's order is not that of its nodes.
// Getters by index fail with TENGINE_ERANGE.
TENGINE_API int tengine_graph_get_input_number(graph_t graph);
TENGINE_API tensor_t tengine_graph_get_input(graph_t graph, int index);
TENGINE_API int tengine_graph_get_output_number(graph_t graph);
TENGINE_API tensor_t tengine_graph_get_output(graph_t graph, int index);

// A graph has no attributes in this version: fails with TENGINE_ENOTSUP.
TENGINE_API int set_graph_attr(graph_t graph, const char* attr_name, const void* buf, int size);
TENGINE_API int get_graph_attr(graph_t graph, const char* attr_name, void* buf, int size);

// Puts one device in front of the context's list, for this graph, from the next prerun_graph on.
// Fails with TENGINE_ENOENT (no such device).
TENGINE_API int set_graph_device(graph_t graph, const char* dev_name);

// Sets which devices nodes may run on, from the next prerun_graph on. `nodes`: a name in which
// * stands for any characters and ? for one, or "op:<operator>" ("op:Softmax"). `devices`: the only
//   devices that may run them ("TPU" or "TPU,CPU"), or with a leading ! the devices that may not
//   ("!TPU"). "TPU#2" puts them into group 2 there: nodes of different groups of a device share no
//   part.
// The last call that matches a node applies to it. A node that none of these devices takes still
// runs on the CPU, and the report says so; nodes that name the CPU do not count as fallback. A part
// with a node whose affinity names the part's device is not moved for its cost.
// Fails with TENGINE_EINVAL (NULL or empty, no group), TENGINE_ENOENT (no node of the graph
// matches, and prerun_graph turns none into such an operator of ONNX; no such device).
TENGINE_API int tengine_graph_set_affinity(graph_t graph, const char* nodes, const char* devices);

// Prints nodes and tensors as log lines of LOG_INFO; call set_log_level(LOG_INFO) to see them.
TENGINE_API void dump_graph(graph_t graph);

// Writes the graph to a file, with its constants and their present values. `model_format` is
// "tengine" (a tmfile, weights aligned to 64 bytes) or "onnx": for the opset of the context's
// option model.opset, 7 to 28, with the operators' forms of that opset; 0: 21, or the first opset
// after it that has all operators; an older opset of the model, with a warning, where the meaning
// of its nodes depends on unknown shapes. A graph is written as it is when its operators are those
// of the format. Otherwise they are translated with the present input shapes, which must be
// complete: ONNX's operators become Tengine's, which Tengine Lite can load; a node without an
// equivalent is logged with the reason and stored under its ONNX name, which only tengine loads.
// Quantised ONNX models become tmfiles with int8 and uint8 tensors. An ONNX file has only the nodes
// that the outputs need. Thread rule: as every function on the graph; not while it runs. Returns 0,
// or -1: TENGINE_ENOENT no such format, TENGINE_ENOTSUP a format that cannot be written, or an
// operator that the format or the opset does not have, TENGINE_EINVAL an input without complete
// shape, TENGINE_ELIMIT too large (4 GiB; ONNX without external data 2 GiB), TENGINE_EIO. The
// complete file replaces an old one, also the file that the graph was loaded from.
TENGINE_API int save_graph(graph_t graph, const char* model_format, const char* file_name, ...);

// ---- Nodes ----

// Appends a node. `op_name` is the name of one of Tengine's operators ("Convolution", "ReLU"), or
// of one of ONNX's ("Conv", "Relu") in its newest supported version; where both have an operator of
// one name, such as "Softmax", "ai.onnx.Softmax" is ONNX's. "InputOp" (its output is fed by the
// user) and "Const" (its output is constant) stand for tensors, "Generic" for an operator that only
// the program's custom kernel knows: its attribute "op_name" can say which. Attributes have the
// names and defaults of Tengine's parameter structs, or of ONNX. Fails with TENGINE_EINVAL (a name
// is NULL or empty), TENGINE_EEXIST (the name is taken), TENGINE_EOPERATOR (no such operator).
TENGINE_API node_t create_graph_node(graph_t graph, const char* node_name, const char* op_name);

// Appends a node as an ONNX file describes it: operator `op_name` of `domain` ("" or "ai.onnx" is
// ONNX's), with the meaning that it has in version `opset` of the domain's operators; 0: in the
// newest supported version. An operator of a domain that only the program knows is "Generic" above.
// Fails as create_graph_node, with TENGINE_EINVAL (a negative opset) and TENGINE_EOPERATOR (no such
// operator, or none in this version; the message lists the versions that have it).
TENGINE_API node_t tengine_graph_add_node(graph_t graph, const char* node_name, const char* domain,
                                          const char* op_name, int opset);

// The node of this name. Fails with TENGINE_ENOENT.
TENGINE_API node_t get_graph_node(graph_t graph, const char* node_name);

// Nodes in the order of the file or of their creation. The getter fails with TENGINE_ERANGE.
TENGINE_API node_t get_graph_node_by_idx(graph_t graph, int idx);
TENGINE_API int get_graph_node_num(graph_t graph);

// Name and operator, never NULL for a live node. A node without a name in the file gets a generated
// one.
TENGINE_API const char* get_node_name(node_t node);
TENGINE_API const char* get_node_op(node_t node);

// Name of the device that runs the node. Before prerun_graph, and for a node that the preparation
// folded or merged into others, it is the first device in the graph's list.
TENGINE_API const char* get_node_device(node_t node);

// Does nothing: handles need no release.
TENGINE_API void release_graph_node(node_t node);

// Counts of inputs and outputs, including omitted optional ones.
TENGINE_API int get_node_input_number(node_t node);
TENGINE_API int get_node_output_number(node_t node);

// Fail with TENGINE_ERANGE. Answer NULL with TENGINE_ENOENT for an omitted optional one.
TENGINE_API tensor_t get_node_input_tensor(node_t node, int input_idx);
TENGINE_API tensor_t get_node_output_tensor(node_t node, int output_idx);

// Connect a tensor of the node's graph in place of the present one. Indices that are skipped count
// as omitted; prerun_graph rejects the graph if the operator requires them. A tensor has one
// producer; `tensor_type` is TENSOR_TYPE_VAR, _CONST, _INPUT or _DEP.
// Fail with TENGINE_EINVAL (tensor of another graph, bad type), TENGINE_ERANGE (index < 0, or more
// than the operator takes), TENGINE_EEXIST (the tensor has another producer).
TENGINE_API int set_node_input_tensor(node_t node, int input_idx, tensor_t tensor);
TENGINE_API int set_node_output_tensor(node_t node, int output_idx, tensor_t tensor,
                                       int tensor_type);

// ---- Attributes of a node: the names of ONNX ("kernel_shape") or of Tengine ("kernel_h") ----
// All fail with TENGINE_ENOENT (the operator has no such attribute; the message lists its
// attributes) and TENGINE_EINVAL (NULL; another type than the attribute's); setters also with
// TENGINE_ERANGE (a value outside the operator's range).

// Adds an attribute to those of the node's operator, not set yet (0, empty). `type_name` is as in
// set_node_attr_generic; `size` is not used. Only "Generic" nodes, which stand for unknown
// operators, can have such; those loaded from a file have the attributes of the file. Fails with
// TENGINE_EINVAL (NULL, no such type), TENGINE_EEXIST (the name is taken), TENGINE_ENOTSUP (any
// other operator), TENGINE_ELIMIT (too many).
TENGINE_API int add_node_attr(node_t node, const char* attr_name, const char* type_name, int size);

// One number.
TENGINE_API int get_node_attr_int(node_t node, const char* attr_name, int* attr_val);
TENGINE_API int get_node_attr_float(node_t node, const char* attr_name, float* attr_val);
TENGINE_API int set_node_attr_int(node_t node, const char* attr_name, const int* attr_val);
TENGINE_API int set_node_attr_float(node_t node, const char* attr_name, const float* attr_val);

// Attributes that are pointers in Tengine's parameter structs; `attr_val` is the address of such a
// pointer variable. The values it points to are copied when it is set:
//   int*, float*    as many elements as their count attribute ("dim_size" for "re_shape"), which
//                   must be set first
//   struct vector*  (tengine/vector.h) where Tengine has one: "slice_point_", "ratios"; elements
//                   are int, float, or structs of float
//   char*           a string up to the NUL
// Getting returns a pointer owned by the node, valid until the attribute is set, this is called for
// it again, or the graph is destroyed; NULL where nothing is set.
// Setting also fails with TENGINE_EINVAL for a list without a count attribute: use
// set_node_attr_generic, which also updates a count attribute.
TENGINE_API int get_node_attr_pointer(node_t node, const char* attr_name, void* attr_val);
TENGINE_API int set_node_attr_pointer(node_t node, const char* attr_name, const void* attr_val);

// A value of any type, `size` bytes at `buf`, aligned to its elements. `type_name` is the type of
// the value:
//   "int"       one int                  "float"    one float
//   "int[]"     int, size / 4 of them    "float[]"  float, size / 4 of them
//   "int64[]"   int64_t, size / 8        "tensor"   one tensor_t, whose shape and data are copied;
//                                                   set only
//   "string"    characters; set: up to `size` or the first NUL; get: ended by a NUL
//   "string[]"  const char*, size / sizeof(char*) of them; set: copied; get: the node's own
// A getter whose `buf` is too small fails with TENGINE_ERANGE. tengine_node_get_attr_number returns
// the number of elements (for a string: of characters without the NUL), 0 if it is not set.
TENGINE_API int get_node_attr_generic(node_t node, const char* attr_name, const char* type_name,
                                      void* buf, int size);
TENGINE_API int set_node_attr_generic(node_t node, const char* attr_name, const char* type_name,
                                      const void* buf, int size);
TENGINE_API int tengine_node_get_attr_number(node_t node, const char* attr_name);

// Sets a kernel of the program for one node, which it runs from the next prerun_graph on.
// `dev_name` is "CPU" or NULL. The struct stays the program's: the functions get its address, so it
// may be part of a larger one; it must live until its `release` is called, once, by
// remove_custom_kernel or when the graph is destroyed. custom_kernel.h describes each function.
// Unknown operators (get_node_op is "Generic") need such a kernel. remove_custom_kernel undoes the
// preparation, as postrun_graph does, and removes the kernel, even when its postrun fails.
// Both fail with TENGINE_ENOTSUP (another device), TENGINE_ESTATE (the graph is running); the first
// with TENGINE_EINVAL (NULL, no function run, `op` names another operator, a node that computes
// nothing), TENGINE_EEXIST (the node has one); the second with TENGINE_ENOENT (it has none).
TENGINE_API int set_custom_kernel(node_t node, const char* dev_name,
                                  struct custom_kernel_ops* kernel_ops);
TENGINE_API int remove_custom_kernel(node_t node, const char* dev_name);

// ---- Tensors ----

// A new tensor of the graph: TENSOR_TYPE_VAR, no shape, no data, the graph's layout. The name is
// copied. Fails with TENGINE_EINVAL (name is NULL or empty), TENGINE_EEXIST (name is taken),
// TENGINE_EDTYPE (`data_type` is not a TENGINE_DT_*).
TENGINE_API tensor_t create_graph_tensor(graph_t graph, const char* tensor_name, int data_type);

// The tensor of this name. Fails with TENGINE_ENOENT.
TENGINE_API tensor_t get_graph_tensor(graph_t graph, const char* tensor_name);

TENGINE_API const char* get_tensor_name(tensor_t tensor);

// Does nothing: handles need no release.
TENGINE_API void release_graph_tensor(tensor_t tensor);

// Writes the dimensions and returns their count: 0 for a scalar, and while no shape is known. An
// unknown dimension is -1. Shapes of computed tensors are known after prerun_graph. Fails with
// TENGINE_EINVAL (NULL), TENGINE_ERANGE (`dim_number`, the size of `dims`, is too small).
TENGINE_API int get_tensor_shape(tensor_t tensor, int dims[], int dim_number);

// Takes effect at the next prerun_graph (see "States"). If the size changes, the library drops its
// data for the tensor, and the user's buffer.
// Fails with TENGINE_ERANGE (more than MAX_SHAPE_DIM_NUM dimensions, or fewer than 0; a dimension
// < 0; more bytes than an address can hold), TENGINE_EINVAL (NULL).
TENGINE_API int set_tensor_shape(tensor_t tensor, const int dims[], int dim_number);

// Bytes of the data: element size x elements; 0 while the shape is not known. The first fails with
// TENGINE_ERANGE if that is more than an int can hold; the second does not.
TENGINE_API int get_tensor_buffer_size(tensor_t tensor);
TENGINE_API int64_t tengine_tensor_get_buffer_size(tensor_t tensor);

// The data, or NULL: TENGINE_ESTATE with the reason why the tensor has none, or TENGINE_ENOMEM,
// since a constant that is not aligned in its file must be copied.
//   constant      data of the model or the user; must not be written to after prerun_graph
//   input         the user's buffer, or the memory that set_tensor_data has allocated
//   graph output  the results of the last run, until postrun_graph, prerun_graph or destroy_graph;
//                 runs with the scheduler "pipeline", or that decide shapes, may move them
//   others        NULL: intermediate memory is shared and undefined after a run
TENGINE_API void* get_tensor_buffer(tensor_t tensor);

// Lends the library a buffer of exactly get_tensor_buffer_size bytes, for an input, a constant or a
// graph output (one for both past and present of a cache: docs/memory.md). It stays the caller's
// and must live until it is replaced, the shape is changed, or the graph is destroyed. Legal before
// and after prerun_graph and between runs; aligned to its elements. NULL with size 0 removes it; an
// output then needs prerun_graph again. TENGINE_EINVAL: another size, no shape, a computed tensor.
TENGINE_API int set_tensor_buffer(tensor_t tensor, void* buffer, int buffer_size);

// Copies all data of the tensor. Fails with TENGINE_EINVAL (NULL), TENGINE_ERANGE (`data_size` is
// less than the size of the data), TENGINE_ESTATE (the tensor has no data).
TENGINE_API int get_tensor_data(tensor_t tensor, void* output_data, int data_size);

// Sets the first `data_size` bytes of an input or a constant by a copy; memory is allocated if the
// tensor has none. Fails with TENGINE_EINVAL (NULL, not an input or a constant, no shape yet),
// TENGINE_ERANGE (`data_size` < 0, or more than the tensor has).
TENGINE_API int set_tensor_data(tensor_t tensor, const void* input_data, int data_size);

// TENGINE_DT_*; TENGINE_DT_UNKNOWN for a computed tensor whose type neither the model nor
// prerun_graph has defined yet. Setting a type with another element size changes
// get_tensor_buffer_size and drops the data. Fails with TENGINE_EDTYPE.
TENGINE_API int get_tensor_data_type(tensor_t tensor);
TENGINE_API int set_tensor_data_type(tensor_t tensor, int data_type);

// TENGINE_LAYOUT_*: a tag that custom kernels see; no data is transposed for it. A model in NHWC is
// converted when it is loaded; its inputs are then NCHW. Setting fails with TENGINE_EINVAL.
TENGINE_API int get_tensor_layout(tensor_t tensor);
TENGINE_API int set_tensor_layout(tensor_t tensor, int layout);

// Quantisation: real = scale x (stored - zero_point); one pair for the tensor or one for each
// channel. Setting copies `number` pairs and fails with TENGINE_EINVAL (NULL, number < 1). The
// getter writes the pairs and returns their count, 0 without any; it fails with TENGINE_ERANGE
// (`number`, the size of the arrays, is too small).
TENGINE_API int set_tensor_quant_param(tensor_t tensor, const float* scale, const int* zero_point,
                                       int number);
TENGINE_API int get_tensor_quant_param(tensor_t tensor, float* scale, int* zero_point, int number);

// ---- Execution ----

// Prepares the graph: infers shapes, splits the graph among the devices, lets each compile its
// parts, and plans the memory. prerun_graph is prerun_graph_multithread with one thread,
// TENGINE_CLUSTER_BIG, TENGINE_MODE_FP32 and no affinity, or what set_graph_thread and
// set_graph_thread_mask have set. Fails with TENGINE_ESTATE (running), TENGINE_EGRAPH (no inputs or
// outputs, a node without a required input, a cycle), TENGINE_EINVAL and TENGINE_EDTYPE (shapes or
// types that do not fit; the message names the node; a model without scales in TENGINE_MODE_INT8 or
// TENGINE_MODE_UINT8, which the option "precision.float" may allow), TENGINE_ENOENT (the option
// "scheduler" names an unknown one), TENGINE_EFALLBACK (more would run on the CPU than the
// context's options allow), TENGINE_ELIMIT (it would hold more than the option "memory.limit_mb"),
// TENGINE_ECANCELED (tengine_graph_cancel), TENGINE_EDEVICE or another code of the CPU. Parts that
// another device fails to prepare run on the CPU.
TENGINE_API int prerun_graph(graph_t graph);
TENGINE_API int prerun_graph_multithread(graph_t graph, struct options opt);

// Cancels a prerun_graph of this graph on another thread, which ends between two nodes or two parts
// with TENGINE_ECANCELED and leaves the graph as after postrun_graph; or cancels its runs that have
// not ended, blocking or in flight, which fail with this code (tengine/run.h). Any thread may call
// it while the graph is not destroyed, but no signal handler. It does not wait. TENGINE_ESTATE:
// there is nothing to cancel.
TENGINE_API int tengine_graph_cancel(graph_t graph);

// Runs the graph, any number of times. With `block` not 0 it returns when the results are ready.
// With 0 it may return earlier, and wait_graph waits for the results; the default scheduler "sync"
// has always finished by then, "pipeline" never waits. Each of several runs in flight reads the
// inputs as they are when run_graph starts it. No memory is allocated when all shapes are known
// before the run and no device fails. A part whose device fails, or does not return within the
// option "run.watchdog_ms", is run on the CPU, from then on until the next prerun_graph, unless the
// context's options forbid that. Rounds of a Loop, Scan or SequenceMap on the CPU that take longer
// end the run.
// Fails with TENGINE_ESTATE (not prepared, changed since; called from a hook; `block` not 0 with
// runs in flight; prepared with threads before fork()), TENGINE_ELIMIT (the scheduler takes no more
// runs in flight), TENGINE_EINVAL (an input without data, which the message names),
// TENGINE_ECANCELED (tengine/run.h), TENGINE_EDEVICE or another code of the device.
TENGINE_API int run_graph(graph_t graph, int block);

// State of the oldest run in flight, or of the last run: 1 finished, 0 not yet. With `try_wait` 0
// waits until it has finished. Runs end here one by one in the order of run_graph: the outputs hold
// the results of this one until the next call of wait_graph or a blocking run_graph, and a failure
// is that of this run.
// Fails with TENGINE_ESTATE (no run since prerun_graph; the run was started before fork()) or as
// the run.
TENGINE_API int wait_graph(graph_t graph, int try_wait);

// Releases the memory and objects that a run needs. Output buffers become invalid.
TENGINE_API int postrun_graph(graph_t graph);

// GRAPH_STAT_*; see "States" at the top.
TENGINE_API int get_graph_exec_status(graph_t graph);

// Sets `cb_func` to be called with `cb_arg` when a run starts (GRAPH_EXEC_START), has succeeded
// (GRAPH_EXEC_DONE) or failed (GRAPH_EXEC_ABORT), by the thread that called run_graph or, for a run
// in flight, wait_graph. One function for each event; NULL removes it. It must not call the
// Execution functions or destroy the graph.
// Fails with TENGINE_EINVAL (not a GRAPH_EXEC_*).
TENGINE_API int set_graph_event_hook(graph_t graph, int event, event_handler_t cb_func,
                                     void* cb_arg);

// Mask of the CPUs in a cluster; all CPUs if all cores are equal, or if `cluster` is not a
// TENGINE_CLUSTER_*. It has no CPUs above 63.
TENGINE_API size_t get_cluster_affinity_mask(int cluster);

// The next prerun_graph uses these instead of its defaults. `threads` <= 0: all of the cluster;
// `cpu_mask` 0: the cluster's. Fail with TENGINE_EINVAL (not a TENGINE_CLUSTER_*).
TENGINE_API int set_graph_thread(graph_t graph, int cluster, int threads);
TENGINE_API int set_graph_thread_mask(graph_t graph, size_t cpu_mask);

// The device of non-empty contexts created from now on: "CPU" after init_tengine. Setting fails
// with TENGINE_ENOENT (no such device).
TENGINE_API int set_default_device(const char* device);
TENGINE_API const char* get_default_device(void);

// ---- Log ----

// Lines less severe than `level` are not printed. After start: LOG_NOTICE. Process-wide.
TENGINE_API void set_log_level(enum log_level level);

// Replaces the sink, standard error after start and with NULL. A line has at most 255 characters.
// The function runs on the thread that logs, on several at once. Process-wide.
TENGINE_API void set_log_output(log_print_t func);

// The same for a function that also gets the severity, and up to 1023 characters of the line.
// The lines go to the function that was set last.
TENGINE_API void tengine_log_set_sink(tengine_log_sink_t func);

TENGINE_EXTERN_C_END
