// SPDX-License-Identifier: Apache-2.0
// The contract of devices, which run networks: struct device (ir_device_t). A device is a folder
// with <name>_device.{c,cc} that registers one of these; docs/add-a-device.md is the guide, and
// source/device/skeleton is the folder to copy. Graph objects are in ir.h.
//
// Every entry returns 0 or a negative TENGINE_E... code after tengine_error_set(). Entries marked
// (optional) may be NULL; their comments state what the core then does. Tables of functions grow at
// their end only, so that designated initialisers still compile, and a device that was compiled
// against shorter tables still works: docs/compatibility.md.
#pragma once

#include "tengine/ir.h"
#include "tengine/log.h"

TENGINE_EXTERN_C_BEGIN

struct device;
struct scheduler;

// ---- the device ABI ----

// Another major version is refused at registration. A minor version adds to the end of tables.
#define IR_ABI_MAJOR 1
#define IR_ABI_MINOR 3

// A device's interface: the version, and the bytes of the tables that it fills.
typedef struct ir_abi
{
    uint16_t major;
    uint16_t minor;
    uint16_t device_size;     // never changes: devices embed it
    uint16_t scheduler_size;  // never changes, for the same reason
    uint16_t interface_size;
    uint16_t allocator_size;
    uint16_t optimizer_size;
    uint16_t reserved;  // 0
} ir_abi_t;

// The ABI of the file that contains the macro, as an initialiser.
#define IR_ABI                                                                              \
    {                                                                                       \
        IR_ABI_MAJOR, IR_ABI_MINOR, sizeof(struct device), sizeof(struct scheduler),        \
            sizeof(struct interface), sizeof(struct allocator), sizeof(struct optimizer), 0 \
    }

// ---- verdicts on nodes ----

// The verdict of a device on one node (allocator.inspect).
//
// A group is a number that a device gives to nodes it takes: nodes of different groups never share
// a part, so a part has nodes of at most one group, and with them nodes without a group. The split
// assigns the latter to any part, so that there are few parts. Groups of one device have no meaning
// for another. A group that the user gives to a node with its affinity ("A#2") replaces the
// device's.
#define IR_VERDICT_YES 0
#define IR_VERDICT_NO 1         // cannot
#define IR_VERDICT_NOT_WORTH 2  // could, but another device is better

// The reason of a refusal (ir_verdict_t.code): X(name, value, word, phrase), values never reused.
// Reports have the word, and the log has the phrase, in which {device}, {operator}, {attribute} and
// {value} are replaced.
#define IR_REASON_LIST(X)                                                    \
    X(IR_REASON_NONE, 0, "none", "{device} refused")                         \
    /* the operator is not in the device's list */                           \
    X(IR_REASON_OPERATOR, 1, "operator", "{device} has no {operator}")       \
    /* the type of an input or output */                                     \
    X(IR_REASON_DATA_TYPE, 2, "data type", "{device} refuses {value}")       \
    /* the value of a parameter */                                           \
    X(IR_REASON_ATTRIBUTE, 3, "attribute", "{device} refuses {attribute}")   \
    /* rank, size or a shape known at run time only */                       \
    X(IR_REASON_SHAPE, 4, "shape", "{device} does not support the shape")    \
    /* an input that must be constant is not, or the other way round */      \
    X(IR_REASON_CONSTANT, 5, "constant", "{device}: input must be constant") \
    /* its part does not pay */                                              \
    X(IR_REASON_COST, 6, "cost", "{device} is not worthwhile")               \
    /* the user wants the node elsewhere */                                  \
    X(IR_REASON_AFFINITY, 7, "affinity", "affinity excludes {device}")       \
    /* the device's evaluation() handed it back */                           \
    X(IR_REASON_HANDBACK, 8, "handback", "{device} handed back")             \
    /* the device's pre_run() failed */                                      \
    X(IR_REASON_COMPILE, 9, "compile", "{device} failed to compile")         \
    /* the device's run() failed, or did not return in time */               \
    X(IR_REASON_RUN, 10, "run", "{device} failed to run")                    \
    /* the device failed to answer */                                        \
    X(IR_REASON_DEVICE, 11, "device", "{device} failed to answer")           \
    /* it only runs compiled parts, and none has the node */                 \
    X(IR_REASON_COMPILER, 12, "compiler", "{device} has no compiler here")

