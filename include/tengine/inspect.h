// SPDX-License-Identifier: Apache-2.0
// Inspection: the contents of the build, of a graph, and of the execution graph that prerun_graph
// makes, with reasons. The commands `tengine inspect`, `devices` and `bench` use only this header
// and c_api.h, whose rules for results, errors, ownership and threads hold here, too.
//
// A getter with the parameter `size` takes the sizeof of its structure, to which later versions of
// the library may add members at the end, and fills as many bytes. Other structures keep their
// members; new data gets a function.
//
// Getters by index fail with TENGINE_ERANGE. Strings belong to the library; those of the execution
// graph live until the next prerun_graph, postrun_graph or destroy_graph, all others until
// release_tengine, unless their comment says otherwise.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// ---- The contents of the build ----

// Devices in the order of registration.
TENGINE_API int tengine_device_get_number(void);
TENGINE_API const char* tengine_device_get_name(int index);

// A device's abilities: ONNX operators by name, and element types as TENGINE_DT_*. It may still
// refuse a node for its parameters or shapes. The functions that return a number ask the device;
// the elements are those of its last answer. Fail with TENGINE_ENOENT (no such device).
TENGINE_API int tengine_device_get_operator_number(const char* device);
TENGINE_API const char* tengine_device_get_operator(const char* device, int index);
TENGINE_API int tengine_device_get_data_type_number(const char* device);
TENGINE_API int tengine_device_get_data_type(const char* device, int index);

// The device's description of its machine: for the CPU device the instruction set of its kernels
// ("AVX3; OpenBLAS SkylakeX"). "" without a description. Fails with TENGINE_ENOENT.
TENGINE_API const char* tengine_device_get_features(const char* device);

// Options of the device by key ("config"), which a context that has the device takes as
// "<device>.<key>": key, default, and its effect in one line. The count is 0 for a device that has
// none or does not list them. Fail with TENGINE_ENOENT (no such device).
TENGINE_API int tengine_device_get_option_number(const char* device);
TENGINE_API const char* tengine_device_get_option_name(const char* device, int index);
TENGINE_API const char* tengine_device_get_option_default(const char* device, int index);
TENGINE_API const char* tengine_device_get_option_help(const char* device, int index);

// Operators that a graph can hold, each once, by name and domain ("" is ONNX's).
TENGINE_API int tengine_operator_get_number(void);
TENGINE_API const char* tengine_operator_get_name(int index);
TENGINE_API const char* tengine_operator_get_domain(int index);
// 1 when a node has had the operator since the program started, in a model or during its
// preparation; else 0. A library with only these operators can run the same models.
TENGINE_API int tengine_operator_is_used(int index);

// Options that every context has (tengine_context_set_option): key, default, and its effect in one
// line.
TENGINE_API int tengine_option_get_number(void);
TENGINE_API const char* tengine_option_get_name(int index);
TENGINE_API const char* tengine_option_get_default(int index);
TENGINE_API const char* tengine_option_get_help(int index);

// Model formats that create_graph supports ("onnx"), and the extension of their files (".onnx"; ""
// for a format without one).
TENGINE_API int tengine_format_get_number(void);
TENGINE_API const char* tengine_format_get_name(int index);
TENGINE_API const char* tengine_format_get_file_ending(int index);

// Element types: the name ("fp32"); bytes of one element, 1 for those of 4 and 2 bits; bits of
// one element, of which a tensor has as many as its shape has elements, rounded up to bytes. Fail
// with TENGINE_EDTYPE. No init_tengine needed.
TENGINE_API const char* tengine_data_type_get_name(int data_type);
TENGINE_API int tengine_data_type_get_size(int data_type);
TENGINE_API int tengine_data_type_get_bits(int data_type);

// The abilities of the processor ("avx2 fma ..."). No init_tengine needed.
TENGINE_API const char* tengine_cpu_get_features(void);

// ---- The source graph ----

