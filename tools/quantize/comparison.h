// SPDX-License-Identifier: Apache-2.0
// The distance of the quantised model from the float one on the samples: noise by tensor, and
// decisions that differ.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "quantize/calibration.h"
#include "quantize/labels.h"
#include "quantize/network.h"

namespace tengine::tools {

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
    size_t number = 0;
    size_t same = 0;

    void add(const FloatView& expected, const FloatView& actual);

    // Percent of decisions that differ.
    double drop() const;
};

// The number of decisions that agree with the labels, by either model.
struct Accuracy
{
    size_t number = 0;
    size_t right_in_float = 0;
    size_t right_in_int8 = 0;
};

struct Comparison
{
    std::map<std::string, Noise> tensors;
    std::map<std::string, Noise> outputs;  // fp32 outputs of the model
    Noise whole;                           // over all outputs
    Decisions decisions;                   // for the first fp32 output
    Accuracy accuracy;                     // for these; nothing without labels
    int threads = 1;                       // that the models ran with
};

// Runs both models on all samples. `quantized.dequantized` lists the tensors to compare; they
// become outputs of the graphs. `labels` may be empty. Throws Failure, as the next ones do; also
// when the labels are not one for each row of scores of the first fp32 output.
Comparison compare_models(graph_t in_float, const QuantizedModel& quantized,
                          const SampleSet& samples, const Labels& labels, int threads,
                          const ShowProgress& show);

// The float model's outputs, kept, for comparing many quantised models with it.
class Reference
{
  public:
    Reference(GraphPointer graph, const SampleSet& samples, int threads);

    // Compares outputs only. `samples`: the number of samples, from the first on.
    Comparison compare(graph_t quantized, size_t samples) const;

    size_t sample_number() const { return samples_.number; }

  private:
    struct Output
    {
        std::vector<float> values;
        std::vector<int> shape;
        bool is_float = false;
    };

    SampleSet samples_;
    int threads_;
    std::vector<std::string> names_;
    std::vector<std::vector<Output>> outputs_;  // by sample, then by name
};

}  // namespace tengine::tools