enum ir_reason
{
#define IR_REASON_ENUM(name, value, word, phrase) name = value,
    IR_REASON_LIST(IR_REASON_ENUM)
#undef IR_REASON_ENUM
};

typedef struct ir_verdict
{
    int verdict;         // IR_VERDICT_*
    int code;            // IR_REASON_*
    char attribute[32];  // the parameter or tensor in question, "" if none
    char value[32];      // its value
    char message[160];   // one line
    int group;           // with YES: see below; 0: none
    int reserved[7];     // 0
} ir_verdict_t;

// A device that did not take a node (node.refusal_list).
typedef struct ir_refusal
{
    struct device* device;
    ir_verdict_t verdict;
} ir_refusal_t;

// Fills `verdict` with a refusal; the message is formatted, `attribute` and `value` may be "".
TENGINE_API void refuse_ir_node(ir_verdict_t* verdict, int code, const char* attribute,
                                const char* value, const char* format, ...) TENGINE_PRINTF(5, 6);

// A figure that a device counted in a run (interface.count): bytes moved, cycles of a unit, energy.
typedef struct ir_counter
{
    char name[48];  // "weight stall"
    char unit[16];  // "cycles", "B", "%", "pJ"; "" for a plain number
    double value;
} ir_counter_t;

// An option by key of a device (interface.option).
typedef struct ir_device_option
{
    const char* key;      // without the device's name and the dot
    const char* initial;  // its default, as a string
    const char* help;     // its effect and the accepted values, in one line
} ir_device_option_t;

// The process's memory that a compiled part holds (interface.memory), in bytes. Memory of the core
// is not counted: constants, boundary tensors of the part, tensors that own their memory.
typedef struct ir_part_memory
{
    int64_t compiled;  // packed weights, programs: from pre_run until release_graph
    int64_t arena;     // tensors inside the part, and scratch
} ir_part_memory_t;

// The kernel with which a device computes a node (interface.kernel). Strings that do not apply are
// "".
typedef struct ir_node_kernel
{
    char name[64];     // "conv.f32.nhwc"
    char reason[192];  // the reason, if there was a choice
} ir_node_kernel_t;

// A tensor, or scratch, in the memory that a device has planned for a part (interface.plan). Steps
// are the device's own, from 0 on.
typedef struct ir_part_block
{
    int32_t tensor;  // its index in subgraph->graph; -1: scratch
    // A number that tensors have in common if they share memory on purpose, as an input and the
    // result that takes its place. Blocks with different numbers share no byte in any step.
    int32_t block;
    int64_t offset;  // bytes from the begin of the memory
    int64_t bytes;
    int32_t first;  // the step that writes it
    int32_t last;   // the last step that reads it
} ir_part_block_t;

// The most memories that a device has (interface.memories).
#define IR_MOST_MEMORIES 4

// A memory of a device for tensors inside parts.
typedef struct ir_memory
{
    char name[16];        // "SRAM": letters, digits and '_', which end with a NUL
    int64_t bytes;        // its size; 0: as many as parts need
    double ns_per_kib;    // the time to read 1 KiB, or to write it
    int32_t reserved[4];  // 0
} ir_memory_t;

// The reason why a block is not in the memory before its own (interface.place).
#define IR_PLACE_CHOSEN 0     // it is in the fastest, or the faster one saves no time
#define IR_PLACE_TOO_LARGE 1  // it is larger than the part's share of the faster memory
#define IR_PLACE_NO_ROOM 2    // other blocks are there at the same time

// The place of a block (interface.plan) among the memories of the device.
typedef struct ir_block_place
{
    int32_t memory;    // index in the list of interface.memories
    int32_t reason;    // IR_PLACE_*
    int64_t bytes;     // the share of the faster memory, or what other blocks take there; 0: CHOSEN
    int64_t moved;     // the bytes that a run writes to it and reads from it; 0: not known
    int32_t is_kept;   // 1: in the memory of set_ir_part_plan_bytes(); 0: of set_ir_part_scratch()
    int32_t reserved;  // 0
} ir_block_place_t;