// Tensors in the order of the file or of their creation.
TENGINE_API int tengine_graph_get_tensor_number(graph_t graph);
TENGINE_API tensor_t tengine_graph_get_tensor(graph_t graph, int index);

// TENSOR_TYPE_*.
TENGINE_API int tengine_tensor_get_type(tensor_t tensor);

// 1 if the rank is known, which get_tensor_shape returns, else 0: for an input that the model does
// not describe, and for a result before prerun_graph, or, if its shape depends on data, before the
// first run.
TENGINE_API int tengine_tensor_has_rank(tensor_t tensor);

// The model's name of a dimension (ONNX's dim_param, "batch"), "" without one. Free dimensions of
// inputs and outputs have names, which stay when set_tensor_shape or prerun_graph sets their size;
// an output of another rank than the model declares has none. Fails with TENGINE_ERANGE for an
// index that is not in 0 to MAX_SHAPE_DIM_NUM - 1. Valid until destroy_graph.
TENGINE_API const char* tengine_tensor_get_dim_name(tensor_t tensor, int index);

// The node that writes the tensor; answers NULL with TENGINE_ENOENT when none does.
TENGINE_API node_t tengine_tensor_get_producer(tensor_t tensor);

// The nodes that read the tensor, one entry for each use.
TENGINE_API int tengine_tensor_get_consumer_number(tensor_t tensor);
TENGINE_API node_t tengine_tensor_get_consumer(tensor_t tensor, int index);

// Domain of the node's operator ("" is ONNX's) and the opset its meaning is taken from.
TENGINE_API const char* tengine_node_get_domain(node_t node);
TENGINE_API int tengine_node_get_version(node_t node);

// A part that a device has compiled: it was loaded with its tmfile, or prerun_graph stored it with
// the option model.keep_parts, and save_graph writes it to a tmfile. In prerun_graph devices load
// the parts that match its shapes, devices and options. Strings that do not fit are cut; hashes are
// SHA-256 in hexadecimal digits.
struct tengine_compiled_part
{
    char device[64];
    char target[512];      // the device's description of its compiler and chip; "" without one
    char fingerprint[65];  // of all data that the compiled part depends on
    char hash[65];         // of the bytes
    int64_t bytes;
};

// The number of compiled parts, and one of them. Fail with TENGINE_ESTATE (running), TENGINE_EINVAL
// (NULL, a size of 0), TENGINE_ERANGE.
TENGINE_API int tengine_graph_get_compiled_part_number(graph_t graph);
TENGINE_API int tengine_graph_get_compiled_part(graph_t graph, int index,
                                                struct tengine_compiled_part* out_part,
                                                size_t size);

// A preparation in the model's file: the execution graph after all passes, which prerun_graph reads
// in place of making it when its own terms are the same. `tengine compile` writes one for each
// target, and so do prerun_graph and save_graph with the option model.keep_parts, unless the graph
// has data that a file cannot carry.
struct tengine_model_preparation
{
    char terms[512];        // in words: inputs with shapes and types, precision, devices, options
    int64_t bytes;          // in the file
    int64_t between_bytes;  // memory between parts, with that of the outputs
    int64_t arena_bytes;    // memory inside its parts, as planned where the file was made
    int part_number;
};

// The number of preparations, and one of them. Fail as the functions for compiled parts, and with
// TENGINE_EFORMAT for a preparation that was altered. Any thread to which the graph belongs.
TENGINE_API int tengine_graph_get_model_preparation_number(graph_t graph);
TENGINE_API int tengine_graph_get_model_preparation(
    graph_t graph, int index, struct tengine_model_preparation* out_preparation, size_t size);

// ---- The execution graph ----
// It exists from prerun_graph or tengine_graph_place until postrun_graph.

// Decides which device would run each node in this preparation, with reasons, and compiles nothing:
// the functions below can then read the execution graph, except the data of compiled parts (the
// kernel of a node, counters, memory). Failures to compile are not detected. A preparation is
// dropped, the graph is not prepared (its state is CREATED or DONE), and run_graph fails with
// TENGINE_ESTATE. Fails as prerun_graph_multithread, except for failures to compile.
TENGINE_API int tengine_graph_place(graph_t graph, struct options opt);

