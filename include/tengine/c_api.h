// SPDX-License-Identifier: Apache-2.0
// The C API: load a model or build one node by node, name the devices, prepare, run. Source
// compatible with Tengine Lite. What a program needs to look inside a graph, and to list devices
// and operators, is in inspect.h; device authors start at device.h.
//
// Rules that hold for every function and are not repeated below:
//
// - Functions that return `int` give 0 (or what their comment says) on success and -1 on failure;
//   functions that return a handle or a pointer give NULL on failure. Every failure records, for
//   the calling thread, a code (get_tengine_errno) and a sentence (get_tengine_error). "Fails
//   with" lists these codes. Ask after a failure only: a success may clear the record.
// - A handle that is NULL, was destroyed, or is of another kind fails with TENGINE_EHANDLE. One
//   thing cannot be detected: an old handle whose address was given to a new object of its kind.
// - Before init_tengine every function fails with TENGINE_ESTATE, except those of the groups
//   Library and Log.
// - TENGINE_ENOMEM can come from every function that creates something.
// - Nodes and tensors belong to their graph and die with it. Returned strings belong to the
//   library and live as long as the object they describe.
// - Threads: different graphs may be used by different threads at the same time. One graph, with
//   its nodes and tensors, must be used by one thread at a time. A context may be shared by
//   graphs of several threads; changing it must not overlap with its use, and a run that is under
//   way uses it. init_tengine and release_tengine must not overlap with anything.
//
// States of a graph, as get_graph_exec_status tells them:
//
//     CREATED --prerun--> READY --run--> RUNNING --last one finished--> READY
//                           |                        `it failed--> ERROR
//                           `--postrun--> DONE --prerun--> READY
//
// - prerun_graph is legal in every state but RUNNING; on a prepared graph it implies
//   postrun_graph. When it fails nothing is prepared, and the state is CREATED or DONE.
// - run_graph needs READY, or ERROR after a failed run, and otherwise fails with TENGINE_ESTATE.
//   With `block` 0 it is legal in RUNNING as well while fewer runs are under way than the scheduler
//   takes: the option "pipeline.frames" of the scheduler "pipeline", 1 of the others.
// - Changing the graph (new nodes or tensors, links, attributes, shapes, data types, quantisation,
//   the inputs and outputs, the data of a constant, layouts, the device, affinity) is legal in
//   every state but RUNNING. What is prepared stays as it was, and run_graph fails with
//   TENGINE_ESTATE until prerun_graph has been called again. Setting a shape to what it is already
//   changes nothing, and neither does giving inputs and outputs other buffers or data. With the
//   scheduler "pipeline" the latter is legal in RUNNING too: it has copied the inputs of the runs
//   under way, and an output buffer counts when wait_graph is called.
// - postrun_graph is legal in every state but RUNNING; without a preceding prerun_graph it does
//   nothing. destroy_graph is legal in every state and waits for the runs that are under way; from
//   within an event hook it fails with TENGINE_ESTATE.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/defines.h"
#include "tengine/error.h"

#if defined(_MSC_VER)
#define DLLEXPORT __declspec(dllexport)
#define DEPRECATED_BEFORE __declspec(deprecated)
#define DEPRECATED_AFTER
#elif defined(__GNUC__)
#define DLLEXPORT __attribute__((visibility("default")))
#define DEPRECATED_BEFORE
#define DEPRECATED_AFTER __attribute__((deprecated))
#else
#define DLLEXPORT
#define DEPRECATED_BEFORE
#define DEPRECATED_AFTER
#endif

// Groups of CPU cores that the threads of a graph may use.
#define TENGINE_CLUSTER_ALL 0
#define TENGINE_CLUSTER_BIG 1     // the fastest cores
#define TENGINE_CLUSTER_MEDIUM 2  // those between
#define TENGINE_CLUSTER_LITTLE 3  // the slowest cores

