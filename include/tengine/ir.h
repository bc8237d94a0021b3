// SPDX-License-Identifier: Apache-2.0
// The intermediate representation that devices and serializers see: tensor, node, graph, subgraph.
// Names follow Tengine Lite; widths are enlarged. The contract of a device is in device.h.
//
// Members are part of the device ABI (docs/compatibility.md): they keep their offsets, and no new
// ones are added, since the core makes the structures and devices read them that may be newer.
// Later additions are functions. `core` points to the core's own data.
//
// There are two graphs. The source graph is the model of the file (or the program) and is never
// rewritten. prerun makes an execution graph from it, with ONNX's operators only: its nodes are
// operators of the newest opset, its constants are tensors of type TENSOR_TYPE_CONST, and it has
// neither InputOp nor Const nodes. Devices see execution graphs only.
//
// Thread rule: a graph and all it owns belong to one thread at a time; different graphs are
// independent of each other.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/defines.h"
#include "tengine/error.h"
#include "tengine/vector.h"

TENGINE_EXTERN_C_BEGIN

struct context;
struct dev_mem;
struct device;
struct graph;
struct method;
struct node;

// Role of a node in its graph (node.node_type).
#define TE_NODE_TYPE_INTERMEDIATE 0
#define TE_NODE_TYPE_INPUT 1
#define TE_NODE_TYPE_OUTPUT 2

typedef struct tensor
{
    int32_t index;      // position in graph.tensor_list
    int32_t producer;   // node that writes it; -1: none (input, constant)
    int32_t* consumer;  // nodes that read it, one entry per use
    int32_t consumer_num;
    uint8_t reshaped;             // the user gave it a new shape since the last prerun
    uint8_t tensor_type;          // TENSOR_TYPE_*
    uint8_t data_type;            // TENGINE_DT_*; in a source graph also TENGINE_DT_UNKNOWN
    uint8_t dim_num;              // rank; 0 with shape_set is a scalar
    uint8_t shape_set;            // 0: not even the rank is known
    uint8_t elem_size;            // bytes of one element; 1 where several share a byte
    uint8_t free_host_mem;        // the tensor owns `data` and frees it with free_memory()
    uint8_t internal_allocated;   // `data` belongs to a memory plan or to a device
    uint8_t layout;               // TENGINE_LAYOUT_*, a tag
    int64_t elem_num;             // product of dims; 0 while a dimension is unknown
    int dims[MAX_SHAPE_DIM_NUM];  // -1: not known yet (a symbolic dimension)
    TENGINE_EXTENSION union
    {
        void* data;  // host memory, dense, row-major; NULL while there is none
        int8_t* i8;
        uint8_t* u8;
        float* f32;
        uint16_t* f16;
        int32_t* i32;
        int64_t* i64;
    };
    char* name;               // never NULL
    int32_t quant_param_num;  // 0: not quantised, 1: per tensor, else per slice along quant_axis
    int32_t quant_axis;
    TENGINE_EXTENSION union
    {
        float* scale_list;  // quant_param_num > 1
        float scale;        // quant_param_num == 1
    };
    TENGINE_EXTENSION union
    {
        int* zp_list;
        int zero_point;
    };
    struct dev_mem* dev_mem;  // never read; kept so that devices of Tengine Lite compile
    int32_t* subgraph_list;   // subgraphs that read or write it
    int32_t subgraph_num;
    struct ir_tensor_core* core;
} ir_tensor_t;

typedef struct op
{
    int32_t type;         // id given at registration, see get_op_type()
    int32_t version;      // opset of the semantics
    uint8_t same_shape;   // output 0 has the shape and type of input 0
    uint32_t param_size;  // bytes of param_mem
    void* param_mem;      // the operator's parameter struct; read it with get_ir_node_* below
    int (*infer_shape)(struct node* node);
    void (*release)(struct op* op);  // frees param_mem
    const struct method* method;     // the operator's description, see source/operator
} ir_op_t;

typedef struct node
{
    int32_t index;          // position in graph.node_list
    uint8_t dynamic_shape;  // an output's shape depends on data and is known at run time only
    uint8_t node_type;      // TE_NODE_TYPE_*
    int32_t input_num;
    int32_t output_num;
    int32_t* input_tensors;   // tensor indices; -1: an optional input that is absent
    int32_t* output_tensors;  // tensor indices; -1: an optional output without a reader
    int32_t subgraph_idx;     // subgraph that runs it; -1 before the split
    char* name;               // never NULL
    struct graph* graph;
    struct device* device;  // that runs it; NULL before the split
    struct ir_node_core* core;
    ir_op_t op;
} ir_node_t;