// A time in which a unit of a simulated device worked or waited (interface.timeline).
typedef struct ir_interval
{
    char unit[24];     // "array"
    char cause[24];    // the reason why it waits: "weight stall"; "": it works
    int32_t node;      // place in subgraph->node_list; -1: not known
    int32_t reserved;  // 0
    int64_t begin_ns;  // since the begin of the run, by the device's own clock
    int64_t end_ns;
} ir_interval_t;

// The machine that a device runs on (interface.identify). Strings that are not known are "".
typedef struct ir_identity
{
    char chip[64];    // its model, "A1"
    char driver[64];  // the version of its driver or dispatch, "2.0.1"
    // Keys of options by key that a model's file may set where the program does not, separated by
    // spaces. A file is hostile: none may name a file to write. Values are then words of letters,
    // digits, '_', '+' and '-'.
    char model_options[128];
} ir_identity_t;

// The receiver of a compiled part's bytes (interface.save).
typedef struct ir_sink ir_sink_t;

// Appends bytes. TENGINE_ENOMEM, which save() returns in turn.
TENGINE_API int write_ir_sink(struct ir_sink* sink, const void* bytes, size_t size);

// Bytes of the text of interface.compatibility, with its NUL.
#define IR_COMPATIBILITY_SIZE 512

typedef struct interface
{
    // Called once, at registration. A failure is reported with the device's name and stops
    // init_tengine.
    int (*init)(struct device* device);
    // Allocates, converts layouts, compiles; stores its result in subgraph->device_graph. A device
    // with release_graph may find there, instead of NULL, its result for the part in other shapes,
    // with equal operators, attributes, types, connections, values of constants, and options.
    // post_run has been called for it, and its graph has been destroyed, so it must not point
    // there; constants may have other addresses. The device owns it again, and either uses it or
    // releases it before it is replaced. After a failure with it pre_run is called once more with
    // NULL. A device without release_graph always finds NULL: its post_run frees. `subgraph` is the
    // only part of a graph of its own, subgraph->graph, whose inputs and outputs are the part's.
    // `options`: the context's copy of this device's option struct, or NULL.
    // After a failure both halves of the part are compiled; single nodes go to the default device.
    int (*pre_run)(struct device* device, struct subgraph* subgraph, void* options);
    // Reads tensor->data of the subgraph's inputs and writes tensor->data of its outputs, which
    // is set unless the shape is known at run time only: then the device sets the shape and
    // calls allocate_ir_tensor(). `data` may differ from run to run. Any value except 0 is a
    // failure: the default device then runs the part until the next prerun.
    int (*run)(struct device* device, struct subgraph* subgraph);
    // The last call for `subgraph`: frees the data of runs and references to the subgraph; leaves
    // device_graph.
    int (*post_run)(struct device* device, struct subgraph* subgraph);
    // (optional, both or none) Start a run and return; then async_wait: 1 finished, 0 not yet
    // (try_wait only), negative failed. A subgraph has one run at a time, but several subgraphs of
    // the device may be in flight. All calls for one graph come from one thread. The pipeline
    // scheduler calls them, the sync scheduler does not.
    int (*async_run)(struct device* device, struct subgraph* subgraph);
    int (*async_wait)(struct device* device, struct subgraph* subgraph, int try_wait);
    // (optional) Frees device_graph when the graph or the part is destroyed.
    int (*release_graph)(struct device* device, void* device_graph);
    // Called once, at unregistration.
    int (*release_device)(struct device* device);
    // (optional) Writes the result of pre_run for a part with write_ir_sink(), as bytes from which
    // load() restores it in any process. They may depend only on the part, the device's options by
    // key, and the string of compatibility(). Called after pre_run if the user keeps compiled parts
    // (options cache.dir, model.keep_parts). TENGINE_ENOENT: this part is not worth storing. Any
    // other failure is logged, and the part is used without being stored.
    int (*save)(struct device* device, struct subgraph* subgraph, struct ir_sink* sink);
    // (optional) Called in place of pre_run, without a device_graph: loads `size` bytes that save()
    // has written for this part. Their hash is correct, but any user who can write to their store
    // may have made them. They are aligned to 4096 bytes, read only, and valid until release_graph
    // has been called for the device_graph, or without that entry until post_run. After a failure,
    // which is logged, load is called with other bytes, if there are any, or pre_run.
    int (*load)(struct device* device, struct subgraph* subgraph, const void* data, size_t size);
    // (optional) One line about the machine that the device runs on and its choices there ("AVX3;
    // OpenBLAS SkylakeX"), for reports. Lives as long as the device.
    const char* (*features)(struct device* device);
    // (optional) Whether the device has an option `key` and it may have `value`: TENGINE_ENOENT or
    // TENGINE_EINVAL with a message that states the accepted values. Nothing is stored: inspect and
    // pre_run call get_ir_device_option(). NULL: the device has no options by key.
    int (*check_option)(struct device* device, const char* key, const char* value);
    // (optional) After a run with run_options.profile: the time of each node in it, in ns, in the
    // order of subgraph->node_list; -1: not known.
    int (*measure)(struct device* device, struct subgraph* subgraph, int64_t* out_node_ns);
    // (optional) The device's counts of the last run: appends ir_counter_t. Called between
    // runs, on request. A simulated device reports the time of its own clock as "time" in "ms", and
    // measure() uses that clock, too; reports then do not use the time of run().
    int (*count)(struct device* device, struct subgraph* subgraph, struct vector* out_counters);
    // (optional) The call in flight should return soon, with any result: the program has cancelled
    // the run, or its deadline is over (option run.deadline_ms), or the pre_run or run was given up
    // (options prerun.watchdog_ms and run.watchdog_ms). Called by another thread while the call is
    // in flight, also before it has begun its work and after it has ended it, and perhaps several
    // times; it must not wait for the call. The part may run again after a cancelled run, so a
    // device asks is_ir_part_cancelled() instead of keeping a flag. NULL: the call is not told.
    void (*cancel)(struct device* device, struct subgraph* subgraph);
    // (optional) The memory that the part holds now; called between runs. `out_memory` is
    // zero-initialised by the caller.
    // NULL: reports show subgraph->plan_bytes as the arena and the rest as not known.
    int (*memory)(struct device* device, struct subgraph* subgraph, ir_part_memory_t* out_memory);
    // (optional) The options that check_option() knows, for lists of them: the one at `index`, from
    // 0 on; NULL after the last. It lives as long as the device.
    const ir_device_option_t* (*option)(struct device* device, int index);
    // (optional, ABI 1.1) The conditions of saved parts besides the part and the device's options
    // by key: version of its compiler and of the bytes, model of the chip, contents of files that
    // options name, and the members that it reads in its option struct. Parts with different
    // strings are different. `part` is one of the execution graph; `text`, "" before, has
    // IR_COMPATIBILITY_SIZE bytes. NULL: there are no conditions. A failure is logged, and the part
    // is neither loaded nor saved.
    int (*compatibility)(struct device* device, const struct subgraph* part, char* text);
    // (optional, ABI 1.1) Called before the first pre_run of a preparation, for a compiler that
    // compiles all parts at once: `parts` are that part and the device's later ones, as parts of
    // the execution graph. Some of them may then be loaded, or halved after a failure, and pre_run
    // gets each as the part of a graph of its own, with equal nodes and names. No pointer into
    // `parts` may be kept. Not called if a compiler may be given up (option prerun.watchdog_ms). A
    // failure is logged.
    int (*pre_run_parts)(struct device* device, const struct subgraph* const parts[], int number);
    // (optional, ABI 1.1) For reports: the kernel of the node subgraph->node_list[index]. Called
    // between runs. `out_kernel` is zero-initialised by the caller, and stays so for a node that
    // the kernel of another computes.
    int (*kernel)(struct device* device, struct subgraph* subgraph, int index,
                  ir_node_kernel_t* out_kernel);
    // (optional, ABI 1.2) For reports: appends an ir_part_block_t for each tensor in the memory
    // that pre_run has planned, subgraph->plan_bytes in size, and to `out_steps` for each step the
    // place of its node in subgraph->node_list (int32_t). Called between runs.
    int (*plan)(struct device* device, struct subgraph* subgraph, struct vector* out_blocks,
                struct vector* out_steps);
    // (optional, ABI 1.2) As count, for the node subgraph->node_list[index] alone. Counters of a
    // name that count() has, too, and that are amounts, not shares or rates, add up over the nodes
    // to those of the part.
    int (*count_node)(struct device* device, struct subgraph* subgraph, int index,
                      struct vector* out_counters);
    // (optional, ABI 1.2) For traces: appends an ir_interval_t for each time in which a unit of a
    // simulated device worked or waited in the last run, those of a unit in their order and without
    // overlaps. Called between runs, on request.
    int (*timeline)(struct device* device, struct subgraph* subgraph, struct vector* out_intervals);
    // (optional, ABI 1.3) The machine that the device runs on with the options that the context of
    // `graph`, a model, has; `out_identity` is zero-initialised by the caller. Variants of compiled
    // files are chosen by it. NULL: chip and driver are not known, and files set no options.
    int (*identify)(struct device* device, const struct graph* graph, ir_identity_t* out_identity);
    // (optional, ABI 1.3) Appends an ir_memory_t for each memory in which the device may place the
    // tensors of parts, the fastest first, IR_MOST_MEMORIES at most; the last one has a size of 0.
    // `graph` is that of a part, whose context has the options. Called before each pre_run and
    // load. NULL, or none: one memory of any size and no name.
    int (*memories)(struct device* device, const struct graph* graph, struct vector* out_memories);
    // (optional, ABI 1.3) For reports, if the device has several memories: appends an
    // ir_block_place_t for each block of plan(), in the same order. The offset of a block is in its
    // memory. NULL: all are in the first one.
    int (*place)(struct device* device, struct subgraph* subgraph, struct vector* out_places);
} ir_interface_t;