// Left over from functions that Tengine Lite had removed; kept so that programs compile.
#define NODE_DUMP_ACTION_DISABLE 0
#define NODE_DUMP_ACTION_ENABLE 1
#define NODE_DUMP_ACTION_START 2
#define NODE_DUMP_ACTION_STOP 3
#define NODE_DUMP_ACTION_GET 4
#define GRAPH_PERF_STAT_DISABLE 0
#define GRAPH_PERF_STAT_ENABLE 1
#define GRAPH_PERF_STAT_STOP 2
#define GRAPH_PERF_STAT_START 3
#define GRAPH_PERF_STAT_RESET 4
#define GRAPH_PERF_STAT_GET 5

#ifdef __cplusplus
extern "C" {
#endif

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

enum graph_exec_stat
{
    GRAPH_STAT_CREATED,
    GRAPH_STAT_READY,
    GRAPH_STAT_RUNNING,
    GRAPH_STAT_DONE,
    GRAPH_STAT_ERROR
};

// Kept so that programs compile; no function takes it.
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

// How prerun_graph_multithread prepares a graph.
typedef struct options
{
    int num_thread;     // threads wanted, capped to the cores of the cluster; <= 0: all of these
    int cluster;        // TENGINE_CLUSTER_*; negative: TENGINE_CLUSTER_BIG
    int precision;      // TENGINE_MODE_* (defines.h); any other value: TENGINE_MODE_FP32. What a
                        // device computes in it is the device's choice, node by node; see
                        // docs/precision.md.
    uint64_t affinity;  // mask of CPUs; 0, or one with no CPU in the cluster: the cluster's mask
} options_t;

// A tensor as the functions of custom_kernel_ops get it.
struct custom_kernel_tensor
{
    int dim[MAX_SHAPE_DIM_NUM];
    int dim_num;
    int element_num;
    int element_size;  // bytes
    int data_type;     // TENGINE_DT_*
    int dev_type;
    int layout_type;  // TENGINE_LAYOUT_*
    int quant_type;
    float* scale;
    int* zero_point;
    int* quant_number;
    void* data;
    void* dev_mem;
    void* mapped_mem;
};

// A kernel of the program's own for one node. Entries that are NULL are skipped, a NULL bind takes
// everything, 0 is success and -1 failure. Shapes given to infer_shape are MAX_SHAPE_DIM_NUM
// integers ended by a 0; inplace_info names the input an output may share memory with, or -1.
struct custom_kernel_ops
{
    const char* kernel_name;
    const char* op;
    int force;
    void* kernel_param;
    int kernel_param_size;
    int (*infer_shape)(struct custom_kernel_ops* ops, const int* inputs[], int input_num,
                       int* outputs[], int output_num, int layout);
    int (*inplace_info)(struct custom_kernel_ops* ops, int output_idx);
    int (*bind)(struct custom_kernel_ops* ops, const struct custom_kernel_tensor* inputs[],
                int input_num, const struct custom_kernel_tensor* outputs[], int output_num);
    int (*prerun)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                  int input_num, struct custom_kernel_tensor* outputs[], int output_num,
                  int dynamic_shape);
    int (*reshape)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                   int input_num, struct custom_kernel_tensor* outputs[], int output_num);
    int (*run)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[], int input_num,
               struct custom_kernel_tensor* outputs[], int output_num);
    int (*postrun)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                   int input_num, struct custom_kernel_tensor* outputs[], int output_num);
    void (*release)(struct custom_kernel_ops* ops);
};

// ---- Library ----

// Registers operators, serializers and devices. Must come before the functions of the other groups.
// A second call does nothing. Fails with the code of the first registration that fails; the
// sentence names it, and nothing stays registered.
DLLEXPORT int init_tengine(void);

// Undoes init_tengine; does nothing before it. Contexts and graphs that are still alive are
// destroyed first, so that their handles become stale. init_tengine may be called again.
DLLEXPORT void release_tengine(void);

// "<version>-<postfix>". Never NULL.
DLLEXPORT const char* get_tengine_version(void);

// 1: programs written for `version` are supported. Any version is.
DLLEXPORT int request_tengine_version(const char* version);

