// SPDX-License-Identifier: Apache-2.0
// The library's calibration (tengine/calibration.h) for this program: samples from a SampleSet,
// failures as exceptions that name the options of the command line.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "quantize/float_model.h"
#include "quantize/labels.h"
#include "quantize/samples.h"
#include "tengine/calibration.h"

namespace tengine::tools {

using ShowProgress = std::function<void(int done, int total)>;

// Kinds of weights and activations that devices may refuse.
struct WeightScales
{
    bool per_tensor = false;
    bool unsigned_activations = false;
};

struct QuantizeOptions
{
    std::string method = "minmax";
    double percentile = 99.99;
    WeightScales scales;
    std::vector<std::string> keep_float;  // patterns of nodes' names
    std::optional<double> max_drop;       // percent of decisions that may differ
    int threads = 1;
    bool dynamic = false;
    bool equalizes = false;
    bool corrects_bias = false;
};

// The scales that were chosen for devices.
struct ScaleChoice
{
    size_t index = 0;  // in the list
    int64_t mac_number = 0;
    int64_t first_mac_number = 0;
    std::string refusal;
};

class Calibration
{
  public:
    // `model` must outlive the object. All functions throw Failure, and what reading a sample
    // throws.
    Calibration(const FloatModel& model, const QuantizeOptions& options);

    // The steps, as tengine_calibration_<name>.
    void run(SampleSet samples, const ShowProgress& show);
    ScaleChoice choose(const FloatModel& placed, const std::vector<WeightScales>& candidates);
    void search(double max_drop, const ShowProgress& show);
    void compare(const Labels& labels, const ShowProgress& show);
    GraphPointer quantize() const;

    // The results; their strings are valid until the next step.
    tengine_calibration_summary summary() const;
    std::vector<tengine_calibrated_layer> layers() const;
    std::vector<tengine_calibrated_node> nodes() const;
    std::vector<tengine_calibrated_tensor> tensors() const;
    std::vector<tengine_calibrated_output> outputs() const;

  private:
    struct Destroy
    {
        void operator()(void* calibration) const { tengine_calibration_destroy(calibration); }
    };

    static int read_sample(void* user, int64_t index, tengine_sample_input inputs[],
                           int input_number);
    static int show_progress(void* user, int64_t done, int64_t total);
    void check(bool is_done) const;

    std::string path_;
    SampleSet samples_;
    Sample sample_;  // lent to the library
    ShowProgress show_;
    std::exception_ptr thrown_;  // in a callback
    std::unique_ptr<void, Destroy> calibration_;
};

// Names of the nodes that stay in float by request or for the bound.
std::set<std::string> float_nodes(const Calibration& calibration);

}  // namespace tengine::tools
