// SPDX-License-Identifier: Apache-2.0
// Observe, choose, search, compare, quantise. The contract is in calibration.h.
#include "calibration/calibration.h"

#include "calibration/failure.h"
#include "calibration/graph_reader.h"
#include "calibration/observation.h"

namespace tengine::calibration {
namespace {

// The first tensor at the node that is in `not_finite`.
String find_not_finite(node_t node, const Map<String, Observed>& observed)
{
    const auto is_bad = [&](tensor_t tensor) {
        const auto found = tensor ? observed.find(get_tensor_name(tensor)) : observed.end();
        return found != observed.end() && !found->second.is_finite;
    };
    for (tensor_t input : list_node_inputs(node))
        if (is_bad(input)) return get_tensor_name(input);
    for (tensor_t output : list_node_outputs(node))
        if (is_bad(output)) return get_tensor_name(output);
    return "";
}

int quantize_as(graph_t graph, const Request& request, const Vector<RankedLayer>& ranked,
                QuantizedGraph* out_quantized)
{
    const Set<String> in_float = names_in_float(ranked);
    Request chosen = request;
    chosen.in_float = &in_float;
    return quantize_graph(graph, chosen, out_quantized);
}

void add_nodes(graph_t graph, graph_t in_float, Findings* findings)
{
    for (node_t node : list_nodes(in_float))
        findings->nodes.push_back(
            {get_node_name(node), get_node_op(node), find_not_finite(node, findings->observed)});
    findings->folded_batch_norm_number = count_batch_norms(graph) - count_batch_norms(in_float);
}

}  // namespace

Calibration::Calibration(graph_t graph, const tengine_calibration_options& options,
                         RangeMethod method)
    : graph_(graph),
      source_(graph, options),
      method_(method),
      percentile_(options.percentile == 0 ? kDefaultPercentile : options.percentile),
      threads_(options.thread_number),
      equalizes_(options.equalize != 0),
      corrects_biases_(options.correct_bias != 0)
{
    request_.dynamic = options.dynamic != 0;
    request_.scales = {options.per_channel, options.unsigned_activations};
    request_.keep_float.assign(options.keep_float, options.keep_float + options.keep_float_number);
}

int Calibration::check() const
{
    if (source_.input_number() == 0) return fail(TENGINE_EINVAL, "the model has no inputs");
    return refuse_quantized(graph_);
}

int Calibration::observe_tensors(graph_t graph, Request* request, Findings* findings) const
{
    Vector<String> tensors;
    Set<String> averaged;
    TENGINE_RETURN_IF_ERROR(list_calibrated(graph, *request, &tensors));
    GraphPointer in_float;
    Observation observation;
    TENGINE_RETURN_IF_ERROR(copy_in_float(graph, &in_float));
    if (corrects_biases_) averaged = list_convolved(in_float.get());
    TENGINE_RETURN_IF_ERROR(
        observe(in_float.get(), tensors, averaged, source_, threads_, &observation));
    for (const auto& [tensor, histogram] : observation.histograms) {
        const RangeMethod method = histogram.width() == 0 ? RangeMethod::kMinMax : method_;
        const Range range = choose_range(histogram, method, percentile_);
        request->ranges[tensor] = range;
        findings->observed[tensor] = {true, method, range, histogram.least(), histogram.greatest()};
    }
    for (const String& tensor : observation.not_finite)
        findings->observed[tensor].is_finite = false;
    findings->sample_number = observation.sample_number;
    findings->means = std::move(observation.means);
    return TENGINE_OK;
}

// The reason why no node is quantised.
int Calibration::refuse_nothing(const Findings& findings) const
{
    const bool has_kept = !findings.present.kept.empty();
    String not_finite;
    for (const auto& [tensor, observed] : findings.observed)
        if (!observed.is_finite && not_finite.empty()) not_finite = tensor;
    const String type = float_type(graph_);
    String cause;
    if (has_kept && !request_.dynamic)
        cause = "keep_float keeps every node in float";
    else if (not_finite.empty() && !type.empty() && type != "fp32")
        cause = "the model is " + type + ": expected fp32, from which it was made";
    else if (request_.dynamic)
        cause = "no MatMul or Gemm " +
                String(has_kept ? "that keep_float leaves multiplies" : "multiplies") +
                " by a constant matrix" + bodies_in_float(graph_);
    else if (not_finite.empty())
        cause = "no node has an int8 form" + bodies_in_float(graph_);
    else
        cause = "tensor '" + not_finite + "' has values that are not finite";
    return fail(TENGINE_ENOTSUP, "there is nothing to quantise: %s", cause.c_str());
}

// The errors that are corrected are those of the weights with the scales of `request`.
int Calibration::correct(graph_t graph, const Request& request,
                         const Map<String, ChannelMean>& means, GraphPointer* out_corrected) const
{
    QuantizedGraph quantized;
    if (!corrects_biases_) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(quantize_graph(graph, request, &quantized));
    TENGINE_RETURN_IF_ERROR(copy_in_float(graph, out_corrected));
    return correct_biases(out_corrected->get(), quantized, means);
}

int Calibration::run()
{
    Request request = request_;
    Findings findings;
    GraphPointer equalized, corrected, in_float;
    request.ranges.clear();
    if (equalizes_) {
        TENGINE_RETURN_IF_ERROR(copy_in_float(graph_, &equalized));
        TENGINE_RETURN_IF_ERROR(equalize(equalized.get()));
    }
    graph_t base = equalized ? equalized.get() : graph_;
    if (!request.dynamic) TENGINE_RETURN_IF_ERROR(observe_tensors(base, &request, &findings));
    TENGINE_RETURN_IF_ERROR(correct(base, request, findings.means, &corrected));
    if (corrected) base = corrected.get();
    TENGINE_RETURN_IF_ERROR(quantize_graph(base, request, &findings.present));
    if (findings.present.layers.empty()) return refuse_nothing(findings);
    findings.present.graph.reset();
    findings.layers = findings.present.layers;
    TENGINE_RETURN_IF_ERROR(copy_in_float(graph_, &in_float));
    add_nodes(graph_, in_float.get(), &findings);
    request_ = std::move(request);
    findings_ = std::move(findings);
    equalized_ = std::move(equalized);
    corrected_ = std::move(corrected);
    has_run_ = true;
    return TENGINE_OK;
}

int Calibration::choose(graph_t placed, const Vector<Scales>& scales,
                        tengine_quantization_choice* out_choice)
{
    Request request = request_;
    GraphPointer corrected;
    QuantizedGraph present;
    TENGINE_RETURN_IF_ERROR(choose_scales(placed, request_, scales, out_choice));
    request.scales = scales[static_cast<size_t>(out_choice->index)];
    TENGINE_RETURN_IF_ERROR(correct(float_graph(), request, findings_.means, &corrected));
    TENGINE_RETURN_IF_ERROR(
        quantize_graph(corrected ? corrected.get() : float_graph(), request, &present));
    present.graph.reset();
    request_.scales = request.scales;
    corrected_ = std::move(corrected);
    findings_.present = std::move(present);
    findings_.ranked.clear();
    findings_.comparison = {};
    return TENGINE_OK;
}

int Calibration::search(double max_drop)
{
    Search search(edited_graph(), request_, max_drop);
    GraphPointer in_float;
    QuantizedGraph present;
    TENGINE_RETURN_IF_ERROR(copy_in_float(float_graph(), &in_float));
    TENGINE_RETURN_IF_ERROR(search.run(std::move(in_float), samples(), findings_.layers, threads_));
    TENGINE_RETURN_IF_ERROR(quantize_as(edited_graph(), request_, search.ranked(), &present));
    Vector<RankedLayer> ranked = search.ranked();
    present.graph.reset();
    findings_.present = std::move(present);
    findings_.ranked = std::move(ranked);
    findings_.comparison = {};
    return TENGINE_OK;
}

int Calibration::compare(const Labels& labels)
{
    GraphPointer in_float;
    QuantizedGraph quantized;
    Comparison comparison;
    TENGINE_RETURN_IF_ERROR(copy_in_float(float_graph(), &in_float));
    TENGINE_RETURN_IF_ERROR(quantize(&quantized));
    TENGINE_RETURN_IF_ERROR(
        compare_models(in_float.get(), quantized, samples(), labels, threads_, &comparison));
    findings_.comparison = std::move(comparison);
    return TENGINE_OK;
}

int Calibration::quantize(QuantizedGraph* out_quantized) const
{
    return quantize_as(edited_graph(), request_, findings_.ranked, out_quantized);
}

}  // namespace tengine::calibration