// Always NULL: the kernels have no version of their own.
DLLEXPORT const char* get_tengine_hcl_version(void);

// The enum tengine_error value (negative) of this thread's last failure, 0 if there was none.
DLLEXPORT int get_tengine_errno(void);

// The sentence of this thread's last failure, "" if there was none: what was wrong, with the
// values, and what would be accepted. Valid until this thread's next failure or clear.
DLLEXPORT const char* get_tengine_error(void);

// Forgets this thread's last failure. Returns 0.
DLLEXPORT int clr_tengine_errno(void);

// ---- Context: an ordered list of devices, best first, with their options ----
// The CPU takes what every other device refuses, whether it is in the list or not.

// `context_name` may be NULL. With `empty_context` 0 the list holds the default device
// (set_default_device), otherwise it is empty.
DLLEXPORT context_t create_context(const char* context_name, int empty_context);

// Gives the context up: its handle is no longer valid. Graphs created with it go on; the context is
// freed with the last of them. NULL does nothing.
DLLEXPORT void destroy_context(context_t context);

// Devices in the list.
DLLEXPORT int get_context_device_number(context_t context);

// Appends a device, without options. "CPU" always stays last.
// Fails with TENGINE_ENOENT (no such device), TENGINE_EEXIST (is in the list already).
DLLEXPORT int add_context_device(context_t context, const char* dev_name);

// Appends a device with options: `dev_opt_size` bytes are copied from `dev_option`, unless it is
// NULL; what pointers inside point to is not. Which struct a device takes its header says.
// Fails as add_context_device does, and with TENGINE_EINVAL (option without size, or size without
// option).
DLLEXPORT int set_context_device(context_t context, const char* dev_name, const void* dev_option,
                                 size_t dev_opt_size);

// Takes a device out of the list. A NULL name does nothing.
// Fails with TENGINE_ENOENT (not in the list).
DLLEXPORT int remove_context_device(context_t context, const char* dev_name);

// Options by key, all text. The core's, such as "split.prune" or "scheduler", are listed by
// tengine_option_get_name of inspect.h; docs/options.md explains them. "<device>.<key>" is an
// option of that device, which must be in the list already. They count from the next prerun_graph
// of a graph of this context on.
// Fail with TENGINE_ENOENT (no such option, no such device in the list; the sentence lists what
// there is), TENGINE_EINVAL (NULL, not a number), TENGINE_ERANGE (a number outside the range).
DLLEXPORT int tengine_context_set_option(context_t context, const char* key, const char* value);
// The value set last, or the default. NULL with TENGINE_ENOENT also for a device's option that was
// not set. Valid until the option is set again or the context is freed.
DLLEXPORT const char* tengine_context_get_option(context_t context, const char* key);

// A context has no attributes; its options have keys (tengine_context_set_option): fails with
// TENGINE_ENOTSUP.
DLLEXPORT int set_context_attr(context_t context, const char* attr_name, const void* val,
                               int val_size);
DLLEXPORT int get_context_attr(context_t context, const char* attr_name, void* val, int val_size);

// ---- Graph ----

// Creates a graph, by `model_format`:
//   NULL      an empty graph, layout NCHW, to be filled by hand; `file_name` is not used.
//   "onnx"    loads the ONNX file `file_name`.
//   "onnx:m"  loads an ONNX model from memory: `file_name` is the address of the bytes, cast to
//             const char*, and an `int`, their number, must follow. The bytes stay the caller's and
//             may be freed as soon as create_graph returns.
// `context` lives on with the graph when it is destroyed first. NULL: a context of the graph's own,
// with the default device. Fails with TENGINE_EINVAL (no file name, size not positive),
// TENGINE_EIO, TENGINE_EFORMAT and TENGINE_EGRAPH (what is wrong with the file), TENGINE_EOPERATOR
// (lists every operator that is not supported), TENGINE_ENOENT (no such format) and, for "tengine"
// and "tengine:m" in this version, TENGINE_ENOTSUP.
DLLEXPORT graph_t create_graph(context_t context, const char* model_format, const char* file_name,
                               ...);

