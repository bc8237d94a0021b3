// SPDX-License-Identifier: Apache-2.0
// The lists of passes, in order. TG_DUMP=<pass> (or "all") logs the graph before and after that
// pass, at any log level.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/log.h"
#include "base/minimal.h"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/metadata.h"
#include "graph/option.h"
#include "graph/preparation.h"
#include "graph/sequence.h"
#include "graph/state.h"
#include "operator/custom/op.h"
#include "operator/onnx_form.h"
#include "operator/operator.h"
#include "operator/row.h"
#include "operator/shaped.h"
#include "optimizer/dialect/dialect.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"
#include "optimizer/pass/custom_node.h"
#include "optimizer/placement/candidates.h"
#include "optimizer/placement/source_nodes.h"
#include "optimizer/placement/variant.h"
#include "optimizer/recognise/lost_operator.h"
#include "tengine/device.h"

namespace tengine {
namespace {

int optimize_for(graph& graph, struct device& device)
{
    const int precision = graph.run_options->precision;
    if (!device.optimizer || !device.optimizer->optimize_graph)
        return apply_ir_precision(&graph, &device, precision);
    tengine_error_clear();
    const int status = device.optimizer->optimize_graph(&graph, precision);
    if (status == 0) return tidy_graph(graph);
    const String cause = describe_failure(status);
    return tengine_error_set(tengine_error_code() ? tengine_error_code() : TENGINE_EDEVICE,
                             "device '%s', optimize_graph: %s", device.name, cause.c_str());
}

// Every device of the graph surveys it, and may then rewrite nodes that it computes in the run's
// precision. Devices are called best first, so each sees the nodes that better ones left.
int optimize_by_devices(graph& graph)
{
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    for (device* device : list_graph_devices(graph))
        TENGINE_RETURN_IF_ERROR(optimize_for(graph, *device));
    return check_precision(graph);
}

struct Pass
{
    const char* name;
    int (*run)(graph& graph);
};

// A view of one of the lists below.
class PassList
{
  public:
    template <size_t number>
    constexpr PassList(const Pass (&passes)[number]) : begin_(passes), end_(passes + number)
    {
    }
    const Pass* begin() const { return begin_; }
    const Pass* end() const { return end_; }