struct tengine_graph_stats
{
    int node_number;           // nodes of the model, without InputOp and Const
    int64_t parameter_number;  // elements of all constants of the model
    int64_t constant_bytes;    // bytes of all constants of the model

    // The members below are 0 unless the graph is prepared.
    int execution_node_number;
    int subgraph_number;
    int64_t mac_number;   // multiply-accumulates of one run, without nodes of unknown shape
    int64_t arena_bytes;  // planned memory of boundary tensors, results among them
};

// Fails with TENGINE_EINVAL (NULL).
TENGINE_API int tengine_graph_get_stats(graph_t graph, struct tengine_graph_stats* out_stats);

// A node that a device runs. A node of the model keeps its name.
struct tengine_execution_node
{
    const char* name;
    const char* op;      // ONNX's, or of "com.microsoft" or "tengine"
    const char* domain;  // "" is ONNX's
    const char* device;
    int subgraph;         // index of the part, parts run in this order
    int64_t mac_number;   // 0 for data movement and while a shape is unknown
    node_t source;        // the model's node it stands for, NULL if the preparation made it, and of
                          // nodes in bodies
    int refusal_number;   // devices that come earlier in the list and did not get it
    double predicted_ms;  // one run, by the device's own estimate or from MACs and bytes
    double measured_ms;   // the last run, with the option run.profile=1; -1: not known
    int input_number;     // tensors it reads, absent ones included
    const char* kernel;   // name of the program's custom kernel that runs there, "" when none does;
                          // op and domain are then those of the model's node
};

// A tensor that a node reads, or a result of the graph.
struct tengine_execution_tensor
{
    const char* name;             // "" for an input that is absent
    int type;                     // TENSOR_TYPE_*
    int data_type;                // TENGINE_DT_*
    int dim_number;               // of dims; -1: not even the rank is known
    int dims[MAX_SHAPE_DIM_NUM];  // -1: not known yet
    int64_t bytes;                // 0 while the shape is not known
    int producer;                 // index of the node that writes it, -1: none does
};

// The reason why a device did not get a node. A member that does not apply is "".
struct tengine_refusal
{
    const char* device;
    const char* reason;     // a word of IR_REASON_LIST in device.h ("data type"), or "other"
    const char* attribute;  // the attribute or tensor in question ("dilations")
    const char* value;      // its value ("[2,2]")
    const char* message;    // one line
};

// The nodes in the order in which they run, then the nodes of the bodies of control flow (the
// branches of an If), body by body, if these are prepared; a body whose shapes depend on data is
// prepared after its first run. Their names begin with the name of the node and the attribute
// ("If_3/then_branch/Conv_1"). An If whose condition is constant is replaced by the nodes of one
// branch. Strings are valid until the graph is next run, prepared or changed: a run in which a
// device fails adds a refusal. Fail with TENGINE_ESTATE (not prepared, or running), TENGINE_EINVAL
// (NULL).
TENGINE_API int tengine_graph_get_execution_node_number(graph_t graph);
TENGINE_API int tengine_graph_get_execution_node(graph_t graph, int index,
                                                 struct tengine_execution_node* out_node);
TENGINE_API int tengine_graph_get_refusal(graph_t graph, int node_index, int refusal_index,
                                          struct tengine_refusal* out_refusal);

// The kernel of a node on its device. A string that does not apply is ""; both are "" for a device
// that does not report kernels, and for a node that the kernel of another computes.
struct tengine_node_kernel
{
    char name[64];     // of the CPU's: "conv.f32.nhwc"
    char reason[192];  // "timed: conv.f32.nhwc 1.230 ms, ..." (option CPU.timing)
};

// Fails as the functions above, with TENGINE_EINVAL for a size of 0, and with the codes of the
// device.
TENGINE_API int tengine_graph_get_execution_kernel(graph_t graph, int index,
                                                   struct tengine_node_kernel* out_kernel,
                                                   size_t size);