// Frees the graph with its nodes, tensors and prepared work. Fails with TENGINE_ESTATE (called from
// an event hook of the graph).
DLLEXPORT int destroy_graph(graph_t graph);

// Sets the layout that tensors created from now on are tagged with; no data is transposed.
// Fails with TENGINE_EINVAL (neither TENGINE_LAYOUT_NCHW nor TENGINE_LAYOUT_NHWC).
DLLEXPORT int set_graph_layout(graph_t graph, int layout_type);

// Replaces the input or output nodes by those with these names. The output tensors an input node
// has by now are fed by the user; those of an output node are the results, keep memory of their
// own, and may feed other nodes as well. Must be called when a graph is built by hand, after the
// tensors were connected.
// Fails with TENGINE_EINVAL (NULL, number <= 0, a node named twice), TENGINE_ENOENT (no such node).
DLLEXPORT int set_graph_input_node(graph_t graph, const char* input_nodes[], int input_number);
DLLEXPORT int set_graph_output_node(graph_t graph, const char* output_nodes[], int output_number);

// Number of input and output nodes, 0 in an empty graph.
DLLEXPORT int get_graph_input_node_number(graph_t graph);
DLLEXPORT int get_graph_output_node_number(graph_t graph);

// Fail with TENGINE_ERANGE.
DLLEXPORT node_t get_graph_input_node(graph_t graph, int idx);
DLLEXPORT node_t get_graph_output_node(graph_t graph, int idx);

// Output tensor `tensor_idx` of an input node, or of an output node. Fail with TENGINE_ERANGE.
DLLEXPORT tensor_t get_graph_input_tensor(graph_t graph, int input_node_idx, int tensor_idx);
DLLEXPORT tensor_t get_graph_output_tensor(graph_t graph, int output_node_idx, int tensor_idx);

// The inputs and outputs by tensor, in the order of the file or of the nodes given to
// set_graph_input_node and set_graph_output_node. Where a node has outputs that are not outputs of
// the model, or the file's order is not that of its nodes, these say what the model says.
// Getters by index fail with TENGINE_ERANGE.
DLLEXPORT int tengine_graph_get_input_number(graph_t graph);
DLLEXPORT tensor_t tengine_graph_get_input(graph_t graph, int index);
DLLEXPORT int tengine_graph_get_output_number(graph_t graph);
DLLEXPORT tensor_t tengine_graph_get_output(graph_t graph, int index);

// A graph has no attributes in this version: fails with TENGINE_ENOTSUP.
DLLEXPORT int set_graph_attr(graph_t graph, const char* attr_name, const void* buf, int size);
DLLEXPORT int get_graph_attr(graph_t graph, const char* attr_name, void* buf, int size);

// Puts one device in front of the context's list, for this graph, from the next prerun_graph on.
// Fails with TENGINE_ENOENT (no such device).
DLLEXPORT int set_graph_device(graph_t graph, const char* dev_name);

// Says which devices some nodes may run on, from the next prerun_graph on. `nodes`: a name in which
// * stands for any characters and ? for one, or "op:<operator>" ("op:Softmax"). `devices`: the only
// ones that may have them ("TPU" or "TPU,CPU"), or with a leading ! those that may not ("!TPU").
// For each node the last call that fits it counts. What none of these devices takes runs on the CPU
// all the same, and the report says so; nodes that name the CPU are not counted as fallen back. A
// device's part with a node that names it is not given up for its cost.
// Fails with TENGINE_EINVAL (NULL or empty), TENGINE_ENOENT (no node of the graph fits; no such
// device).
DLLEXPORT int tengine_graph_set_affinity(graph_t graph, const char* nodes, const char* devices);

// Prints nodes and tensors as log lines of LOG_INFO; call set_log_level(LOG_INFO) to see them.
DLLEXPORT void dump_graph(graph_t graph);