  private:
    const Pass* begin_;
    const Pass* end_;
};

// Converts the model to ONNX's operators of the newest opset, and rewrites it in ways that suit
// every device.
constexpr Pass kFloatPasses[] = {
    {"quantized_tensors", insert_qdq_nodes},
    {"lower", lower_graph},
    {"dead_code", remove_dead_code},
    {"infer", infer_graph},
#if OP_IS_SELECTED(onnx_Einsum)
    {"einsum", lower_einsums},
#endif
    {"no_ops", remove_no_ops},
    {"transposes", move_transposes},
#if MERGES_NODES
    {"merge_pads", merge_pads},
    {"merge_affine_nodes", merge_affine_nodes},
#endif
    {"clean", remove_dead_code},
};

// Whether this build has an operator that recognise writes.
#define RECOGNISES_OPERATORS                                                          \
    (OP_IS_SELECTED(onnx_Attention) || OP_IS_SELECTED(onnx_Gelu) ||                   \
     OP_IS_SELECTED(onnx_HardSwish) || OP_IS_SELECTED(onnx_LayerNormalization) ||     \
     OP_IS_SELECTED(onnx_RMSNormalization) || OP_IS_SELECTED(onnx_RotaryEmbedding) || \
     OP_IS_SELECTED(onnx_Swish))

// The passes that depend on the run's devices.
constexpr Pass kDevicePasses[] = {
    {"precision_options", apply_precision_options},
#if RECOGNISES_OPERATORS
    {"recognise", recognise_before_surveys},
#endif
    {"optimize", optimize_by_devices},
    {"fold", fold_graph},
#if RECOGNISES_OPERATORS
    {"recognise", recognise_operators},
#endif
    {"split", split_graph},
};

// The steps of the pass split (split/split.cc).
constexpr const char* kSplitSteps[] = {"assign", "group", "small", "prune", "hand_back"};

// A pass may leave gaps and disorder. The last one makes parts, which refer to nodes by index.
int run_and_tidy(const Pass& pass, graph& graph)
{
    TENGINE_RETURN_IF_ERROR(check_ir_cancelled(&graph));
    TENGINE_RETURN_IF_ERROR(pass.run(graph));
    return get_vector_num(graph.subgraph_list) > 0 ? TENGINE_OK : tidy_graph(graph);
}

int run_passes(graph& graph, const PassList& passes)
{
    for (const Pass& pass : passes) {
        const auto run = [&pass](struct graph& subject) { return run_and_tidy(pass, subject); };
        TENGINE_RETURN_IF_ERROR(run_pass(graph, pass.name, run));
    }
    return TENGINE_OK;
}

// Logs the names of the passes when TG_DUMP has another name.
void check_dump_name();
const char* wanted_dump();

// Makes the graph that the passes change.
int begin(const graph& source, const Extent& extent, const ir_run_options_t& options,
          GraphPointer* out_target)
{
    check_dump_name();
    TENGINE_RETURN_IF_ERROR(copy_extent(source, extent, out_target));
    (*out_target)->core->run_options = options;
    (*out_target)->core->run_options.rounding = find_rounding(source, options.rounding);
    return sort_ir_graph(out_target->get());
}

// A graph for a file: a copy of `source` after the passes.
int create(const graph& source, const ir_run_options_t& options, const PassList& passes,
           graph** out_graph)
{
    GraphPointer target;
    TENGINE_RETURN_IF_ERROR(begin(source, find_extent(source), options, &target));
    TENGINE_RETURN_IF_ERROR(align_ir_constants(target.get()));
    TENGINE_RETURN_IF_ERROR(run_passes(*target, passes));
    *out_graph = target.release();
    return TENGINE_OK;
}

// The model in float; preparations share tensors computed from constants. `plain`: without kept
// nodes.
int create_float(const graph& source, const Extent& extent, const ir_run_options_t& options,
                 bool keeps_nodes, const graph* plain, GraphPointer* out_graph)
{
    TENGINE_RETURN_IF_ERROR(begin(source, extent, options, out_graph));
    TENGINE_RETURN_IF_ERROR(take_variant_options(source, **out_graph));
    join_graph_pool(out_graph->get(), &source);
    if (keeps_nodes) TENGINE_RETURN_IF_ERROR(keep_source_nodes(**out_graph, plain));
    return run_passes(**out_graph, kFloatPasses);
}

// A model with operators that a device alone knows has no plain form.
int create_with_source_nodes(const graph& source, const Extent& extent,
                             const ir_run_options_t& options, GraphPointer* out_graph)
{
    const int status = create_float(source, extent, options, false, nullptr, out_graph);
    if (!may_keep_source_nodes(source) || status == TENGINE_ECANCELED || status == TENGINE_ENOMEM)
        return status;
    tengine_error_clear();
    const GraphPointer plain = std::move(*out_graph);
    return create_float(source, extent, options, true, status < 0 ? nullptr : plain.get(),
                        out_graph);
}

// Aligns large constants if a reader requires it. The CPU reads them at any address, and so do the
// passes that merge them or convert them for most precisions; other devices, custom kernels and the
// passes that quantise them with the scales of a model or a table do not. Minimal builds align all.
int align_constants(graph& source, const Extent& extent, const ir_run_options_t& options)
{
    if (IS_MINIMAL) return TENGINE_OK;
    const bool is_integer =
        options.precision == TENGINE_MODE_INT8 || options.precision == TENGINE_MODE_UINT8;
    const bool is_read_by_others =
        !has_default_device_alone(source) || count_willing_kernels(source, extent) > 0;
    for (size_t i = 0; (is_integer || is_read_by_others) && i < extent.tensors.size(); ++i) {
        struct tensor* tensor = source.tensor_list[extent.tensors[i]];
        if (tensor->tensor_type == TENSOR_TYPE_CONST)
            TENGINE_RETURN_IF_ERROR(align_ir_constant(&source, tensor));
    }
    return TENGINE_OK;
}

int resolve_ops(const graph& source, const Extent& extent, bool only_unknown)
{
    return resolve_custom_ops(&source, extent.nodes.data(), static_cast<int>(extent.nodes.size()),
                              only_unknown);
}

int run_device_passes(graph& graph, const Vector<Candidates::HandedBack>& handed_back)
{
    if (!handed_back.empty()) TENGINE_RETURN_IF_ERROR(Candidates::without(graph, handed_back));
    return run_passes(graph, kDevicePasses);
}

// A custom kernel may refuse its node once the shapes are known. The graph is then made again with
// the original operator; devices see only the last graph. It is also made again if a device hands
// back an operator that another device may take as several nodes.
int create_for_run(graph& source, const ir_run_options_t& options, graph** out_graph)
{
    const Extent extent = find_extent(source);
    TENGINE_RETURN_IF_ERROR(choose_variant(source, options.precision));
    TENGINE_RETURN_IF_ERROR(resolve_ops(source, extent, false));
    accept_kernels(source, extent);
    TENGINE_RETURN_IF_ERROR(align_constants(source, extent, options));
    if (count_willing_kernels(source, extent) == 0 && !wanted_dump()) {
        GraphPointer prepared;
        TENGINE_RETURN_IF_ERROR(read_prepared(source, options, &prepared));
        *out_graph = prepared.release();
        if (*out_graph) return TENGINE_OK;
    }
    Vector<Candidates::HandedBack> handed_back;
    for (;;) {
        const int willing = count_willing_kernels(source, extent);
        GraphPointer target;
        int status = create_with_source_nodes(source, extent, options, &target);
        if (count_willing_kernels(source, extent) != willing) continue;
        if (status == TENGINE_OK) status = run_device_passes(*target, handed_back);
        if (count_willing_kernels(source, extent) != willing) continue;
        const bool may_be_lost = RECOGNISES_OPERATORS && status == TENGINE_OK;
        if (may_be_lost && list_lost_operators(*target, &handed_back)) continue;
        if (status == TENGINE_OK) *out_graph = target.release();
        return status;
    }
}

int optimize_for_default_device(graph& graph)
{
    TENGINE_RETURN_IF_ERROR(Candidates::of_default_device(graph));
    return optimize_for(graph, *find_default_device());
}

constexpr Pass kPartPasses[] = {
    {"quantized_tensors", insert_qdq_nodes},
    {"lower", lower_graph},
    {"dead_code", remove_dead_code},
    {"infer", infer_nodes},
    {"no_ops", remove_no_ops},
    {"transposes", move_transposes},
    {"merge_pads", merge_pads},
    {"merge_affine_nodes", merge_affine_nodes},
    {"clean", remove_dead_code},
    {"optimize", optimize_for_default_device},
    {"fold", fold_graph},
};

// ---- graphs for files ----

int take_tengine_form(graph& graph)
{
    return to_source_form(graph, true);
}

int take_onnx_form(graph& graph)
{
    return to_source_form(graph, false);
}

constexpr Pass kTenginePasses[] = {
    {"quantized_tensors", insert_qdq_nodes},
    {"lower", lower_graph},
    {"dead_code", remove_dead_code},
    {"infer", infer_graph},
    {"no_ops", remove_no_ops},
    {"transposes", move_transposes},
    {"merge_pads", merge_pads},
    {"merge_affine_nodes", merge_affine_nodes},
    {"clean", remove_dead_code},
    {"raise", raise_graph},
    {"quantized_tensors", fold_qdq_nodes},
    {"activations", fold_activations},
    {"clean", remove_dead_code},
    {"source_form", take_tengine_form},
    {"settled_types", settle_types},
};

// With ONNX's operators, which compute shapes.
constexpr Pass kBucketPasses[] = {{"source_form", take_tengine_form},
                                  {"settled_types", settle_types}};

constexpr Pass kTflitePasses[] = {
    {"quantized_tensors", insert_qdq_nodes},
    {"lower", lower_graph},
    {"dead_code", remove_dead_code},
    {"infer", infer_graph},
#if OP_IS_SELECTED(onnx_Einsum)
    {"einsum", lower_einsums},
#endif
    {"no_ops", remove_no_ops},
    {"merge_pads", merge_pads},
    {"merge_affine_nodes", merge_affine_nodes},
    {"clean", remove_dead_code},
    {"pictures", raise_pictures_to_tflite},
    {"transposes", move_transposes},
    {"clean", remove_dead_code},
    {"raise", raise_rest_to_tflite},
    {"quantized_tensors", take_integers},
    {"clean", remove_dead_code},
    {"source_form", take_onnx_form},
};

// The opset that the context requests; 0: the default, or the one that the operators need.
int asked_opset(const graph& graph)
{
    return static_cast<int>(get_ir_context_number(graph.attribute->context, "model.opset"));
}

// Converts a graph of the newest opset to the requested one.
int take_asked_opset(graph& graph)
{
    const int asked = asked_opset(graph);
    return asked ? take_opset(graph, asked) : TENGINE_OK;
}

constexpr Pass kOnnxPasses[] = {
    {"quantized_tensors", insert_qdq_nodes},
    {"lower", lower_graph},
    {"dead_code", remove_dead_code},
    {"infer", infer_graph},
    {"no_ops", remove_no_ops},
    {"transposes", move_transposes},
    {"clean", remove_dead_code},
    {"source_form", take_onnx_form},
    {"opset", take_asked_opset},
};

// ---- graphs that are quantised ----

// Operators stay in the model's opset; those of other formats than ONNX need kFloatPasses instead.
constexpr Pass kFloatOnnxPasses[] = {
    {"constants", fold_constant_nodes},
    {"merge_affine_nodes", merge_affine_nodes},
    {"clean", remove_dead_code},
};

// ---- TG_DUMP ----

// The pass that TG_DUMP names, or "all"; null when it is not set. Minimal builds have no dumps.
const char* wanted_dump()
{
    if (IS_MINIMAL) return nullptr;
    const char* wanted = std::getenv("TG_DUMP");
    return wanted && *wanted ? wanted : nullptr;
}

template <class Body>
void log_at_any_level(const Body& body)
{
    const int level = get_log_sink_level();
    if (level < TENGINE_LOG_INFO) set_log_sink_level(TENGINE_LOG_INFO);
    body();
    set_log_sink_level(level);
}

// A template, so that a program that saves no graphs is linked without the passes for files.
template <size_t number>
constexpr std::array<const char*, number> names_of(const Pass (&passes)[number])
{
    std::array<const char*, number> names{};
    for (size_t i = 0; i < number; ++i)
        names[i] = passes[i].name;
    return names;
}
constexpr auto kFloatNames = names_of(kFloatPasses);
constexpr auto kDeviceNames = names_of(kDevicePasses);
constexpr auto kTengineNames = names_of(kTenginePasses);
constexpr auto kOnnxNames = names_of(kOnnxPasses);
constexpr auto kTfliteNames = names_of(kTflitePasses);
constexpr auto kFloatOnnxNames = names_of(kFloatOnnxPasses);

struct Names
{
    const char* const* first;
    size_t number;
};

template <class List>
constexpr Names all_of(const List& list)
{
    return {std::data(list), std::size(list)};
}

// Each name once, in the order of the first use.
Vector<String> list_pass_names()
{
    constexpr Names kLists[] = {all_of(kFloatNames),    all_of(kDeviceNames), all_of(kSplitSteps),
                                all_of(kTengineNames),  all_of(kOnnxNames),   all_of(kTfliteNames),
                                all_of(kFloatOnnxNames)};
    Vector<String> names;
    for (const Names& list : kLists)
        for (size_t i = 0; i < list.number; ++i)
            if (std::find(names.begin(), names.end(), list.first[i]) == names.end())
                names.push_back(list.first[i]);
    return names;
}

void check_dump_name()
{
    const char* wanted = wanted_dump();
    if (!wanted || std::strcmp(wanted, "all") == 0) return;
    String known;
    for (const String& name : list_pass_names()) {
        if (name == wanted) return;
        known += name + ", ";
    }
    log_at_any_level([&] {
        TLOG_WARNING("TG_DUMP: invalid pass '%.40s': expected one of %sor all", wanted,
                     known.c_str());
    });
}

// ---- opsets ----

bool has_open_results(const graph& source)
{
    return std::any_of(source.output_tensors, source.output_tensors + source.output_tensor_num,
                       [&](int index) {
                           const struct tensor& result = *source.tensor_list[index];
                           const bool is_list = get_ir_container(result.data_type) != 0;
                           return result.data_type == TENGINE_DT_UNKNOWN ||
                                  (!is_list && !is_ir_tensor_shape_known(&result));
                       });
}

// Readers expect shapes of results. A copy of the graph infers them from those of the inputs; a
// graph that cannot be copied is written as it is.
int complete_results(const graph& source, const ir_run_options_t& options, int opset,
                     graph** out_graph)
{
    if (!has_open_results(source)) return TENGINE_OK;
    GraphPointer copy;
    if (copy_for_opset(source, options, opset, &copy) == TENGINE_OK) *out_graph = copy.release();
    tengine_error_clear();
    return TENGINE_OK;
}

// If no opset is requested, an older one of the model's is used, too.
int create_for_opset(const graph& source, const ir_run_options_t& options, graph** out_graph)
{
    const int asked = asked_opset(source);
    const int present = choose_onnx_opset(&source, asked);
    const int first = asked ? asked : USUAL_OPSET;
    if (present >= first) return complete_results(source, options, present, out_graph);
    GraphPointer copy;
    int status = copy_for_opset(source, options, first, &copy);
    const String cause = tengine_error_message();
    for (int opset = first; status == TENGINE_ENOTSUP && !asked && opset < NEWEST_KNOWN_OPSET;)
        status = copy_for_opset(source, options, ++opset, &copy);
    if (status == TENGINE_OK) {
        *out_graph = copy.release();
        return TENGINE_OK;
    }
    if (asked || !present) return tengine_error_set(status, "%s", cause.c_str());
    TLOG_WARNING("graph '%s' is written for opset %d: %s", source.name, present, cause.c_str());
    tengine_error_clear();
    return TENGINE_OK;
}

// A graph with Tengine's operators came from a tmfile or was made by hand, and is saved unchanged;
// a graph without them is saved unchanged for an ONNX file, except for the opset. One with those of
// TensorFlow Lite is saved unchanged for a .tflite.
int create_written(const graph& source, Dialect dialect, graph** out_graph)
{
    const bool is_translated = !is_in_dialect(source, dialect);
    if (!is_translated && dialect != Dialect::kOnnx) return TENGINE_OK;
    // Quantised weights are not folded, so that integers stay integers.
    ir_run_options_t options = {};
    options.num_thread = 1;
    options.precision = TENGINE_MODE_INT8;
    TENGINE_RETURN_IF_ERROR(resolve_ops(source, list_all(source), true));
    refuse_kernels(source);
    if (!is_translated) return create_for_opset(source, options, out_graph);
    switch (dialect) {
        case Dialect::kTengine:
            if (has_onnx_buckets(source)) return create(source, options, kBucketPasses, out_graph);
            return create(source, options, kTenginePasses, out_graph);
        case Dialect::kTflite:  // minimal builds are linked without these passes
            if (!IS_MINIMAL) return create(source, options, kTflitePasses, out_graph);
            return tengine_error_set(TENGINE_ENOTSUP, "this build writes no .tflite");
        default:
            return create(source, options, kOnnxPasses, out_graph);
    }
}

int create_saved(const graph& source, Dialect dialect, graph** out_graph)
{
    *out_graph = nullptr;
    TENGINE_RETURN_IF_ERROR(create_written(source, dialect, out_graph));
    if (!*out_graph || count_ir_states(&source) == 0) return TENGINE_OK;
    GraphPointer holder(*out_graph);
    *out_graph = nullptr;
    TENGINE_RETURN_IF_ERROR(apply_ir_states(holder.get()));
    *out_graph = holder.release();
    return TENGINE_OK;
}

int create_quantized(const graph& source, const tengine_quantization& how, graph** out_graph)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    graph* made = nullptr;
    TENGINE_RETURN_IF_ERROR(resolve_ops(source, list_all(source), true));
    refuse_kernels(source);
    const bool is_foreign = !is_in_dialect(source, Dialect::kOnnx);
    TENGINE_RETURN_IF_ERROR(is_foreign ? create(source, options, kFloatPasses, &made)
                                       : create(source, options, kFloatOnnxPasses, &made));
    const GraphPointer base(made);
    TENGINE_RETURN_IF_ERROR(quantize_float_graph(*base, how, out_graph));
    (*out_graph)->core->metadata = hold_ir_metadata(source.core->metadata);
    return TENGINE_OK;
}

}  // namespace