// A node's inputs and results, absent ones included, and the graph's results in the order of
// tengine_graph_get_output. Fail as the functions above.
TENGINE_API int tengine_graph_get_execution_input(graph_t graph, int node_index, int input_index,
                                                  struct tengine_execution_tensor* out_tensor);
TENGINE_API int tengine_graph_get_execution_output_of(graph_t graph, int node_index,
                                                      int output_index,
                                                      struct tengine_execution_tensor* out_tensor);
TENGINE_API int tengine_graph_get_execution_output(graph_t graph, int index,
                                                   struct tengine_execution_tensor* out_tensor);

// The tensors of the execution graph by index, then those of bodies, each once: inputs, constants
// and results of nodes. Fail as the functions above.
TENGINE_API int tengine_graph_get_execution_tensor_number(graph_t graph);
TENGINE_API int tengine_graph_get_execution_tensor(graph_t graph, int index,
                                                   struct tengine_execution_tensor* out_tensor);

// Fill the indices of the first `capacity` tensors that a node reads, or writes, -1 for an absent
// one, and return how many it has. `node_index` -1: the inputs, or the results, of the graph, in
// the model's order. Fail as the functions above; TENGINE_EINVAL: `tensors` is NULL with a capacity
// above 0.
TENGINE_API int tengine_graph_get_execution_inputs(graph_t graph, int node_index, int* tensors,
                                                   int capacity);
TENGINE_API int tengine_graph_get_execution_outputs(graph_t graph, int node_index, int* tensors,
                                                    int capacity);

// More about a node.
struct tengine_node_detail
{
    // The first bytes of its name that are its scope, the module of the model that the node belongs
    // to: those before the last '/', or without one before the last '.'; 0: none.
    int scope_length;
    int precision;         // TENGINE_DT_* of input 0 if the node has multiply-accumulates, else of
                           // its first output
    int attribute_number;  // parameters of its operator that differ from their default
};

// An attribute of a node as text: name "kernel_shape", value "[3,3]". The end of a text that does
// not fit is "...".
struct tengine_node_attribute
{
    char name[64];
    char value[192];
};

// Fail as the functions above, with TENGINE_EINVAL for a size of 0.
TENGINE_API int tengine_graph_get_execution_detail(graph_t graph, int index,
                                                   struct tengine_node_detail* out_detail,
                                                   size_t size);
TENGINE_API int tengine_graph_get_execution_attribute(graph_t graph, int node_index,
                                                      int attribute_index,
                                                      struct tengine_node_attribute* out_attribute,
                                                      size_t size);

// A part of the graph, or of a body, that one device runs. Parts of bodies follow those of the
// graph.
struct tengine_subgraph
{
    const char* device;
    int node_number;
    int input_number;    // tensors it reads that are written elsewhere, without constants
    int output_number;   // tensors it writes that are read elsewhere or are results
    int64_t mac_number;  // sum over its nodes
    int64_t bytes_in;    // of the inputs, as far as their shapes are known
    int64_t bytes_out;
    double predicted_ms;  // sum over its nodes
    double measured_ms;   // the last run; -1: none yet
    int64_t redo_number;  // runs that failed on its device or were not made on it after a failure,
                          // and were done by the CPU instead
};

// Fails as the getters of execution nodes.
TENGINE_API int tengine_graph_get_subgraph(graph_t graph, int index,
                                           struct tengine_subgraph* out_subgraph);

// The group of a part, 0 when it has none: parts of one device have different groups if the device,
// or the user with tengine_graph_set_affinity, separates their nodes. Fails as the functions above.
TENGINE_API int tengine_graph_get_subgraph_group(graph_t graph, int index, int* out_group);

// The source of a compiled part.
#define TENGINE_PART_COMPILED 0    // prerun_graph had the device compile it
#define TENGINE_PART_FROM_MODEL 1  // loaded, from the model's file
#define TENGINE_PART_FROM_CACHE 2  // loaded, from the folder of the option cache.dir