// Writes the graph to a file, with its constants and their present values. `model_format` is
// "tengine" (a tmfile, whose weights are aligned to 64 bytes) or "onnx" (opset 21, or that of the
// ONNX model the graph was loaded from). A graph is written as it is when its operators are those
// of the format. Otherwise they are translated with the present input shapes, which must be
// complete: ONNX's operators become Tengine's where these say the same, so that Tengine Lite can
// load the file, and each node for which there is none is logged as a warning with the reason and
// stored under its ONNX name, which only tengine loads. Quantised ONNX models (QuantizeLinear,
// DequantizeLinear) give tmfiles of int8 and uint8 tensors whose program converts inputs and
// outputs itself.
// Thread rule: as every function on the graph; not while it runs. Returns 0, or -1:
// TENGINE_ENOENT no such format, TENGINE_ENOTSUP one that cannot be written or an operator that
// cannot be said in it, TENGINE_EINVAL an input without complete shape, TENGINE_ELIMIT too large
// for the format (4 GiB, 2 GiB for ONNX), TENGINE_EIO the file cannot be written; no file is left
// half-written.
DLLEXPORT int save_graph(graph_t graph, const char* model_format, const char* file_name, ...);

// ---- Nodes ----

// Appends a node. `op_name` is the name of an ONNX operator ("Conv", "Relu"), of its newest version
// that is known, or "InputOp" (its output is fed by the user) or "Const" (its output is constant).
// Attributes have ONNX's names and defaults.
// Fails with TENGINE_EINVAL (a name is NULL or empty), TENGINE_EEXIST (node name is taken),
// TENGINE_EOPERATOR (no such operator).
DLLEXPORT node_t create_graph_node(graph_t graph, const char* node_name, const char* op_name);

// The node of this name. Fails with TENGINE_ENOENT.
DLLEXPORT node_t get_graph_node(graph_t graph, const char* node_name);

// Nodes in the order of the file or of their creation. The getter fails with TENGINE_ERANGE.
DLLEXPORT node_t get_graph_node_by_idx(graph_t graph, int idx);
DLLEXPORT int get_graph_node_num(graph_t graph);

// Name and operator, never NULL for a live node. Where the file gives none a name is made up.
DLLEXPORT const char* get_node_name(node_t node);
DLLEXPORT const char* get_node_op(node_t node);

// Name of the device that runs the node; of a node that the preparation folded or merged away, and
// before prerun_graph, of the first device in the graph's list.
DLLEXPORT const char* get_node_device(node_t node);

// Does nothing: handles need no release.
DLLEXPORT void release_graph_node(node_t node);

// Places for inputs and outputs, including those of optional ones that are left out.
DLLEXPORT int get_node_input_number(node_t node);
DLLEXPORT int get_node_output_number(node_t node);

// Fail with TENGINE_ERANGE and, where an optional one is left out, TENGINE_ENOENT.
DLLEXPORT tensor_t get_node_input_tensor(node_t node, int input_idx);
DLLEXPORT tensor_t get_node_output_tensor(node_t node, int output_idx);

// Connect a tensor of the same graph; one that was there is replaced. Places that are skipped count
// as left out; prerun_graph rejects the graph if the operator cannot do without. A tensor has one
// producer; `tensor_type` is TENSOR_TYPE_VAR, _CONST, _INPUT or _DEP.
// Fail with TENGINE_EINVAL (tensor of another graph, bad type), TENGINE_ERANGE (index < 0, or more
// than the operator takes), TENGINE_EEXIST (the tensor has another producer).
DLLEXPORT int set_node_input_tensor(node_t node, int input_idx, tensor_t tensor);
DLLEXPORT int set_node_output_tensor(node_t node, int output_idx, tensor_t tensor, int tensor_type);

// ---- Attributes of a node: ONNX's names ("kernel_shape", "axis", "alpha") ----
// All fail with TENGINE_ENOENT (the operator has no such attribute; the sentence lists those it
// has), TENGINE_EINVAL (NULL; another type than the attribute's) and, when setting, with
// TENGINE_ERANGE (value outside what the operator allows).

// Operators have the attributes that ONNX gives them; adding one fails with TENGINE_EEXIST if it is
// there and TENGINE_ENOTSUP otherwise.
DLLEXPORT int add_node_attr(node_t node, const char* attr_name, const char* type_name, int size);