typedef struct subgraph
{
    int32_t index;
    int32_t input_ready_count;  // never read; kept so that devices of Tengine Lite compile
    int32_t input_wait_count;   // inputs other subgraphs write
    int32_t input_num;
    int32_t output_num;
    int32_t node_num;
    uint8_t status;               // GRAPH_STAT_*
    int32_t* node_list;           // in topological order
    int32_t* input_tensor_list;   // read here, written elsewhere; no constants
    int32_t* output_tensor_list;  // written here, read elsewhere or an output of the graph
    struct graph* graph;
    struct device* device;
    void* device_graph;  // the device's result of pre_run
    size_t plan_bytes;   // memory pre_run planned inside the part, for reports
    struct ir_subgraph_core* core;
} ir_subgraph_t;

// How an integer becomes a byte, times a real factor r (tengine/fixed_point.h).
typedef enum ir_rounding
{
    // The exact product, rounded once, ties to even.
    IR_ROUNDING_NEAREST,
    // LiteRT's default kernels, XNNPACK: the integer, r and their product are floats, and the
    // product is rounded to the nearest integer, ties to even. r is made of scales in floats.
    IR_ROUNDING_FLOAT,
    // tflite-micro and the other kernels of LiteRT: with r = q * 2^e and q in [0.5, 1), the integer
    // times q * 2^max(e, 0) is rounded, ties up, then divided by 2^max(-e, 0) and rounded, ties
    // away from 0.
    IR_ROUNDING_TWICE
} ir_rounding_t;

// The user's settings for the runs of this graph; devices may read them in pre_run.
typedef struct run_options
{
    int num_thread;     // > 0
    int cluster;        // TENGINE_CLUSTER_*
    int precision;      // TENGINE_MODE_*
    int rounding;       // ir_rounding_t, on devices that have it
    uint64_t affinity;  // CPU mask; 0: not pinned
    int profile;        // nonzero: devices measure the time of every node
    int concurrent;     // nonzero: parts may run at the same time
} ir_run_options_t;

typedef struct attribute
{
    uint8_t status;           // GRAPH_STAT_*
    uint8_t priority;         // never read; kept so that devices of Tengine Lite compile
    uint8_t policy;           // the same
    uint8_t private_context;  // the context dies with the graph
    struct context* context;
    void* device_privacy;
    void* scheduler_privacy;
} ir_attribute_t;

typedef struct graph
{
    struct tensor** tensor_list;
    struct node** node_list;  // execution graph: topological order
    int32_t* input_nodes;     // source graph: the InputOp nodes
    int32_t* output_nodes;    // source graph: producers of the outputs
    int32_t* input_tensors;   // tensors that the user feeds, in the file's order
    int32_t* output_tensors;  // tensors that the user reads, in the file's order
    int32_t tensor_num;
    int32_t node_num;
    int32_t input_num;
    int32_t output_num;
    int32_t input_tensor_num;
    int32_t output_tensor_num;
    int8_t graph_layout;  // TENGINE_LAYOUT_*
    int8_t model_layout;
    int8_t model_format;
    uint8_t status;         // GRAPH_STAT_*
    char* name;             // never NULL
    struct device* device;  // the device of set_graph_device(), or NULL
    void* device_privacy;   // never read; kept so that devices of Tengine Lite compile
    struct attribute* attribute;
    struct vector* subgraph_list;         // of struct subgraph*
    const ir_run_options_t* run_options;  // never NULL
    struct ir_graph_core* core;
} ir_graph_t;

// ---- graph ----

// A new, empty graph. `context` is borrowed and may be NULL. NULL when out of memory.
TENGINE_API struct graph* create_ir_graph(struct context* context);
// Frees the graph, its tensors, nodes, subgraphs (through their devices) and execution graph.
TENGINE_API void destroy_ir_graph(struct graph* graph);
// Replace the list of input (output) nodes; the tensors these nodes write become the graph's input
// (output) tensors. TENGINE_EINVAL for an empty list, TENGINE_ERANGE for an index without node.
TENGINE_API int set_ir_graph_input_node(struct graph* graph, const int32_t input_nodes[],
                                        int input_number);
TENGINE_API int set_ir_graph_output_node(struct graph* graph, const int32_t output_nodes[],
                                         int output_number);
// Replace the list of input (output) tensors without touching the node lists.
TENGINE_API int set_ir_graph_input_tensor(struct graph* graph, const int32_t tensors[], int number);
TENGINE_API int set_ir_graph_output_tensor(struct graph* graph, const int32_t tensors[],
                                           int number);
// NULL when the index is out of range; -1 is, so absent optional inputs are NULL.
TENGINE_API struct tensor* get_ir_graph_tensor(const struct graph* graph, int index);
TENGINE_API struct node* get_ir_graph_node(const struct graph* graph, int index);
TENGINE_API struct subgraph* get_ir_graph_subgraph(const struct graph* graph, int index);
// Prints nodes and tensors at log level INFO.
TENGINE_API void dump_ir_graph(const struct graph* graph);

// ---- node ----