// TENGINE_PART_*. Fails as the functions above.
TENGINE_API int tengine_graph_get_subgraph_origin(graph_t graph, int index, int* out_origin);

// A counter of a device in the last run of its part. "time" in "ms" is the time of a simulated
// device by its own clock, as are the times of its nodes; measured_ms of the part is then the time
// of the simulator. Real devices do not have this counter.
struct tengine_counter
{
    char name[48];  // "weight stall"
    char unit[16];  // "cycles", "B", "%", "pJ"; "" for a plain number
    double value;
};

// Fills the first `capacity` of the part's counters and returns how many it has: 0 for a device
// that counts nothing, and before the first run. Fails as the functions above, and with the codes
// of the device.
TENGINE_API int tengine_graph_get_counters(graph_t graph, int subgraph,
                                           struct tengine_counter* counters, int capacity);

// The same for one node in the last run of its part. Counters that are amounts, and not shares or
// rates, add up over the nodes of a part to the counter of this name of the part. 0 for a device
// that does not count by node.
TENGINE_API int tengine_graph_get_node_counters(graph_t graph, int node_index,
                                                struct tengine_counter* counters, int capacity);

// The number of threads with which the CPU runs the graph: the number given to
// prerun_graph_multithread, or the number of cores that it may use if that is less or 0 was given.
// Fails as the functions above.
TENGINE_API int tengine_graph_get_thread_number(graph_t graph);

// The name of the scheduler that runs the parts ("sync"). Fails as the functions above.
TENGINE_API const char* tengine_graph_get_scheduler(graph_t graph);

// ---- Memory ----

// Bytes that the graph holds. A byte counts once, however many tensors share it. Not counted are
// the description of the graph (nodes, names, shapes; docs/memory.md says how much that is) and
// what belongs to threads or to the process.
struct tengine_graph_memory
{
    // Constants of the model and compiled parts, prepared or not.
    int64_t mapped_bytes;    // in mapped files: pages of the system's file cache, which come into
                             // memory when they are read and may be dropped again; also the zeroes
                             // of a tmfile without values, pages that were never written
    int64_t owned_bytes;     // in memory of the library
    int64_t borrowed_bytes;  // in memory of the program: the model or buffers that it lends

    int64_t value_bytes;  // inputs that set_tensor_data copied, results of the last run whose
                          // shapes depended on data, and states, both values of each; entries that
                          // share a state count equal shares

    // These are 0 unless the graph is prepared: before prerun_graph and after postrun_graph.
    int64_t derived_bytes;  // constants computed by prerun: folded, merged, converted
    int64_t border_bytes;   // planned memory of boundary tensors, results among them
    int64_t device_bytes;   // sum over the devices

    int64_t total_bytes;  // memory of the process: all of these but mapped and borrowed

    int device_number;   // devices of the graph's context, those of its parts included
    int unknown_number;  // parts whose device reports no memory besides its arena
};

// The graph's memory now. Fails with TENGINE_ESTATE (running), TENGINE_EINVAL (NULL, a size of 0),
// and with the codes of devices.
TENGINE_API int get_graph_memory(graph_t graph, struct tengine_graph_memory* out_memory,
                                 size_t size);

// The memory that a device holds for the graph.
struct tengine_device_memory
{
    const char* device;
    int subgraph_number;     // parts that it runs; 0 unless the graph is prepared, as all below
    int unknown_number;      // of these, parts whose memory is unknown and not in `compiled_bytes`
    int64_t compiled_bytes;  // packed weights, programs, and similar data
    int64_t arena_bytes;     // tensors inside its parts, and scratch. Memory that parts of several
                             // devices share counts for the device that needs most of it
    int64_t tensor_bytes;    // tensors of its parts that have memory of their own: copies of
                             // constants and boundary tensors of a watched part
                             // (run.watchdog_ms), and those whose shapes depend on data
};