typedef struct allocator
{
    // Appends operator ids (int, from get_op_type) to allowed_ops and blocked_ops, and
    // TENGINE_DT_* (int) to precision. An operator in neither list is not taken.
    int (*describe)(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision);
    // (optional) Judges a whole part before it is compiled: appends to `nodes` the indices of nodes
    // that it hands back, and to `tensors` the indices of tensors whose writers it hands back (int,
    // of subgraph->graph). The nodes go to the next device that takes them.
    int (*evaluation)(struct device* device, struct subgraph* subgraph, struct vector* tensors,
                      struct vector* nodes);
    // (optional) Memory of the part's boundary tensors; NULL: the core plans it in host memory.
    int (*allocate)(struct device* device, struct subgraph* subgraph);
    int (*release)(struct device* device, struct subgraph* subgraph);
    // (optional) Judges one node whose operator `describe` lists, whose computed tensors have types
    // in `precision` and whose shapes are known: parameters, constants, sizes. The default device
    // is asked about every node it lists. NULL: the device takes all of them. `out_verdict` is YES
    // before the call. Any result except 0 is a refusal, too, except a TENGINE_ENOMEM that was
    // recorded, here and in describe, evaluation and estimate: it is not a verdict on the node, so
    // prerun_graph fails with it.
    int (*inspect)(struct device* device, const struct node* node, ir_verdict_t* out_verdict);
    // (optional) Predicted time of one run of the node in ms, without moving its tensors to the
    // device and back; node->graph->run_options says with how many threads. A part whose device
    // saves less time than the copies cost goes to the next device. NULL: the time is predicted
    // from MACs and bytes for reports, and the device keeps every part.
    int (*estimate)(struct device* device, const struct node* node, double* out_ms);
    // (optional) Examines the whole graph, once in each preparation, before the first inspect; here
    // a device reads options and finds patterns of several nodes. Its findings are stored with
    // set_ir_device_survey(). Shapes and types are known unless they depend on data. After it,
    // optimize_graph rewrites nodes in the run's precision: they keep their names, but not their
    // operators and indices. A failure fails prerun_graph.
    int (*survey)(struct device* device, const struct graph* graph);
    // (optional, ABI 1.2) For a device that knows TensorFlow Lite's operators: chooses nodes of a
    // .tflite that it computes as the file has them. Called once in each preparation, before
    // survey; `graph` has the operators of the file (domain "tflite"), channels last and quantised
    // tensors, and shapes and types of the run, as far as they do not depend on data. Appends the
    // indices of the nodes (int) to `nodes`. inspect is asked about these and about the nodes of
    // ONNX's operators that the others have become. The default device computes chosen nodes that
    // the device cannot compile, or fails to run. NULL: all nodes are ONNX's.
    int (*keep)(struct device* device, const struct graph* graph, struct vector* nodes);
} ir_allocator_t;

