// SPDX-License-Identifier: Apache-2.0
// The core's data of graphs, nodes, tensors and parts beyond the public ir.h: `core` of each points
// here. Devices outside the tree do not see these structures, which may change at any time.
#pragma once

#include "graph/run_state.h"
#include "graph/scratch.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

struct custom_kernel;
struct graph_pool;
struct ir_arena_block;
struct ir_bodies;
struct ir_entries;
struct ir_metadata;
struct ir_model_parts;
struct ir_prepared_format;
struct ir_refusal;
struct ir_shared_model;
struct ir_strings;
struct serializer;

// The device that takes the nodes that no other takes; generated.
extern const char ir_default_device_name[];

// A digest of the values of a constant.
typedef struct ir_digest
{
    bool found;
    uint64_t revision;  // the graph's, when it was found
    uint8_t bytes[32];  // SHA-256
} ir_digest_t;

// The shape that the model declares for an input or an output. The names of the dimensions follow
// it in memory, one string after the other.
typedef struct ir_declaration
{
    int dim_num;                  // -1: nothing
    int dims[MAX_SHAPE_DIM_NUM];  // -1: free
} ir_declaration_t;

typedef struct ir_tensor_core
{
    int32_t source_index;      // execution graph: the source graph's tensor it stands for, or -1
    int32_t graph_output_num;  // how often it is in graph.output_tensors
    int32_t* consumer_input;   // which of its inputs consumer[i] reads with, or -1; in its block
    ir_declaration_t* declaration;  // see declare_ir_tensor_shape(), graph/declaration.h; or NULL
    bool lent;                      // source graph: a constant that the program may write to unseen
    bool is_file;    // source graph: a constant whose data are those of a mapped file
    bool is_shared;  // source graph: a constant whose data are those of core.shared
    void* pack;      // execution graph: `data`, when preparations share it, see graph_pool.h;
    struct graph_pool* pack_pool;  // and whose it is
    ir_digest_t* digest;           // source graph: a constant's, or NULL
} ir_tensor_core_t;

typedef struct ir_node_core
{
    int32_t source_index;                 // execution graph: the source graph's node, or -1
    int32_t refusal_num;                  // devices asked before the one that took it, and why not
    struct ir_refusal* refusal_list;      // the list of them
    int64_t predicted_ns;                 // time of one run on its device; -1: not predicted yet
    int64_t measured_ns;                  // time of the last run; -1: not known
    struct custom_kernel* custom_kernel;  // the program's own kernel, or NULL; the source node's
    int32_t* input_places;                // its place among the consumers of each input
    int32_t group;             // its device's, see ir_verdict_t; 0: it shares a part with all
    struct ir_bodies* bodies;  // those of control flow, see graph/body.h; or NULL
    bool keep_float;           // the user requires the model's own types for it
} ir_node_core_t;

typedef struct ir_subgraph_core
{
    int64_t bytes_in;     // bytes of the inputs, as far as their shapes are known
    int64_t bytes_out;    // bytes of the outputs
    int64_t measured_ns;  // time of the last run; -1: not known
    int64_t redo_num;     // runs since prerun that the default device did in the device's place
    void* runner;         // the scheduler room's own, see scheduler/runner.h
    int origin;           // TENGINE_PART_*, see tengine/inspect.h
    // A compiled part: its needs in the memories of its device, of which there are `memory_num`; 0:
    // the device has one without a name, for which there is a need, too.
    ir_scratch_need_t* scratch;
    int scratch_num;
    int memory_num;
    // The blocks of its arenas as the model's file has them; NULL: it has none. Whoever uses them
    // checks them.
    const struct ir_arena_block* planned_blocks;
    int planned_block_num;
    // A part of an execution graph: the lenders that its compiled form shares with others after
    // prerun, and the bytes that it needs of each.
    ir_shared_scratch_t shared_scratch[IR_MOST_MEMORIES];
} ir_subgraph_core_t;

