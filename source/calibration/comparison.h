// SPDX-License-Identifier: Apache-2.0
// The distance of the quantised model from the float one on the samples: noise by tensor, and
// decisions that differ.
#pragma once

#include "calibration/float_graph.h"
#include "calibration/network.h"

namespace tengine::calibration {

struct Noise
{
    double signal = 0;  // sum of squares of the float values
    double noise = 0;   // that of the differences

    // If the shapes differ, all values are noise.
    void add(const FloatView& expected, const FloatView& actual);

    // Signal-to-noise ratio; infinity without any noise.
    double decibels() const;
};

// The decisions of the samples. An output of shape [N, K], K > 1 (further dimensions of 1 aside),
// is scores, and so is one of more dimensions whose last one has probabilities in float, not
// negative and of sum 1: the decision of each row is its greatest element, the first of equal ones.
// Any other output is one decision, which agrees unless the root mean square of the differences is
// above 1/128 of the largest magnitude in float. No decision agrees if the shapes differ.
struct Decisions
{
    int64_t number = 0;
    int64_t same = 0;

    void add(const FloatView& expected, const FloatView& actual);

    // Percent of decisions that differ.
    double drop() const;
};

// The correct class of each row of scores, in the order of the samples.
struct Labels
{
    const int64_t* classes = nullptr;
    int64_t number = 0;
};

// The number of decisions that agree with the labels, by either model.
struct Accuracy
{
    int64_t number = 0;
    int64_t right_in_float = 0;
    int64_t right_in_int8 = 0;
};

struct Comparison
{
    Map<String, Noise> tensors;
    Map<String, Noise> outputs;  // fp32 outputs of the model
    Noise whole;                 // over all outputs
    Decisions decisions;         // for the first fp32 output
    Accuracy accuracy;           // for these; nothing without labels
    int threads = 0;             // that the models ran with
};

// Samples that have been read before.
struct Samples
{
    const SampleSource& source;
    int64_t number;
};

// Runs both models on all samples. `quantized.dequantized` lists the tensors to compare; they
// become outputs of the graphs. TENGINE_EINVAL: labels are not one for each row of scores of the
// first fp32 output.
TENGINE_MUST_USE int compare_models(graph_t in_float, const QuantizedGraph& quantized,
                                    const Samples& samples, const Labels& labels, int threads,
                                    Comparison* out_comparison);

// The float model's outputs, kept, for comparing many quantised models with it.
class Reference
{
  public:
    Reference(GraphPointer graph, const Samples& samples, int threads)
        : graph_(std::move(graph)), samples_(samples), threads_(threads)
    {
    }

    // Runs the float model; first of all.
    TENGINE_MUST_USE int record();

    // Compares outputs only. `number`: of samples, from the first on.
    TENGINE_MUST_USE int compare(graph_t quantized, int64_t number,
                                 Comparison* out_comparison) const;

    const Samples& samples() const { return samples_; }

  private:
    struct Output
    {
        Vector<float> values;
        Vector<int> shape;
        bool is_float = false;
    };

    GraphPointer graph_;
    Samples samples_;
    int threads_;
    Vector<String> names_;
    Vector<Vector<Output>> outputs_;  // by sample, then by name
};

}  // namespace tengine::calibration