// `index` counts the device_number devices in the order they are asked, the CPU last. Fails as
// get_graph_memory does.
TENGINE_API int tengine_graph_get_device_memory(graph_t graph, int index,
                                                struct tengine_device_memory* out_memory,
                                                size_t size);

// ---- The memory plan ----

// Memory that a preparation has planned: that of boundary tensors, for the graph and each prepared
// body, in each memory of the CPU, and that of each part, the device's. Its steps are numbered from
// 0: parts in the memory of boundary tensors, and in that of a part the device's own steps, each of
// which serves a node. Parts that never run at the same time have their arenas in one memory, which
// has the size of the largest. The bytes of all these memories add up to
// tengine_graph_stats.arena_bytes.
struct tengine_plan_arena
{
    const char* device;  // "" for boundary tensors
    int subgraph;        // the part; for boundary tensors the first one of the graph or body
    int64_t bytes;
    int step_number;  // 0: the device does not report its steps and blocks
    int copy_number;  // of this memory, one for each frame of a pipeline
    int memory;       // index of the first arena in the same memory; that of this arena if it is
                      // the first one, or shares its memory with no other
    char name[16];  // of the device's memory that it lies in (option CPU.memories); "": it has one
    int64_t memory_bytes;  // size of that memory; 0: as many as parts need
    // The time that the device states to read or write 1 KiB there, and in the slowest of its
    // memories; 0: it has one.
    double ns_per_kib;
    double slowest_ns_per_kib;
    // Bytes that a run writes to and reads from its blocks, as far as they are known. The place of
    // the arena saves moved_bytes / 1024 * (slowest_ns_per_kib - ns_per_kib) ns in each run.
    int64_t moved_bytes;
    int is_kept;  // 1: it is the part's alone from prerun_graph on, as for weights; 0: see `memory`
};

// The reason why a block is not in the memory of its device that is before its own.
#define TENGINE_PLACE_CHOSEN 0     // it is in the fastest one
#define TENGINE_PLACE_TOO_LARGE 1  // it is larger than the faster memory, as far as the part has it
#define TENGINE_PLACE_NO_ROOM 2    // other blocks are there in some of its steps

// A tensor, or scratch, in an arena.
struct tengine_plan_block
{
    int arena;
    int tensor;  // index of an execution tensor; -1: scratch. A tensor that a device has in two
                 // layouts has two blocks
    // A number that tensors of the arena have in common if they share memory on purpose, as an
    // input and the result that takes its place. Blocks with different numbers share no byte in any
    // step.
    int block;
    int64_t offset;
    int64_t bytes;
    int first;             // the step that writes it
    int last;              // the last step that reads it
    int reason;            // TENGINE_PLACE_*
    int64_t reason_bytes;  // TOO_LARGE: the faster memory, as far as the part has it. NO_ROOM: what
                           // other blocks take there in the fullest step of its life
    int64_t moved_bytes;   // that a run writes to it and reads from it; 0: not known
};

// The arenas of a graph or body are in this order: boundary tensors, then parts, all with an arena
// in each memory, the fastest first; one that is kept follows that of the same memory. A part whose
// device has failed has the plan of the CPU, once that has run it. Fail as the getters of execution
// nodes, with TENGINE_EINVAL for a size of 0, and with the codes of devices.
TENGINE_API int tengine_graph_get_plan_arena_number(graph_t graph);
TENGINE_API int tengine_graph_get_plan_arena(graph_t graph, int index,
                                             struct tengine_plan_arena* out_arena, size_t size);
TENGINE_API int tengine_graph_get_plan_block_number(graph_t graph);
TENGINE_API int tengine_graph_get_plan_block(graph_t graph, int index,
                                             struct tengine_plan_block* out_block, size_t size);

// Fills what the first `capacity` steps of an arena are, nodes by index or, for boundary tensors,
// parts, and returns how many steps it has. Fails as the functions above.
TENGINE_API int tengine_graph_get_plan_steps(graph_t graph, int arena, int* steps, int capacity);

TENGINE_EXTERN_C_END