// One number.
DLLEXPORT int get_node_attr_int(node_t node, const char* attr_name, int* attr_val);
DLLEXPORT int get_node_attr_float(node_t node, const char* attr_name, float* attr_val);
DLLEXPORT int set_node_attr_int(node_t node, const char* attr_name, const int* attr_val);
DLLEXPORT int set_node_attr_float(node_t node, const char* attr_name, const float* attr_val);

// A pointer as value. No ONNX attribute is one: fail with TENGINE_ENOTSUP.
DLLEXPORT int get_node_attr_pointer(node_t node, const char* attr_name, void* attr_val);
DLLEXPORT int set_node_attr_pointer(node_t node, const char* attr_name, const void* attr_val);

// A value of any type, `size` bytes at `buf`, aligned to its elements. `type_name` says what is
// there:
//   "int"       one int                  "float"    one float
//   "int[]"     int, size / 4 of them    "float[]"  float, size / 4 of them
//   "int64[]"   int64_t, size / 8        "tensor"   one tensor_t, whose shape and data are copied;
//                                                   set only
//   "string"    characters; set: up to `size` or the first NUL; get: ended by a NUL
//   "string[]"  const char*, size / sizeof(char*) of them; set: copied; get: the node's own
// A getter whose `buf` is too small fails with TENGINE_ERANGE. tengine_node_get_attr_number tells
// how many elements the value has (of a string: characters without the NUL), 0 if it is not set.
DLLEXPORT int get_node_attr_generic(node_t node, const char* attr_name, const char* type_name,
                                    void* buf, int size);
DLLEXPORT int set_node_attr_generic(node_t node, const char* attr_name, const char* type_name,
                                    const void* buf, int size);
DLLEXPORT int tengine_node_get_attr_number(node_t node, const char* attr_name);

// A kernel of the program's own for one node. Fails with TENGINE_ENOTSUP in this version.
DLLEXPORT int set_custom_kernel(node_t node, const char* dev_name,
                                struct custom_kernel_ops* kernel_ops);
DLLEXPORT int remove_custom_kernel(node_t node, const char* dev_name);

// ---- Tensors ----

// A new tensor of the graph: TENSOR_TYPE_VAR, no shape, no data, the graph's layout. The name is
// copied. Fails with TENGINE_EINVAL (name is NULL or empty), TENGINE_EEXIST (name is taken),
// TENGINE_EDTYPE (`data_type` is no TENGINE_DT_*).
DLLEXPORT tensor_t create_graph_tensor(graph_t graph, const char* tensor_name, int data_type);

// The tensor of this name. Fails with TENGINE_ENOENT.
DLLEXPORT tensor_t get_graph_tensor(graph_t graph, const char* tensor_name);

DLLEXPORT const char* get_tensor_name(tensor_t tensor);

// Does nothing: handles need no release.
DLLEXPORT void release_graph_tensor(tensor_t tensor);

// Writes the dimensions and returns their number: 0 for a scalar, and while no shape is known. A
// dimension that is not known yet is -1. Shapes of what is computed are known after prerun_graph.
// Fails with TENGINE_EINVAL (NULL), TENGINE_ERANGE (`dim_number`, the room in `dims`, is too
// small).
DLLEXPORT int get_tensor_shape(tensor_t tensor, int dims[], int dim_number);

// Takes effect at the next prerun_graph (see "States"). Data the library holds for the tensor is
// dropped, and so is a buffer of the user's, if the size changes.
// Fails with TENGINE_ERANGE (more than MAX_SHAPE_DIM_NUM dimensions, or fewer than 0; a dimension
// < 0; more bytes than an address can hold), TENGINE_EINVAL (NULL).
DLLEXPORT int set_tensor_shape(tensor_t tensor, const int dims[], int dim_number);