typedef struct optimizer
{
    // (optional) Fills graph->subgraph_list, with every node in one part and no two parts that
    // need each other; it is checked, as are the groups that inspect names. Called for the graph's
    // first device. Nodes that the user's affinity assigns to other devices are moved there
    // afterwards, and parts are then made again. NULL: split_graph_node_to_sub_graph().
    int (*split_graph)(struct graph* ir_graph);
    // (optional) Rewrites the nodes that the device computes in a precision (TENGINE_MODE_*),
    // before the graph is split; nodes with keep_float stay. Devices are called in the context's
    // order, the default device last, and all see the whole graph: nodes by indices in topological
    // order, constants without a producer. The graph may be left with gaps and disorder.
    // NULL: apply_ir_precision().
    int (*optimize_graph)(struct graph* ir_graph, int precision);
} ir_optimizer_t;

// Walks the subgraphs of an execution graph, which the core has compiled, and calls
// run_ir_subgraph() for each.
typedef struct scheduler
{
    const char* name;
    // (optional) Called when the parts are compiled; graph->attribute->scheduler_privacy belongs to
    // the scheduler.
    int (*prerun)(struct scheduler* scheduler, struct graph* graph);
    // block 0: returns at once if the scheduler can; else as block 1.
    int (*run)(struct scheduler* scheduler, struct graph* graph, int block);
    // Waits for the oldest run in flight: 1 done, also when none is in flight; negative: it failed.
    int (*wait)(struct scheduler* scheduler, struct graph* graph);
    // (optional) Undoes prerun; waits for the runs in flight.
    int (*postrun)(struct scheduler* scheduler, struct graph* graph);
    // (optional) Called at unregistration.
    void (*release)(struct scheduler* scheduler);
    // (optional) As wait, but returns 0 when the run has not finished. NULL: run() leaves no run in
    // flight.
    int (*try_wait)(struct scheduler* scheduler, struct graph* graph);
    // Nonzero: parts may run at the same time, so tensors between them share no memory.
    int concurrent;
} ir_scheduler_t;

