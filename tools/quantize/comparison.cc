// SPDX-License-Identifier: Apache-2.0
// Runs two models and compares their results. The contract is in comparison.h.
#include "quantize/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/masked_scores.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
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
    const std::vector<int>& shape = view.shape;
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
std::vector<int64_t> decide(const FloatView& view, size_t rows)
{
    std::vector<int64_t> classes;
    const size_t width = rows == 0 ? 0 : view.number / rows;
    for (size_t i = 0; i < rows; ++i) {
        const float* row = view.values + i * width;
        classes.push_back(std::max_element(row, row + width) - row);
    }
    return classes;
}

void add_labelled(const FloatView& expected, const FloatView& actual, const Labels& labels,
                  size_t samples, Accuracy* accuracy)
{
    const size_t rows = score_rows(expected);
    const std::vector<int64_t> in_float = decide(expected, rows);
    std::vector<int64_t> in_int8(rows, -1);
    if (have_same_shape(expected, actual)) in_int8 = decide(actual, rows);
    if (in_float.size() * samples != labels.size())
        throw Failure("--labels has " + std::to_string(labels.size()) + " labels for " +
                      std::to_string(in_float.size() * samples) +
                      " rows of scores in the model's first output, of shape " +
                      shape_text(expected.shape) + " for each of " + std::to_string(samples) +
                      " samples");
    for (size_t i = 0; i < in_float.size(); ++i) {
        const int64_t label = labels.at(accuracy->number++);
        accuracy->right_in_float += in_float[i] == label ? 1 : 0;
        accuracy->right_in_int8 += in_int8[i] == label ? 1 : 0;
    }
}

void add_output(const std::string& name, const FloatView& expected, const FloatView& actual,
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
    const std::vector<int64_t> wanted = decide(expected, score_rows(expected));
    number += wanted.size();
    if (!have_same_shape(expected, actual)) {
        number += wanted.empty() ? 1 : 0;
        return;
    }
    const std::vector<int64_t> found = decide(actual, wanted.size());
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

Comparison compare_models(graph_t in_float, const QuantizedModel& quantized,
                          const SampleSet& samples, const Labels& labels, int threads,
                          const ShowProgress& show)
{
    const std::vector<std::string> outputs = output_names(in_float);
    std::vector<std::string> expected_names;
    std::vector<std::string> actual_names;
    for (const auto& [tensor, dequantized] : quantized.dequantized) {
        expected_names.push_back(tensor);
        actual_names.push_back(dequantized);
    }
    MaskedScores in_float_scores(in_float), in_int8_scores(in_float);
    Network expected(in_float, expected_names, threads);
    Network actual(quantized.graph.get(), actual_names, threads);
    Comparison comparison;
    for (size_t i = 0; i < samples.number; ++i) {
        const Sample sample = samples.read(i);
        expected.run(sample);
        actual.run(sample);
        for (size_t k = 0; k < expected_names.size(); ++k)
            comparison.tensors[expected_names[k]].add(
                in_float_scores.for_comparison(expected_names[k], expected.view(expected_names[k])),
                in_int8_scores.for_comparison(expected_names[k], actual.view(actual_names[k])));
        bool is_first = true;
        for (const std::string& name : outputs) {
            const FloatView view = expected.view(name);
            add_output(name, view, actual.view(name), &comparison);
            if (!view.values || !is_first) continue;
            is_first = false;
            if (!labels.empty())
                add_labelled(view, actual.view(name), labels, samples.number, &comparison.accuracy);
        }
        show(static_cast<int>(i) + 1, static_cast<int>(samples.number));
    }
    comparison.threads = tengine_graph_get_thread_number(in_float);
    return comparison;
}

Reference::Reference(GraphPointer graph, const SampleSet& samples, int threads)
    : samples_(samples), threads_(threads), names_(output_names(graph.get()))
{
    Network network(graph.get(), {}, threads);
    for (size_t i = 0; i < samples.number; ++i) {
        const Sample sample = samples.read(i);
        network.run(sample);
        outputs_.emplace_back();
        for (const std::string& name : names_) {
            const FloatView view = network.view(name);
            Output output;
            output.shape = view.shape;
            output.is_float = view.values != nullptr;
            output.values.assign(view.values, view.values + view.number);
            outputs_.back().push_back(std::move(output));
        }
    }
}

Comparison Reference::compare(graph_t quantized, size_t samples) const
{
    Network network(quantized, {}, threads_);
    Comparison comparison;
    for (size_t i = 0; i < std::min(samples, samples_.number); ++i) {
        const Sample sample = samples_.read(i);
        network.run(sample);
        for (size_t k = 0; k < names_.size(); ++k) {
            const Output& output = outputs_[i][k];
            if (!output.is_float) continue;
            const FloatView expected = {output.values.data(), output.values.size(), output.shape};
            add_output(names_[k], expected, network.view(names_[k]), &comparison);
        }
    }
    return comparison;
}

}  // namespace tengine::tools
