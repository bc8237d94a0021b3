// SPDX-License-Identifier: Apache-2.0
// Quantisation of a float model with ranges of tensors that the program has found; calibration.h
// finds them from samples. The library selects the nodes that it computes in int8, and inserts the
// pairs of QuantizeLinear and DequantizeLinear. The rules of c_api.h for results, errors, ownership
// and threads hold here.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Nodes that are quantised as one, with no pairs between: an operator with its bias and its Relu or
// Clip, or a function of one tensor that consists of several nodes.
struct tengine_quantized_layer
{
    const char* const* nodes;      // names, in the order of the graph
    const char* const* operators;  // of each
    int node_number;
    const char* tensor;  // the first result
    int stands_alone;    // 0: quantised only because all its inputs are
};

// A tensor that is quantised as int8 or uint8: real = scale x (stored - zero_point).
struct tengine_quantized_tensor
{
    const char* name;  // of the model
    float scale;
    int zero_point;
    const char* dequantized;  // the float tensor of the new graph with its dequantised values
};

// A value of tengine_quantization.per_channel.
#define TENGINE_PER_TENSOR (-1)

// The nodes to quantise, and the method. Unused members are 0 or NULL. tengine_graph_quantize calls
// the functions before it returns, on its thread, with `user`. Their arguments are valid until they
// return. They must not use the graph.
struct tengine_quantization
{
    // 0 or 1: a weight has a scale for each output channel, so that a channel with large values
    // does not coarsen the others. TENGINE_PER_TENSOR: one scale, for devices that need it.
    int per_channel;
    int unsigned_activations;  // 1: activations are uint8, otherwise int8; weights are int8
    // Nodes that stay in float: names in which * stands for any characters and ? for one, or
    // "op:<operator>". A layer with such a node stays in float as a whole.
    const char* const* keep_float;
    int keep_float_number;
    void* user;
    // Required, unless `dynamic` is set. Gives the range of the values of a tensor that is computed
    // or fed. Returns 1, or 0 if there is no range, as for tensors that are not fp32: every layer
    // that reads or writes the tensor then stays in float. Called once for a tensor, never for a
    // constant.
    int (*get_range)(void* user, const char* tensor, double* low, double* high);
    // Returns 1 to quantise a layer, 0 to leave it in float. Layers come in the order of the graph.
    // NULL: all layers are quantised.
    int (*choose)(void* user, const struct tengine_quantized_layer* layer);
    // Gets each tensor that has been quantised, including constants, but not weights and biases.
    void (*take_tensor)(void* user, const struct tengine_quantized_tensor* tensor);
    // Gets each node that `keep_float` matches.
    void (*take_kept)(void* user, const char* node);
    // 1: no ranges are needed. The left operand of MatMul or Gemm by a constant matrix is quantised
    // to uint8 in each run, by its range in that run: DynamicQuantizeLinear, MatMulInteger, Cast,
    // Mul and Add replace the product, as ONNX Runtime's quantize_dynamic writes them; weights are
    // int8 with a scale for each column. get_range and take_tensor are then NULL, per_channel and
    // unsigned_activations 0.
    int dynamic;
};

// A new graph: `graph` in 8 bits, in the QDQ form of ONNX. It runs in float between the pairs, or
// in TENGINE_MODE_INT8, and save_graph writes it, as ONNX or as a tmfile of int8 or uint8 tensors.
// Its context is that of `graph`, which is not changed and may be destroyed first. Custom kernels
// stay with `graph`.
//
// `graph` should be in float. Pairs that it already has stay.
//
// Batch normalisation after a convolution is merged into its weights, also if the convolution stays
// in float. Activations: one scale and zero point a tensor, scale = (high - low) / 255 with 0
// inside the range; tensors that are connected by nodes that only move values share the smallest
// range that contains theirs. Weights: -127 to 127 without zero point. Biases: int32, in units of
// the input's scale times the weight's. docs/quantize.md lists the operators that are quantised. If
// no tensor has a range, or no layer is chosen, the new graph is the float model with the batch
// normalisation merged, the model that a program calibrates.
//
// With `dynamic` the new graph has no pairs, and runs with integer products in any mode. Only
// products by a constant matrix are quantised, and a Gemm only without alpha, beta and transA.
//
// A graph of ONNX's operators keeps its opset, and may have inputs without complete shape.
// Operators of Tengine become ONNX's of the newest opset, for which shapes must be complete.
//
// Thread rule: as every function on the graph; not while it runs. Fails with TENGINE_EINVAL (NULL,
// no get_range, a member that must not be set with `dynamic`, another per_channel, a
// negative number, a range that is not finite or whose ends are in the wrong order, a constant with
// values that are not finite, an input of a graph of Tengine's operators without complete shape),
// TENGINE_EIO (a mapped file of the graph has changed in place), TENGINE_ENOENT (a pattern of
// keep_float matches no node), TENGINE_ENOTSUP (an opset before 10, before 11 with `dynamic`,
// before 13 with scales per channel; a build without TENGINE_WITH_PRECISIONS), TENGINE_EOPERATOR
// (an operator of Tengine without an ONNX equivalent).
TENGINE_API graph_t tengine_graph_quantize(graph_t graph, const struct tengine_quantization* how);

// The choice among several quantisations: the one with most work on devices.
struct tengine_quantization_choice
{
    int index;                 // of the chosen quantisation
    int64_t mac_number;        // multiply-accumulates of a run that the devices then take
    int64_t first_mac_number;  // and of the first quantisation
    char refusal[512];         // the reason of a refusal with the first one; "" if it is chosen
};

// Places the graph on the devices of its context in TENGINE_MODE_INT8, once for each of the
// `number` quantisations at `how`, such as per channel and per tensor, and chooses the first of
// those with which devices other than the default one take the most multiply-accumulates. Nothing
// is compiled, and `graph` is not changed. The context's option split.prune decides whether devices
// get parts that do not pay. The functions of `how` are called as by tengine_graph_quantize. `size`
// is sizeof *out_choice, see inspect.h.
//
// The shapes of the inputs must be complete. Thread rule: as tengine_graph_quantize. Returns 0, or
// -1 as tengine_graph_quantize and tengine_graph_place fail, and with TENGINE_EINVAL (NULL, a
// `number` below 1, a size of 0).
TENGINE_API int tengine_graph_choose_quantization(graph_t graph,
                                                  const struct tengine_quantization how[],
                                                  int number,
                                                  struct tengine_quantization_choice* out_choice,
                                                  size_t size);

TENGINE_EXTERN_C_END