// Appends a node with the operator's default parameters. `op_version` is the opset; 0 is the
// newest. The name is copied; NULL or "" makes one from operator and index. NULL on failure (error
// set).
TENGINE_API struct node* create_ir_node(struct graph* ir_graph, const char* node_name, int op_type,
                                        int op_version);
TENGINE_API int get_ir_node_index_from_name(const struct graph* ir_graph, const char* node_name);
// Connects a tensor; lists grow and gaps are absent (-1). `tensor` NULL disconnects.
TENGINE_API int set_ir_node_input_tensor(struct node* ir_node, int input_idx,
                                         struct tensor* tensor);
TENGINE_API int set_ir_node_output_tensor(struct node* ir_node, int output_idx,
                                          struct tensor* tensor);
// The connected tensor or NULL when absent or out of range.
TENGINE_API struct tensor* get_ir_node_input(const struct node* node, int index);
TENGINE_API struct tensor* get_ir_node_output(const struct node* node, int index);
// Operator name ("Conv") and domain ("" is ONNX).
TENGINE_API const char* get_ir_node_op(const struct node* node);
TENGINE_API const char* get_ir_node_domain(const struct node* node);
// Parameters by their ONNX name. The given default is returned when the operator has no parameter
// of this name and kind; for lists *out_num is then 0. Pointers live as long as the node.
TENGINE_API int64_t get_ir_node_int(const struct node* node, const char* name, int64_t otherwise);
TENGINE_API float get_ir_node_float(const struct node* node, const char* name, float otherwise);
TENGINE_API const char* get_ir_node_text(const struct node* node, const char* name,
                                         const char* otherwise);
TENGINE_API const int64_t* get_ir_node_ints(const struct node* node, const char* name,
                                            int* out_num);
TENGINE_API const float* get_ir_node_floats(const struct node* node, const char* name,
                                            int* out_num);
// Multiply-accumulates of the node once its shapes are known; 0 for data movement. At most 2^46.
TENGINE_API int64_t get_ir_node_macs(const struct node* node);

// ---- tensor ----

// Appends a tensor of type TENSOR_TYPE_VAR without shape; its data type may be TENGINE_DT_UNKNOWN.
// The name is copied; NULL or "" makes one from the index. NULL on failure (error set).
TENGINE_API struct tensor* create_ir_tensor(struct graph* graph, const char* tensor_name,
                                            int data_type);
TENGINE_API int get_ir_tensor_index_from_name(const struct graph* ir_graph,
                                              const char* tensor_name);
// dims >= 0, or -1 for a dimension not known yet; updates elem_num. TENGINE_ERANGE for rank > 8,
// a dimension below -1 or more than 2^48 bytes (2^31 where a size has 32 bits).
TENGINE_API int set_ir_tensor_shape(struct tensor* ir_tensor, const int dims[], int dim_number);
// TENGINE_EDTYPE for an unknown type, TENGINE_ERANGE for more bytes than set_ir_tensor_shape
// allows.
TENGINE_API int set_ir_tensor_data_type(struct tensor* ir_tensor, int data_type);
// Names of the first `number` dimensions, "" for none (ONNX's dim_param, "batch"). They are copied,
// replace older ones, and stay when the shape changes; the tensor's present shape is stored with
// them as the shape that the model declares.
TENGINE_API int set_ir_tensor_dim_names(struct tensor* ir_tensor, const char* const names[],
                                        int number);
// "" when the dimension has no name. Lives as long as the tensor, or until the next set.
TENGINE_API const char* get_ir_tensor_dim_name(const struct tensor* ir_tensor, int dim);
// True when rank and every dimension are known.
TENGINE_API bool is_ir_tensor_shape_known(const struct tensor* ir_tensor);
// Bytes of the whole tensor; 0 while the shape is not known.
TENGINE_API size_t get_ir_tensor_bytes(const struct tensor* ir_tensor);
// Gives the tensor memory of its own for its present shape and type (zeroed).
TENGINE_API int allocate_ir_tensor(struct tensor* ir_tensor);
// Frees owned memory and forgets `data`.
TENGINE_API void release_ir_tensor_data(struct tensor* ir_tensor);
TENGINE_API int set_ir_tensor_quantization_parameter(struct tensor* ir_tensor, const float* scale,
                                                     const int* zero_point, int number);
TENGINE_API int get_ir_tensor_quantization_parameter(const struct tensor* ir_tensor, float* scale,
                                                     int* zero_point, int number);
TENGINE_API int set_ir_tensor_consumer(struct tensor* ir_tensor, int index);

// Properties of a TENGINE_DT_*: bytes of one element, 1 for elements of 4 and 2 bits, which share
// bytes (defines.h); bits of one element; and its name ("fp32"). 0 for an unknown type.
TENGINE_API int get_data_type_size(int data_type);
TENGINE_API int get_data_type_bits(int data_type);
TENGINE_API const char* get_data_type_name(int data_type);

TENGINE_EXTERN_C_END
