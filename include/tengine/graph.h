// SPDX-License-Identifier: Apache-2.0
// Models in memory and data of tensors whose sizes exceed an int, on hosts with addresses of 64
// bits; and several graphs that share the weights of a model. Results, errors, ownership and
// threads are as c_api.h says.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Creates a graph from a model of `size` bytes in memory, as create_graph does for its formats of
// memory. `model_format`:
//   "onnx", "tengine", "tflite"
//                      copies the weights: the bytes stay the caller's and may be freed as soon as
//                      the function returns.
//   "onnx:view", "tengine:view", "tflite:view", "onnx:m", "tengine:m", "tflite:m"
//                      as create_graph: ":view" of a tmfile or .tflite uses the caller's bytes
//                      until destroy_graph, ":m" of one takes ownership of a block from malloc().
// A tmfile has less than 4 GiB. An ONNX model may be larger than protobuf's 2 GiB if only its
// initializers in raw_data make it so; it has no external data. Fails as create_graph, with
// TENGINE_EINVAL (NULL, a size of 0), TENGINE_ENOENT (no such format) and TENGINE_ENOMEM.
TENGINE_API graph_t tengine_graph_load(context_t context, const char* model_format,
                                       const void* data, size_t size);

// set_tensor_buffer, set_tensor_data and get_tensor_data of c_api.h for any size;
// tengine_tensor_get_buffer_size returns the bytes of a tensor. They fail as those.
TENGINE_API int tengine_tensor_set_buffer(tensor_t tensor, void* buffer, size_t buffer_size);
TENGINE_API int tengine_tensor_set_data(tensor_t tensor, const void* input_data, size_t data_size);
TENGINE_API int tengine_tensor_get_data(tensor_t tensor, void* output_data, size_t data_size);

// Creates another instance of the graph: a graph of its own, with its own inputs, outputs, arena,
// state and kept preparations, which another thread may run at the same time. It refers to the
// constants of `graph`; the first preparation of one of them packs weights for the devices that
// hold packed weights, and the others with the same threads, precision, context and options use the
// same packs. An instance takes the memory of its activations.
//
// The instance is as `graph` is now: its nodes, attributes, shapes of inputs, devices, affinities
// and compiled parts of the model. Its inputs have no data and its outputs no buffers, it is not
// prepared, and it has no event handlers. prerun_graph prepares it with the number of threads and
// the precision of `graph`.
//
// Ownership: destroy_graph destroys each instance, in any order. The last one frees the constants
// and unmaps the model's file. Memory of a ":view" stays the caller's until then. A constant that
// the program changes on one instance (set_tensor_data, set_tensor_buffer, or get_tensor_buffer,
// which returns memory to be written to) becomes this instance's own: the others keep its values. A
// constant that has such memory at the time of the call is copied.
//
// Threads: as other functions of `graph`, which must not run or be in flight: TENGINE_ESTATE.
// Afterwards each instance belongs to a thread of its own, also to be shared again and destroyed.
// NULL with TENGINE_EHANDLE, TENGINE_ENOMEM, or TENGINE_ENOTSUP (a node has a kernel of
// set_custom_kernel, which belongs to one graph).
TENGINE_API graph_t tengine_graph_share(graph_t graph);

TENGINE_EXTERN_C_END