int lower_kept_nodes(graph& part)
{
    return run_passes(part, kPartPasses);
}

int tidy_graph(graph& graph)
{
    TENGINE_RETURN_IF_ERROR(compact_ir_graph(&graph));
    return sort_ir_graph(&graph);
}

void dump_for_pass(const graph& graph, const char* when, const char* name)
{
    const char* wanted = wanted_dump();
    if (!wanted || (std::strcmp(wanted, name) != 0 && std::strcmp(wanted, "all") != 0)) return;
    log_at_any_level([&] {
        TLOG_INFO("%s pass '%s'", when, name);
        dump_ir_graph(&graph);
    });
}

}  // namespace tengine

int create_execution_graph(struct graph* source, const ir_run_options_t* options,
                           struct graph** out_graph)
{
    return tengine::guarded([&] { return tengine::create_for_run(*source, *options, out_graph); },
                            "graph '%s': out of memory while preparing it", source->name);
}

int create_saved_graph(const struct graph* source, const char* dialect, struct graph** out_graph)
{
    return tengine::guarded(
        [&] { return tengine::create_saved(*source, tengine::find_dialect(dialect), out_graph); },
        "graph '%s': out of memory while saving it", source->name);
}

int create_quantized_graph(const struct graph* source, const struct tengine_quantization* how,
                           struct graph** out_graph)
{
    return tengine::guarded([&] { return tengine::create_quantized(*source, *how, out_graph); },
                            "graph '%s': out of memory while quantising it", source->name);
}

int create_instance_graph(const struct graph* source, struct graph** out_graph)
{
    return tengine::guarded(
        [&]() -> int {
            tengine::GraphPointer made;
            TENGINE_RETURN_IF_ERROR(tengine::copy_instance(*source, &made));
            *out_graph = made.release();
            return TENGINE_OK;
        },
        "graph '%s': out of memory for another instance", source->name);
}