// Names of nodes or tensors, see graph/name_index.h.
typedef struct ir_name_index
{
    int32_t* slots;    // the place in the list, and 1; 0: free
    int32_t capacity;  // a power of two; 0: none yet
    int32_t number;    // entries of the list that are in it
} ir_name_index_t;

typedef struct ir_graph_core
{
    int32_t tensor_capacity;
    int32_t node_capacity;
    ir_name_index_t tensor_names;
    ir_name_index_t node_names;
    struct serializer* serializer;
    void* serializer_privacy;
    ir_run_options_t run_options;
    struct graph* execution;     // source graph: the one prerun made of it, or NULL
    const struct graph* source;  // execution graph: its source, else NULL
    void* plan;                  // execution graph: memory between parts, see optimizer
    size_t plan_bytes;           // its size
    // Execution graph: the part of this memory that is in the memories of the board, one need for
    // each of these, the fastest first; the last one, which has `plan`, needs nothing. NULL: all is
    // in `plan`.
    ir_scratch_need_t* plan_needs;
    int plan_need_num;
    struct vector* affinity;     // ir_affinity_t, see operator/affinity.h; NULL: none
    struct ir_strings* strings;  // see graph/string_pool.h; NULL: none yet
    struct graph_pool* pool;  // see graph/graph_pool.h; an execution graph and its parts have one
    void* session;            // execution graph: the scheduler room's own
    // Execution graph: the data with which the optimizer asks devices, see
    // optimizer/placement/candidates.h, and the function that frees it; or NULL.
    void* candidates;
    void (*release_candidates)(void* candidates);
    // Execution graph, and the graph of a part that may outlive it: the devices' surveys, see
    // survey.c; or NULL.
    struct vector* surveys;
    const struct graph* whole;  // the graph of any other part: the execution graph
    struct vector* announced;   // execution graph: devices whose pre_run_parts was called; or NULL
    // Execution graph: a vector of ir_settled_shape_t (graph/graph.h), or NULL.
    struct vector* settled_shapes;
    // Execution graph that a model's file has, see graph/prepared.h; else NULL: the place of each
    // tensor in the memory between parts (uint64_t), and the ir_arena_block_t of all parts.
    struct vector* planned_places;
    struct vector* planned_blocks;
    int preparation;    // source graph: see graph/preparation.h
    uint64_t revision;  // source graph: counts its changes but those of its inputs' shapes
    void* shape_cache;  // source graph: the scheduler room's own, see scheduler/shape_cache.h
    struct ir_model_parts* model_parts;  // source graph: see graph/model_part.h; NULL: none
    // Source graph: how preparations lie in its file, see graph/prepared.h; NULL: not at all. And
    // its revision when it had been read.
    const struct ir_prepared_format* prepared_format;
    uint64_t file_revision;
    struct ir_metadata* metadata;  // source graph: see graph/metadata.h; NULL: none
    struct vector* states;         // source graph: see graph/state.h; NULL: none
    struct ir_entries* entries;    // source graph: the model's, see graph/entry.h; NULL: none
    int entry;                     // and which of them it is
    struct graph* spare;     // execution graph, while it is prepared: see scheduler/spare_part.h
    int64_t memory_limit;    // execution graph and parts: most bytes to be held; 0: any
    int64_t memory_claimed;  // and what is held as far as it has been counted
    // Source graph: the model that it shares with other instances, see graph/shared_model.h, or
    // NULL; which state of it; and the graph's revision in this state.
    struct ir_shared_model* shared;
    int shared_entry;  // which entry of the model it is there
    int shared_generation;
    uint64_t shared_revision;
    // Source graph that is a body: the execution graph whose node has it; else NULL.
    const struct graph* outer;
    // The graph of a part, and a source graph that is a body: the run in flight that it is part of,
    // which the program may cancel (graph/run_state.h); else NULL.
    ir_run_t* run;
    // Source graph without a graph around it: its runs in flight, and the function that is told
    // their ends.
    ir_runs_t runs;
    ir_completion_hook_t completion;
} ir_graph_core_t;

TENGINE_EXTERN_C_END