// Bytes of the data: element size x elements; 0 while the shape is not known. The first fails with
// TENGINE_ERANGE if that is more than an int can hold; the second does not.
DLLEXPORT int get_tensor_buffer_size(tensor_t tensor);
DLLEXPORT int64_t tengine_tensor_get_buffer_size(tensor_t tensor);

// The data, or NULL, in which case TENGINE_ESTATE says why there is none.
//   constant      what the model or the user gave; not to be written to after prerun_graph
//   input         the user's buffer, or what set_tensor_data has allocated
//   graph output  memory of its own from prerun_graph until postrun_graph, prerun_graph or
//                 destroy_graph; holds the results from one run to the next
//   others        NULL: intermediate memory is shared and means nothing after a run
DLLEXPORT void* get_tensor_buffer(tensor_t tensor);

// Lends the library a buffer of exactly get_tensor_buffer_size bytes, for an input, a constant or a
// graph output. It stays the caller's and must live until it is replaced, the shape is changed, or
// the graph is destroyed. Legal before and after prerun_graph and between runs; elements must be
// aligned to their size. NULL with size 0 takes it back; an output then needs prerun_graph again.
// Fails with TENGINE_EINVAL (another size, no shape yet, an intermediate tensor).
DLLEXPORT int set_tensor_buffer(tensor_t tensor, void* buffer, int buffer_size);

// Copies the whole data out. Fails with TENGINE_EINVAL (NULL), TENGINE_ERANGE (`data_size` is less
// than the data has), TENGINE_ESTATE (there is no data).
DLLEXPORT int get_tensor_data(tensor_t tensor, void* output_data, int data_size);

// Copies the first `data_size` bytes of an input or a constant in; memory is allocated if the
// tensor has none. Fails with TENGINE_EINVAL (NULL, not an input or a constant, no shape yet),
// TENGINE_ERANGE (`data_size` < 0, or more than the tensor has).
DLLEXPORT int set_tensor_data(tensor_t tensor, const void* input_data, int data_size);

// TENGINE_DT_*. Setting one that has another element size changes get_tensor_buffer_size and drops
// the data. Fails with TENGINE_EDTYPE.
DLLEXPORT int get_tensor_data_type(tensor_t tensor);
DLLEXPORT int set_tensor_data_type(tensor_t tensor, int data_type);

// TENGINE_LAYOUT_*: a tag, no data is transposed. Setting fails with TENGINE_EINVAL.
DLLEXPORT int get_tensor_layout(tensor_t tensor);
DLLEXPORT int set_tensor_layout(tensor_t tensor, int layout);

// Quantisation: real = scale x (stored - zero_point); one pair for the tensor or one for each
// channel. Setting copies `number` pairs and fails with TENGINE_EINVAL (NULL, number < 1). The
// getter writes the pairs and returns their number, 0 if there are none; it fails with
// TENGINE_ERANGE (`number`, the room, is too small).
DLLEXPORT int set_tensor_quant_param(tensor_t tensor, const float* scale, const int* zero_point,
                                     int number);
DLLEXPORT int get_tensor_quant_param(tensor_t tensor, float* scale, int* zero_point, int number);

// ---- Execution ----

// Prepares: infers shapes, splits the graph among the devices, lets each compile its parts, plans
// the memory. prerun_graph is prerun_graph_multithread with one thread, TENGINE_CLUSTER_BIG,
// TENGINE_MODE_FP32 and no affinity, or what set_graph_thread and set_graph_thread_mask have set.
// Fails with TENGINE_ESTATE (running), TENGINE_EGRAPH (no inputs or outputs, a node without a
// required input, a cycle), TENGINE_EINVAL and TENGINE_EDTYPE (shapes or types that do not fit; the
// sentence names the node), TENGINE_ENOENT (the option "scheduler" names none there is),
// TENGINE_EFALLBACK (more would run on the CPU than the context's options allow), TENGINE_EDEVICE
// or what else the CPU has reported; what another device fails to prepare the CPU gets.
DLLEXPORT int prerun_graph(graph_t graph);
DLLEXPORT int prerun_graph_multithread(graph_t graph, struct options opt);