typedef struct device
{
    const char* name;
    struct interface* interface;
    struct allocator* allocator;
    struct optimizer* optimizer;  // (optional)
    // (optional) Walks graphs whose first device this is, unless the context names a scheduler.
    struct scheduler* scheduler;
    void* privacy;  // the device's own state
} ir_device_t;

// Clears all members and sets the name (not copied).
TENGINE_API void init_ir_device(struct device* device, const char* name);

// ---- registries; not while graphs run on other threads ----
// Nothing is unregistered while it is in use: a device by a context that lists it, a prepared graph
// with the device in its list, a graph whose device it is (set_graph_device), or a call that has
// not returned; a scheduler by a prepared graph.

// Calls interface->init; the device and its tables, which must be complete by then, must outlive
// its registration. While it lasts, `interface`, `allocator` and `optimizer` may point to copies
// that are as long as the library knows them. TENGINE_EEXIST for a name that is taken,
// TENGINE_EINVAL when name, interface, allocator or an entry not marked (optional) is missing,
// TENGINE_EVERSION for another major version of the ABI.
TENGINE_API int register_ir_device(struct device* device, const ir_abi_t* abi);
static inline int register_device(struct device* device)
{
    static const ir_abi_t abi = IR_ABI;
    return register_ir_device(device, &abi);
}
// Calls interface->release_device; afterwards contexts cannot list the device. TENGINE_ENOENT: it
// is not registered. TENGINE_ESTATE: it is in use and stays as it is; the message has its user, and
// what ends the use. Only this failure may occur on any thread while graphs run on others.
// TENGINE_EDEVICE: it is unregistered, but release_device failed.
TENGINE_API int unregister_device(struct device* device);
// At file scope: defines register_<name>_device() and unregister_<name>_device(), which the
// generated registration calls; `name` is the folder's name. A device that needs other functions
// writes the two itself.
#define TENGINE_DEFINE_DEVICE(name, pointer) TENGINE_DEFINE_REGISTRATION(name, device, pointer)
// The same for any kind of object with a register_<kind>() and an unregister_<kind>().
#define TENGINE_DEFINE_REGISTRATION(name, kind, pointer)    \
    TENGINE_C_LINKAGE int register_##name##_##kind(void);   \
    TENGINE_C_LINKAGE int unregister_##name##_##kind(void); \
    TENGINE_C_LINKAGE int register_##name##_##kind(void)    \
    {                                                       \
        return register_##kind(pointer);                    \
    }                                                       \
    TENGINE_C_LINKAGE int unregister_##name##_##kind(void)  \
    {                                                       \
        return unregister_##kind(pointer);                  \
    }                                                       \
    struct kind

