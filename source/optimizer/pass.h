// SPDX-License-Identifier: Apache-2.0
// The passes of pipeline.cc. Each takes a compact, sorted execution graph, returns a status, keeps
// names, and may leave gaps and disorder, which the pipeline removes after it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>

#include "base/containers.hpp"
#include "base/memory_plan.h"
#include "base/trace.h"
#include "tengine/error.h"
#include "tengine/ir.h"
#include "tengine/trace.h"

struct ir_pack_key;
struct ir_verdict;
struct tengine_quantization;

namespace tengine {

// pipeline.cc: logs the graph if TG_DUMP names the pass. `when` is "before" or "after".
void dump_for_pass(const graph& graph, const char* when, const char* name);

// A pass or a named step of one, which TG_DUMP=<name> shows before and after. `pass` is called with
// the graph and returns a status.
template <class Pass>
int run_pass(graph& graph, const char* name, const Pass& pass)
{
    dump_for_pass(graph, "before", name);
    trace_track_t* track = get_trace_track();
    const int64_t begin_ns = get_trace_time(track);
    const int status = pass(graph);
    end_trace_event(track, TENGINE_TRACE_PREPARE, name, begin_ns, status);
    TENGINE_RETURN_IF_ERROR(status);
    dump_for_pass(graph, "after", name);
    return TENGINE_OK;
}

// pipeline.cc: closes gaps and sorts, which renumbers nodes and tensors.
int tidy_graph(graph& graph);

// A graph that a pass makes, destroyed unless it is released.
struct GraphDeleter
{
    void operator()(graph* unfinished) const { destroy_ir_graph(unfinished); }
};
using GraphPointer = std::unique_ptr<graph, GraphDeleter>;

// graph/target.cc: an empty graph with everything that an execution graph of this source has beside
// its contents.
int create_target(const graph& source, GraphPointer* out_graph);
// graph/execution_graph.cc: the copy the passes work on.
int copy_to_execution_graph(const graph& source, GraphPointer* out_graph);
// The same for a part of the source graph, in time proportional to that part.
struct Extent;
int copy_extent(const graph& source, const Extent& extent, GraphPointer* out_graph);

// graph/declarations.cc: the copy of a body becomes a source graph of its own. It gets the types
// and shapes that the body declares for results of TensorFlow Lite's operators, some of which
// compute by them.
int leave_source(const graph& body, graph& copy);

// graph/prepared.cc: the execution graph after all passes and the split, if the model's file has it
// for these options; else *out_graph stays null. `options` are those that create_execution_graph()
// gets.
int read_prepared(const graph& source, const ir_run_options_t& options, GraphPointer* out_graph);
// Gives the blocks, those of the tensors between parts, the offsets that the model's file has.
// False: there are none, or they are no plan, which the log says.
bool take_prepared_places(const graph& graph, const Vector<struct tensor*>& tensors,
                          Vector<memory_block_t>* blocks, size_t* out_total);

// graph/instance.cc: create_instance_graph() of optimizer.h.
int copy_instance(const graph& source, GraphPointer* out_graph);

// Whether an operator of ONNX (or com.microsoft) computes the tensor of a source graph; its
// type, where it is known, is then the model's declaration of it.
bool is_computed_by_onnx(const graph& source, const struct tensor& tensor);

// graph/copy.cc: copy single objects to another graph. A tensor is copied without shape and data, a
// node unconnected; source_index is the original's index.
int copy_tensor_head(const struct tensor& from, graph& target, struct tensor** out_tensor);
int copy_node_head(const node& from, graph& target, node** out_node);
// A new node of the same name, operator and parameters, without source_index and bodies.
int copy_operator(const node& from, graph& target, node** out_node);

// graph/missing_kernel.cc, for a node with custom kernels but none for the device: EOPERATOR lists
// the devices that have one.
int fail_without_kernel(const node& node, const device& device);
// The verdict on a node with byte code for a vendor's chip, which names the maker; false for any
// other node.
bool describe_byte_code(const node& node, ir_verdict* out_verdict);

// graph/shared_constant.cc: makes a tensor of known type and shape a constant that preparations
// share (graph/graph_pool.h); fill(memory, argument) writes it unless it exists. ENOMEM.
int share_constant(graph& graph, struct tensor& made, const ir_pack_key& key,
                   void (*fill)(void* memory, void* argument), void* argument);

// pass/lower.cc: operators of old opsets to ONNX operators of the newest.
int lower_graph(graph& graph);
// The same for one of ONNX's nodes, whose shapes need not be known.
int lower_node(graph& graph, node& node);
// Constants for attributes "of the type of input 0" get that type; called by infer_graph() when the
// type is known.
int settle_moved_inputs(node& node);

// pass/infer.cc: data types and shapes, the lowering of Tengine's operators and the folding of
// constants, in one walk (a shape may be computed by nodes). Nodes whose shapes depend on data
// become dynamic.
int infer_graph(graph& graph);
// The walk alone: inputs of unknown shape leave shapes unknown, and types that do not follow from
// others.
int infer_nodes(graph& graph);
// Folds the nodes that infer_graph() left to devices: quantised weights that no device took.
int fold_graph(graph& graph);
// Whether the graph is made of a body of a control-flow node.
bool is_body(const graph& graph);
// Whether the run's precision is TENGINE_MODE_INT8 or TENGINE_MODE_UINT8.
bool is_integer_run(const graph& graph);

// pass/einsum.cc: Einsum as MatMul and Mul, where shapes are known.
int lower_einsums(graph& graph);

// pass/evaluate.cc: runs a node whose inputs are constant; its outputs become constants and the
// node disappears.
int evaluate_node(node& node);

// Whether `node` is ONNX's operator `name`; false for null.
bool is_op(const node* node, const char* name);

// The producer of `tensor`, and the reader of `value`, if the tensor has this reader alone and the
// graph does not output it; else null.
node* find_only_producer(const graph& graph, const tensor* tensor);
node* find_only_reader(const graph& graph, const tensor& value);

// Whether the operator is one of these.
template <size_t number>
bool is_one_of(const node& node, const char* const (&names)[number])
{
    return std::any_of(std::begin(names), std::end(names),
                       [&](const char* name) { return is_op(&node, name); });
}

// Whether `value` is a constant; false for null.
inline bool is_constant(const tensor* value)
{
    return value && value->tensor_type == TENSOR_TYPE_CONST;
}

// pass/simplify.cc: removes nodes that do nothing, and inputs that are not read.
int remove_no_ops(graph& graph);
// pass/transposes.cc: moves Transposes behind pictures with the channels first until pairs meet and
// cancel out.
int move_transposes(graph& graph);
// pass/merge_affine.cc: BatchNormalization, and sums and products with a constant of each channel,
// into the Conv or ConvTranspose before them or the Conv after them.
int merge_affine_nodes(graph& graph);
// pass/merge_pads.cc: Pad into the Conv or AveragePool after it.
int merge_pads(graph& graph);
// Whether the build merges them: convert has done it in the files that it writes, so that a minimal
// build does it for models with normalisations alone.
#define MERGES_NODES (!IS_MINIMAL || OP_IS_SELECTED(onnx_BatchNormalization))
// pass/constant_nodes.cc: Constant, and Identity of a constant, in a graph whose operators are
// those of the model's opset.
int fold_constant_nodes(graph& graph);
// pass/dead_code.cc: nodes and tensors that no output needs.
int remove_dead_code(graph& graph);

// dialect/raise.cc: replaces ONNX's operators by Tengine's that compute the same. Nodes that stay
// are logged with the reason. Shapes must be known.
int raise_graph(graph& graph);
// dialect/tflite.cc: replaces ONNX's operators by TensorFlow Lite's in two steps, see
// operator/tflite/raise.h. EOPERATOR names a node that has no form there. Shapes must be known.
int raise_pictures_to_tflite(graph& graph);
int raise_rest_to_tflite(graph& graph);
// dialect/tflite_integers.cc: operators between DequantizeLinear and QuantizeLinear compute with
// integers where TensorFlow Lite's do; the other ones of these become operators of its own.
int take_integers(graph& graph);
// dialect/activations.cc: ReLU and ReLU6 after a Convolution without other readers become its field
// `activation`, after fold_qdq_nodes().
int fold_activations(graph& graph);
// dialect/settled_types.cc: types of tensors that have none, as far as they follow from others.
int settle_types(graph& graph);
// dialect/source_form.cc: nodes for inputs and constants. `outputs_are_nodes`: the graph's outputs
// are all that its output nodes write, as tmfiles have it; else they are tensors.
int to_source_form(graph& graph, bool outputs_are_nodes);

// dialect/opset.cc: a copy of a source graph of ONNX's operators, all of them in `opset`
// (operator/onnx_form.h), also those of bodies. ENOTSUP names a node that has no form in it.
int copy_for_opset(const graph& source, const ir_run_options_t& options, int opset,
                   GraphPointer* out_graph);
// The same for a graph with operators of the newest opset.
int take_opset(graph& graph, int opset);

// precision/options.cc: the precision of a quantised model, if the run requests none; the context's
// options precision.* for nodes and tensors.
void take_model_precision(graph& graph);
// The precision of a quantised model, TENGINE_MODE_FP32 for others.
int find_model_precision(const graph& graph);
// The ir_rounding_t of a run by the option precision.rounding: by default that of the model's
// property of this name, or `inherited`, that of the graph around a body.
int find_rounding(const graph& source, int inherited);
int apply_precision_options(graph& graph);
// Keeps the nodes that match `nodes` (operator/affinity.h) in float. False when none matches; the
// model's node may be part of another.
bool keep_nodes(graph& graph, const char* nodes);
// precision/quantize.cc: the quantised form of a float graph of ONNX's operators; see
// tengine/quantize.h.
int quantize_float_graph(graph& base, const tengine_quantization& how, graph** out_graph);
// precision/outcome.cc: EINVAL when int8 or uint8 is requested of a model without scales, unless
// the option precision.float allows it; a warning when no node computes in the requested type for
// another reason, or a quantised model runs in float although a device computes only in int8 or
// uint8.
int check_precision(graph& graph);

// recognise/recognise.cc: replaces the nodes that models have for an operator by that operator; the
// second time in the types that devices have requested.
int recognise_before_surveys(graph& graph);
int recognise_operators(graph& graph);

// split/split.cc
int split_graph(graph& graph);

// pipeline.cc: lowers the graph of a part for the default device, some of whose nodes another
// device has kept in the model's operators (placement/source_nodes.h).
int lower_kept_nodes(graph& part);

}  // namespace tengine
