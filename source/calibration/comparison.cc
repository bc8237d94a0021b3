// SPDX-License-Identifier: Apache-2.0
// Runs two models and compares their results. The contract is in comparison.h.
#include "calibration/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibration/failure.h"
#include "calibration/masked_scores.h"
#include "tengine/inspect.h"

namespace tengine::calibration {
namespace {

constexpr double kLargestError = 1.0 / 128;

// A shape may depend on data, and differ with quantised data.
bool have_same_shape(const FloatView& expected, const FloatView& actual)
{
    return actual.values && actual.shape == expected.shape;
}

// Whether the last dimension has probabilities, such as a Softmax for each position of a sequence.
bool has_probabilities(const FloatView& view)
{
    constexpr double kLargestRest = 1e-3;
    const size_t width = view.shape.size() < 3 ? 0 : static_cast<size_t>(view.shape.back());
    if (width < 2 || view.number == 0) return false;
    for (size_t begin = 0; begin < view.number; begin += width) {
        double sum = 0;
        for (size_t i = begin; i < begin + width; ++i) {
            if (!(view.values[i] >= 0)) return false;
            sum += view.values[i];
        }
        if (!(std::fabs(sum - 1) <= kLargestRest)) return false;
    }
    return true;
}

// The number of rows of scores, 0 if the output has no scores.
size_t score_rows(const FloatView& view)
{
    const Vector<int>& shape = view.shape;
    if (has_probabilities(view)) return view.number / static_cast<size_t>(shape.back());
    const bool has_more = std::any_of(
        shape.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(shape.size())),
        shape.end(), [](int extent) { return extent != 1; });
    if (shape.size() < 2 || shape[0] < 1 || shape[1] < 2 || has_more) return 0;
    return static_cast<size_t>(shape[0]);
}

bool is_close(const FloatView& expected, const FloatView& actual)
{
    double largest = 0;
    double error = 0;
    for (size_t i = 0; i < expected.number; ++i) {
        const double difference = static_cast<double>(actual.values[i]) - expected.values[i];
        largest = std::max(largest, std::fabs(static_cast<double>(expected.values[i])));
        error += difference * difference;
    }
    return std::sqrt(error / static_cast<double>(expected.number)) <= largest * kLargestError;
}

// The class with the greatest score in each of `rows` rows.
Vector<int64_t> decide(const FloatView& view, size_t rows)
{
    Vector<int64_t> classes;
    const size_t width = rows == 0 ? 0 : view.number / rows;
    for (size_t i = 0; i < rows; ++i) {
        const float* row = view.values + i * width;
        classes.push_back(std::max_element(row, row + width) - row);
    }
    return classes;
}

// `samples`: how many there are.
int add_labelled(const FloatView& expected, const FloatView& actual, const Labels& labels,
                 int64_t samples, Accuracy* accuracy)
{
    const size_t rows = score_rows(expected);
    const Vector<int64_t> in_float = decide(expected, rows);
    Vector<int64_t> in_int8(rows, -1);
    if (have_same_shape(expected, actual)) in_int8 = decide(actual, rows);
    const int64_t wanted = static_cast<int64_t>(rows) * samples;
    if (wanted != labels.number)
        return fail(
            TENGINE_EINVAL,
            "labels has %lld labels for %lld rows of scores in the model's first output, of "
            "shape %s for each of %lld samples",
            static_cast<long long>(labels.number), static_cast<long long>(wanted),
            shape_text(expected.shape.data(), static_cast<int>(expected.shape.size())).c_str(),
            static_cast<long long>(samples));
    for (size_t i = 0; i < in_float.size(); ++i) {
        const int64_t label = labels.classes[accuracy->number++];
        accuracy->right_in_float += in_float[i] == label ? 1 : 0;
        accuracy->right_in_int8 += in_int8[i] == label ? 1 : 0;
    }
    return TENGINE_OK;
}

void add_output(const String& name, const FloatView& expected, const FloatView& actual,
                Comparison* comparison)
{
    if (!expected.values || expected.number == 0) return;
    const bool is_first = comparison->outputs.empty() || comparison->outputs.count(name) != 0;
    if (is_first && comparison->outputs.size() <= 1) comparison->decisions.add(expected, actual);
    comparison->outputs[name].add(expected, actual);
    comparison->whole.add(expected, actual);
}

}  // namespace

void Noise::add(const FloatView& expected, const FloatView& actual)
{
    const bool is_comparable = have_same_shape(expected, actual);
    for (size_t i = 0; i < expected.number; ++i) {
        const double value = expected.values[i];
        const double difference = is_comparable ? actual.values[i] - value : value;
        signal += value * value;
        noise += difference * difference;
    }
}