TENGINE_API struct device* find_device_via_name(const char* name);
TENGINE_API struct device* find_device_via_index(int index);
TENGINE_API struct device* find_default_device(void);
TENGINE_API int get_device_count(void);

// Schedulers that a context's option "scheduler" can name, beside the built-in ones; the scheduler
// must outlive its registration. TENGINE_EEXIST for a name that is taken, TENGINE_EINVAL when name,
// run or wait is missing, TENGINE_ENOENT when it is not registered, TENGINE_EVERSION and
// TENGINE_ESTATE as above. release_tengine unregisters those that are left.
TENGINE_API int register_ir_scheduler(struct scheduler* scheduler, const ir_abi_t* abi);
static inline int register_scheduler(struct scheduler* scheduler)
{
    static const ir_abi_t abi = IR_ABI;
    return register_ir_scheduler(scheduler, &abi);
}
TENGINE_API int unregister_scheduler(struct scheduler* scheduler);
TENGINE_API struct scheduler* find_scheduler_via_name(const char* name);
TENGINE_API struct scheduler* find_scheduler_via_index(int index);
TENGINE_API int get_scheduler_count(void);

// ---- functions of the core for devices and schedulers ----

// The default split of an execution graph, for a device's split_graph that only adds steps before
// or after it. Fills graph->subgraph_list.
TENGINE_API int split_graph_node_to_sub_graph(struct graph* graph);

// For a device's own split_graph: a new part of `device` at the end of graph->subgraph_list, NULL
// when out of memory; and the nodes of a part, by their indices in the graph, which are copied.
TENGINE_API struct subgraph* create_ir_subgraph(struct graph* graph, struct device* device);
TENGINE_API int set_ir_subgraph_nodes(struct subgraph* subgraph, const int32_t nodes[], int number);

// The core's work for a device without optimize_graph: if describe() lists the data type of
// `precision`, the nodes that the device takes in it are rewritten, by quantize_ir_graph() for
// TENGINE_MODE_INT8 and _UINT8 and by convert_ir_graph() for _FP16 and _BF16. Else the graph does
// not change.
TENGINE_API int apply_ir_precision(struct graph* graph, struct device* device, int precision);
// For optimize_graph: float nodes whose operands and results are quantised become integer nodes
// with identical results (docs/precision.md): QLinearConv, QLinearMatMul, com.microsoft.QGemm,
// .QLinearAdd, .QLinearMul, .QLinearAveragePool, .QLinearGlobalAveragePool, .QLinearSoftmax,
// tengine.QLinearLayerNormalization, .Lookup, and operators that move int8 or uint8 values. Each
// candidate is built, and stays if the device takes it: describe, inspect, and the user's affinity.
// Tensors are quantised by QuantizeLinear and DequantizeLinear, or by calibration: then
// `data_type`, TENGINE_DT_INT8 or TENGINE_DT_UINT8, is their type. Names stay; indices change.
// TENGINE_ENOENT: the graph does not have the device.
TENGINE_API int quantize_ir_graph(struct graph* graph, struct device* device, int data_type);
// The same for floats: fp32 nodes that the device takes in `data_type`, TENGINE_DT_FP16 or
// TENGINE_DT_BF16, are converted, with one Cast for each tensor that other nodes read or write.
// Constants are converted once. Inputs and outputs of the graph keep their types.
TENGINE_API int convert_ir_graph(struct graph* graph, struct device* device, int data_type);