// Runs, any number of times. With `block` not 0 returns when the results are there. With 0 it may
// return earlier, and wait_graph says when they are; the default scheduler "sync" has always
// finished by then, "pipeline" never waits. Of several runs under way each gets the inputs as they
// were at its run_graph. No memory is allocated when all shapes are known before the run and no
// device fails. A part whose device fails, or does not return within the option "run.watchdog_ms",
// is run on the CPU, from then on until the next prerun_graph, unless the context's options forbid
// that.
// Fails with TENGINE_ESTATE (not prepared, changed since; called from a hook; `block` not 0 while
// runs are under way), TENGINE_ELIMIT (as many are under way as the scheduler takes),
// TENGINE_EINVAL (an input without data, which the sentence names), TENGINE_EDEVICE or what else
// the device has reported.
DLLEXPORT int run_graph(graph_t graph, int block);

// State of the oldest run under way, or of the last run when none is: 1 finished, 0 not yet. With
// `try_wait` 0 waits until it has finished. Runs end here one by one in the order of run_graph: the
// outputs hold the results of this one until the next call of wait_graph or a blocking run_graph,
// and its failure is that of no other run.
// Fails with TENGINE_ESTATE (nothing was run since prerun_graph) or as the run did.
DLLEXPORT int wait_graph(graph_t graph, int try_wait);

// Releases what a run needs. Output buffers become invalid.
DLLEXPORT int postrun_graph(graph_t graph);

// GRAPH_STAT_*; see "States" at the top.
DLLEXPORT int get_graph_exec_status(graph_t graph);

// Has `cb_func` called with `cb_arg` when a run starts (GRAPH_EXEC_START), has succeeded
// (GRAPH_EXEC_DONE) or failed (GRAPH_EXEC_ABORT), by the thread that called run_graph or, for a run
// that was left under way, wait_graph. One function for each event; NULL takes it away. It must not
// call the Execution functions or destroy the graph.
// Fails with TENGINE_EINVAL (no GRAPH_EXEC_*).
DLLEXPORT int set_graph_event_hook(graph_t graph, int event, event_handler_t cb_func, void* cb_arg);

// Mask of the CPUs in a cluster; all CPUs where the machine does not tell its cores apart, or where
// `cluster` is no TENGINE_CLUSTER_*. CPUs above 63 are not in it.
DLLEXPORT size_t get_cluster_affinity_mask(int cluster);

// What the next prerun_graph uses instead of its defaults. `threads` <= 0: all of the cluster;
// `cpu_mask` 0: the cluster's. Fail with TENGINE_EINVAL (no TENGINE_CLUSTER_*).
DLLEXPORT int set_graph_thread(graph_t graph, int cluster, int threads);
DLLEXPORT int set_graph_thread_mask(graph_t graph, size_t cpu_mask);

// The device of contexts that are created from now on and not empty: "CPU" after init_tengine.
// Setting fails with TENGINE_ENOENT (no such device).
DLLEXPORT int set_default_device(const char* device);
DLLEXPORT const char* get_default_device(void);

// ---- Log ----

// Lines less severe than `level` are not printed. After start: LOG_NOTICE. Process-wide.
DLLEXPORT void set_log_level(enum log_level level);

// Replaces the sink, standard error after start and with NULL. A line has at most 255 characters.
// The function runs on the thread that logs, on several at once. Process-wide.
DLLEXPORT void set_log_output(log_print_t func);

// ---- Plug-ins: shared libraries that bring devices ----

// Both fail with TENGINE_ENOTSUP in this version, TENGINE_EINVAL (a name is NULL).
DLLEXPORT int load_tengine_plugin(const char* plugin_name, const char* file_name,
                                  const char* init_func_name);
DLLEXPORT int unload_tengine_plugin(const char* plugin_name, const char* rel_func_name);

// Number of plug-ins, 0 in this version, and the name of one; the latter fails with TENGINE_ERANGE.
DLLEXPORT int get_tengine_plugin_number(void);
DLLEXPORT const char* get_tengine_plugin_name(int idx);

#ifdef __cplusplus
}
#endif