double Noise::decibels() const
{
    if (noise == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(signal / noise);
}

void Decisions::add(const FloatView& expected, const FloatView& actual)
{
    const Vector<int64_t> wanted = decide(expected, score_rows(expected));
    number += static_cast<int64_t>(wanted.size());
    if (!have_same_shape(expected, actual)) {
        number += wanted.empty() ? 1 : 0;
        return;
    }
    const Vector<int64_t> found = decide(actual, wanted.size());
    if (wanted.empty()) {
        ++number;
        same += is_close(expected, actual) ? 1 : 0;
    }
    for (size_t i = 0; i < wanted.size(); ++i)
        same += wanted[i] == found[i] ? 1 : 0;
}

double Decisions::drop() const
{
    return number == 0 ? 0
                       : 100.0 * static_cast<double>(number - same) / static_cast<double>(number);
}

namespace {

// One sample through both networks.
struct GraphPair
{
    Network expected, actual;
    MaskedScores expected_scores, actual_scores;
};

int compare_tensors(const Map<String, String>& dequantized, GraphPair* pair, Comparison* comparison)
{
    for (const auto& [tensor, other] : dequantized) {
        FloatView expected, actual;
        TENGINE_RETURN_IF_ERROR(pair->expected.view(tensor, &expected));
        TENGINE_RETURN_IF_ERROR(pair->actual.view(other, &actual));
        comparison->tensors[tensor].add(pair->expected_scores.for_comparison(tensor, expected),
                                        pair->actual_scores.for_comparison(tensor, actual));
    }
    return TENGINE_OK;
}

int compare_outputs(const Vector<String>& outputs, const Labels& labels, int64_t samples,
                    const GraphPair& pair, Comparison* comparison)
{
    bool is_first = true;
    for (const String& name : outputs) {
        FloatView expected, actual;
        TENGINE_RETURN_IF_ERROR(pair.expected.view(name, &expected));
        TENGINE_RETURN_IF_ERROR(pair.actual.view(name, &actual));
        add_output(name, expected, actual, comparison);
        if (!expected.values || !is_first) continue;
        is_first = false;
        if (labels.number != 0)
            TENGINE_RETURN_IF_ERROR(
                add_labelled(expected, actual, labels, samples, &comparison->accuracy));
    }
    return TENGINE_OK;
}

}  // namespace

int compare_models(graph_t in_float, const QuantizedGraph& quantized, const Samples& samples,
                   const Labels& labels, int threads, Comparison* out_comparison)
{
    const Vector<String> outputs = output_names(in_float);
    Vector<String> expected_names, actual_names;
    for (const auto& [tensor, dequantized] : quantized.dequantized) {
        expected_names.push_back(tensor);
        actual_names.push_back(dequantized);
    }
    GraphPair pair = {{in_float, threads},
                      {quantized.graph.get(), threads},
                      MaskedScores(in_float),
                      MaskedScores(in_float)};
    TENGINE_RETURN_IF_ERROR(pair.expected.show(expected_names));
    TENGINE_RETURN_IF_ERROR(pair.actual.show(actual_names));
    for (int64_t i = 0; i < samples.number; ++i) {
        Sample sample;
        TENGINE_RETURN_IF_ERROR(samples.source.read_again(i, &sample));
        TENGINE_RETURN_IF_ERROR(pair.expected.run(sample));
        TENGINE_RETURN_IF_ERROR(pair.actual.run(sample));
        TENGINE_RETURN_IF_ERROR(compare_tensors(quantized.dequantized, &pair, out_comparison));
        TENGINE_RETURN_IF_ERROR(
            compare_outputs(outputs, labels, samples.number, pair, out_comparison));
        TENGINE_RETURN_IF_ERROR(samples.source.show_progress(i + 1, samples.number));
    }
    out_comparison->threads = tengine_graph_get_thread_number(in_float);
    return TENGINE_OK;
}

int Reference::record()
{
    names_ = output_names(graph_.get());
    Network network(graph_.get(), threads_);
    for (int64_t i = 0; i < samples_.number; ++i) {
        Sample sample;
        TENGINE_RETURN_IF_ERROR(samples_.source.read_again(i, &sample));
        TENGINE_RETURN_IF_ERROR(network.run(sample));
        outputs_.emplace_back();
        for (const String& name : names_) {
            FloatView view;
            TENGINE_RETURN_IF_ERROR(network.view(name, &view));
            Output output;
            output.is_float = view.values != nullptr;
            if (output.is_float) output.values.assign(view.values, view.values + view.number);
            output.shape = std::move(view.shape);
            outputs_.back().push_back(std::move(output));
        }
    }
    return TENGINE_OK;
}

int Reference::compare(graph_t quantized, int64_t number, Comparison* out_comparison) const
{
    Network network(quantized, threads_);
    for (int64_t i = 0; i < std::min(number, samples_.number); ++i) {
        Sample sample;
        TENGINE_RETURN_IF_ERROR(samples_.source.read_again(i, &sample));
        TENGINE_RETURN_IF_ERROR(network.run(sample));
        for (size_t k = 0; k < names_.size(); ++k) {
            const Output& output = outputs_[static_cast<size_t>(i)][k];
            if (!output.is_float) continue;
            FloatView actual;
            TENGINE_RETURN_IF_ERROR(network.view(names_[k], &actual));
            add_output(names_[k], {output.values.data(), output.values.size(), output.shape},
                       actual, out_comparison);
        }
    }
    return TENGINE_OK;
}

}  // namespace tengine::calibration