// The value that the graph's context has for `key` of the device, as a string; NULL when it was not
// set. For the entries up to pre_run; a late run may outlive the context.
TENGINE_API const char* get_ir_device_option(const struct graph* graph, const struct device* device,
                                             const char* key);

// For survey: stores the device's findings with the graph, until the graph is destroyed or the
// device stores others, and as long as parts exist with a call that may be given up
// (prerun.watchdog_ms, run.watchdog_ms); `release` (may be NULL) then frees them, on any thread.
// TENGINE_ENOMEM: `found` is still the caller's.
TENGINE_API int set_ir_device_survey(const struct graph* graph, const struct device* device,
                                     void* found, void (*release)(void* found));
// The findings of survey, NULL when it stored none. `graph` is the graph that survey saw, or the
// graph of one of its parts. For the entries up to pre_run, and for estimate, which reports may
// call at any time until postrun_graph.
TENGINE_API void* get_ir_device_survey(const struct graph* graph, const struct device* device);

// For inspect: the number of the part in the model's file that has the node and that the device has
// compiled ahead of time (tengine compile), from 1 on, equal for all nodes of the part; 0: there is
// none. The part is loaded if the split gives its nodes to the device as one part, which a group of
// that number causes.
TENGINE_API int get_ir_node_compiled_part(const struct node* node, const struct device* device);

// For schedulers: runs one part of an execution graph on its device, after the parts that write its
// inputs have run. Limits the time and falls back to the default device as the context's options
// allow; it fails if that fails, too. Independent parts may be run on different threads at the same
// time.
TENGINE_API int run_ir_subgraph(struct subgraph* subgraph);

// For devices: 1 when the call in flight for the part should return (interface.cancel), else 0. A
// device that asks this between its steps needs no entry cancel. Any thread, while the call lasts.
TENGINE_API int is_ir_part_cancelled(const struct subgraph* subgraph);

// For devices whose parts need memory only while they run, such as that of tensors inside the part:
// in pre_run or load, the bytes of it in one of the device's memories (interface.memories), 0 for
// the first or only one; subgraph->plan_bytes includes them. Parts that never run at the same time
// share memory. TENGINE_ELIMIT: more than memory.limit_mb allows; TENGINE_ERANGE: no such memory.
TENGINE_API int set_ir_part_scratch(struct subgraph* subgraph, int memory, size_t bytes);
// The memory, aligned to 64 bytes: from the begin of run or async_run to its end, with any contents
// at the begin. Its address may differ from run to run.
TENGINE_API void* get_ir_part_scratch(const struct subgraph* subgraph, int memory);
// In pre_run or load: the bytes in one of the device's memories that the device has allocated
// itself, for as long as the part exists. Other parts have room for as many less. subgraph->
// plan_bytes includes them.
TENGINE_API void set_ir_part_plan_bytes(struct subgraph* subgraph, int memory, size_t bytes);
// In pre_run or load: the bytes that the part may have of the memory, besides those of parts that
// may run at the same time; SIZE_MAX for a memory of any size.
TENGINE_API size_t get_ir_part_room(const struct subgraph* subgraph, int memory);

// Id of an operator, for describe(); -1 when there is none. `domain` "" is ONNX.
TENGINE_API int get_op_type(const char* domain, const char* name);
TENGINE_API const char* find_op_name(int type);
// Appends the ids of operators by name, for describe(); unknown names are an error, except in
// builds with selected operators, which skip them. Names of other domains than ONNX's begin with
// the domain: "com.microsoft.QGemm".
TENGINE_API int push_op_names(struct vector* ops, const char* const names[], int number);

TENGINE_EXTERN_C_END
