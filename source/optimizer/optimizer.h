// SPDX-License-Identifier: Apache-2.0
// The room optimizer: from source graph to execution graph with parts, by fixed lists of passes
// (pipeline.cc). It does not change the source graph, and calls devices through their tables only:
// no pass names a device. Its inside is C++; rooms above see this header.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

struct ir_model_bytes;
struct tengine_quantization;

// A copy of `source` that shares its constants, after all passes: ONNX operators of the newest
// opset, shapes, folded constants, parts with their devices. The source does not change, except for
// the place of its constants: see align_ir_constants(). *out_graph is to be destroyed with
// destroy_ir_graph() before the source.
int create_execution_graph(struct graph* source, const ir_run_options_t* options,
                           struct graph** out_graph);

// Terms and check of a preparation that is to be kept in the model's file (graph/prepared.h), from
// which create_execution_graph() then reads it. find: fills the fingerprint and, in words,
// `target`; ENOTSUP: a file cannot have a preparation of this graph as it is now, with the reason.
// check: that the bytes, written of `execution`, read as the same graph. ENOTSUP has the
// difference.
TENGINE_MUST_USE int find_ir_preparation_terms(const struct graph* source,
                                               const ir_run_options_t* options,
                                               struct ir_model_bytes* out_bytes);
TENGINE_MUST_USE int check_ir_preparation(const struct graph* execution, const void* data,
                                          size_t size);

// Judges a variant of the model (graph/variant.h) for runs with the options of its context in this
// TENGINE_MODE_*. out_reason: "" if it fits, else why not, without its end if that is longer.
// ENOMEM; codes of devices that do not say what they are.
TENGINE_MUST_USE int judge_ir_variant(const struct graph* model, int index, int precision,
                                      char out_reason[], size_t capacity);

// Appends the constants that the outputs need, by their indices (int32_t). ENOMEM.
int list_ir_needed_constants(const struct graph* source, struct vector* constants);

// The contents of a file of this source graph in `dialect` ("tengine": Tengine's operators, "":
// ONNX's in one opset, that of the option model.opset): a graph in source form. Nodes that have no
// form in Tengine stay ONNX's, and a warning gives the reason. *out_graph is NULL when the source
// graph has that form, else to be destroyed with destroy_ir_graph() before the source. All input
// shapes must be known, unless the source is in the dialect. TENGINE_ENOTSUP: the opset lacks an
// operator.
int create_saved_graph(const struct graph* source, const char* dialect, struct graph** out_graph);

// The contents of a .tflite of a prepared source graph whose kept parts (model.keep_parts) a
// vendor's compiler has made of nodes of a .tflite: each is a DISPATCH_OP with its byte code, all
// other nodes are those of the source. *out_graph is NULL when there are no such parts, else to be
// destroyed with destroy_ir_graph() before the source.
int create_bundled_graph(const struct graph* source, struct graph** out_graph);

// Whether the results of `request` are the first elements of those that `bucket` has for inputs of
// which only the first elements are the request's: both are execution graphs of one source graph,
// and no input of the request is larger. out_reason: "" if so, else the reason why that is not
// known, without its end if it is longer. ENOMEM.
TENGINE_MUST_USE int judge_ir_padding(const struct graph* bucket, const struct graph* request,
                                      char out_reason[], size_t capacity);

// A new source graph: the quantised form of `source`, as tengine_graph_quantize() gives it.
// Operators of Tengine become ONNX's, for which all input shapes must be known. Its constants are
// its own.
int create_quantized_graph(const struct graph* source, const struct tengine_quantization* how,
                           struct graph** out_graph);

// A new source graph: another instance of the model of `source`, for which share_ir_model() has
// been called (graph/shared_model.h). Shapes of inputs, devices and affinities are those that
// `source` has now; inputs and outputs have no data. ENOTSUP: a node has a kernel of
// set_custom_kernel().
int create_instance_graph(const struct graph* source, struct graph** out_graph);

// A part as a graph of its own, with one subgraph of all its nodes, which a device compiles and
// runs. Tensors and nodes have the names of the execution graph's and their indices there as
// source_index; data types and shapes are copied. Inputs and outputs are the part's boundary
// tensors, without data. Constants share the execution graph's data; with `copy_constants` they
// have their own, and the graph may outlive the execution graph. `device` need not be the part's.
// To be destroyed with destroy_ir_graph((*out_subgraph)->graph).
int detach_ir_subgraph(const struct subgraph* part, struct device* device, bool copy_constants,
                       struct subgraph** out_subgraph);

// Repairs of a split whose part `index` a device could not compile; boundaries and indices are
// computed again. halve: replaces the part by two on the same device, the first half of its nodes
// and the second; it must have two nodes. redirect: gives the part to the default device, and each
// of its nodes records the refusal. EOPERATOR when the default device does not take a node,
// EFALLBACK when the context does not allow it.
int halve_ir_subgraph(struct graph* execution, int index);
int redirect_ir_subgraph(struct graph* execution, int index, int reason, const char* message);
// Joins neighbours in the list that the default device runs; none may be compiled yet.
int join_ir_default_subgraphs(struct graph* execution);

// Plans memory of boundary tensors and of the graph's outputs, after the last change of parts, in
// the memories of graph.core.plan_needs, if there are several.
int plan_ir_boundary_memory(struct graph* execution);
// Appends the ir_part_block_t of these tensors (tengine/device.h), whose steps are parts, and the
// ir_block_place_t of each; nothing before the plan. `block` counts them in the vector. ENOMEM.
int list_ir_boundary_blocks(const struct graph* execution, struct vector* out_blocks,
                            struct vector* out_places);

// The device that a graph's nodes are offered first: set_graph_device()'s choice, else the first of
// its context, else the default device, which comes last at any place in the list.
struct device* find_best_device(const struct graph* graph);

// The devices that may take the graph's nodes, each once, best first and the default device last:
// appends struct device*.
int list_ir_graph_devices(const struct graph* graph, struct vector* out_devices);

// Predicted time of one run of a node on its device, in ns. The node stores it until its device
// changes, which sets predicted_ns to -1.
int64_t predict_ir_node(struct node* node);

// After a failure that the shapes of the graph's inputs may explain, whose status is also returned:
// extends the message by the inputs whose shape differs from the model's declaration, or else by a
// dimension's name that has two values. Tmfiles, the only format of minimal builds, declare
// nothing.
int explain_ir_inputs(const struct graph* source, int status);

// One log line with the devices of the nodes and the reasons (option split.report).
void report_ir_split(const struct graph* execution);

TENGINE_EXTERN_C_END
