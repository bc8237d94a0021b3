// SPDX-License-Identifier: Apache-2.0
// One calibration: its steps, and what they have found. calibration_api.cc has the C functions,
// report.h their results.
#pragma once

#include "calibration/convolution.h"
#include "calibration/search.h"

namespace tengine::calibration {

// A tensor that has been observed.
struct Observed
{
    bool is_finite = true;
    RangeMethod method = RangeMethod::kMinMax;
    Range range;
    double least = 0, greatest = 0;
};

// A node of the float graph.
struct Node
{
    String name;
    String op;
    String not_finite;  // a tensor that it reads or computes; ""
};

// The results of the steps.
struct Findings
{
    int64_t sample_number = 0;
    int folded_batch_norm_number = 0;
    Map<String, Observed> observed;
    Vector<Node> nodes;
    Vector<Layer> layers;        // all that can be quantised
    Vector<RankedLayer> ranked;  // by a search
    QuantizedGraph present;      // without its graph
    Comparison comparison;
    Map<String, ChannelMean> means;  // for the correction of biases
};

class Calibration : public Allocated
{
  public:
    Calibration(graph_t graph, const tengine_calibration_options& options, RangeMethod method);

    // Functions fail as tengine_calibration_<name>, and leave everything as it was then.
    TENGINE_MUST_USE int check() const;
    TENGINE_MUST_USE int run();
    TENGINE_MUST_USE int choose(graph_t placed, const Vector<Scales>& scales,
                                tengine_quantization_choice* out_choice);
    TENGINE_MUST_USE int search(double max_drop);
    TENGINE_MUST_USE int compare(const Labels& labels);
    TENGINE_MUST_USE int quantize(QuantizedGraph* out_quantized) const;

    bool has_run() const { return has_run_; }
    const Request& request() const { return request_; }
    const Findings& findings() const { return findings_; }

  private:
    // The graph to compare with, and the one to quantise.
    graph_t float_graph() const { return equalized_ ? equalized_.get() : graph_; }
    graph_t edited_graph() const { return corrected_ ? corrected_.get() : float_graph(); }

    TENGINE_MUST_USE int correct(graph_t graph, const Request& request,
                                 const Map<String, ChannelMean>& means,
                                 GraphPointer* out_corrected) const;
    Samples samples() const { return {source_, findings_.sample_number}; }
    TENGINE_MUST_USE int observe_tensors(graph_t graph, Request* request, Findings* findings) const;
    TENGINE_MUST_USE int refuse_nothing(const Findings& findings) const;

    graph_t graph_;
    SampleSource source_;
    RangeMethod method_;
    double percentile_;
    int threads_;
    bool equalizes_, corrects_biases_;
    Request request_;
    bool has_run_ = false;
    Findings findings_;
    GraphPointer equalized_, corrected_;  // edited copies of the graph; null without the option
};

}  // namespace tengine::calibration
