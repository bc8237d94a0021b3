// SPDX-License-Identifier: Apache-2.0
#include "verify/layers.h"

#include <cmath>
#include <filesystem>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "verify/bound.h"
#include "verify/layer_graph.h"
#include "verify/report_json.h"

namespace tengine::tools {
namespace {

template <class Change>
Tensor changed(Tensor tensor, const Change& change)
{
    for (size_t i = 0; i < tensor.element_number(); ++i)
        set_element(&tensor, i, change(get_element(tensor, i)));
    return tensor;
}

// What a layer reads in floats, by name. In another precision these are numbers that it has, so
// that converting them is exact.
Values float_inputs(const Layer& layer, const Values& values, int value_type)
{
    Values inputs;
    for (const LayerInput& input : layer.inputs) {
        const auto value = values.find(input.name);
        if (value == values.end() || !is_floating(value->second.data_type)) continue;
        const Tensor& tensor = value->second;
        const bool is_converted =
            tensor.data_type == TENGINE_DT_FP32 && value_type != TENGINE_DT_FP32;
        Tensor one = make_tensor(value_type, {1});
        inputs[input.name] = !is_converted ? tensor : changed(tensor, [&](double element) {
            set_element(&one, 0, element);
            return get_element(one, 0);
        });
    }
    return inputs;
}

// Of these what the device is fed, and what it finds in the model's file.
Values without_computed(const Layer& layer, Values inputs)
{
    for (const LayerInput& input : layer.inputs)
        if (!input.is_variable && !input.is_initializer) inputs.erase(input.name);
    return inputs;
}

std::vector<Tensor> compute(const Layer& layer, const Values& inputs, LayerGraph* graph)
{
    graph->cut(layer, inputs);
    return graph->run();
}

std::vector<Tensor> compute_magnitudes(const Layer& layer, const Values& inputs, LayerGraph* graph)
{
    Values sizes = inputs;
    for (auto& [name, tensor] : sizes)
        tensor = changed(tensor, [](double value) { return std::fabs(value); });
    return compute(layer, sizes, graph);
}

// Far above the rounding of fp32, and far below what bends a function.
constexpr double kShare = 1.0 / (1 << 10);

// The sum of what each input changes, for a change as large as itself.
std::vector<Tensor> compute_conditions(const Layer& layer, const Values& inputs,
                                       const std::vector<Tensor>& outputs, LayerGraph* graph)
{
    std::vector<Tensor> sums;
    for (const Tensor& output : outputs)
        sums.push_back(make_tensor(TENGINE_DT_FP64, {output.shape.begin(), output.shape.end()}));
    for (const auto& [name, tensor] : inputs) {
        Values near = inputs;
        near[name] = changed(tensor, [](double value) { return value * (1 + kShare); });
        const std::vector<Tensor> moved = compute(layer, near, graph);
        for (size_t o = 0; o < outputs.size(); ++o)
            for (size_t i = 0; i < outputs[o].element_number(); ++i) {
                const double change = get_element(moved[o], i) - get_element(outputs[o], i);
                if (!std::isfinite(change)) continue;
                set_element(&sums[o], i, get_element(sums[o], i) + std::fabs(change) / kShare);
            }
    }
    return sums;
}

// A file's name has no more of a layer's than letters, digits and what joins them.
std::string file_word(const std::string& name)
{
    std::string word;
    for (const char letter : name) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                              letter == '-' || letter == '.' || letter == '_';
        if (is_plain || (!word.empty() && word.back() != '_')) word += is_plain ? letter : '_';
    }
    return word;
}

int type_of_precision(int precision)
{
    return precision == TENGINE_MODE_FP16   ? TENGINE_DT_FP16
           : precision == TENGINE_MODE_BF16 ? TENGINE_DT_BF16
                                            : TENGINE_DT_FP32;
}

std::string type_text(const Tensor& output, int value_type)
{
    const std::string type = tengine_data_type_get_name(output.data_type);
    if (output.data_type != TENGINE_DT_FP32 || value_type == TENGINE_DT_FP32) return type;
    return type + " in " + tengine_data_type_get_name(value_type);
}

// Looks at the layers of a model, one after the other.
class LayerCheck
{
  public:
    LayerCheck(const Target& target, const LayerOptions& options)
        : target_(target),
          options_(options),
          values_(compute_values(options.model, options.inputs)),
          device_(options.model, target, values_),
          reference_(options.model, reference_target(), values_)
    {
    }

    // What is found; `check` is "" when the preparation leaves nothing of the layer to run.
    Finding judge(const Layer& layer)
    {
        Finding finding;
        finding.subject = layer.name;
        for (const std::string& name : layer.outputs)
            if (values_.count(name) == 0) return finding;
        const Tensor& first = values_.at(layer.outputs[0]);
        finding.types = type_text(first, value_type_);
        finding.shape_class = shape_text(first.shape);
        try {
            reference_.cut(layer);
            finding.op = reference_.op();
            inputs_ = float_inputs(layer, values_, value_type_);
            device_inputs_ = without_computed(layer, inputs_);
            device_.cut(layer, device_inputs_);
            const Placement placement = device_.placement();
            if (placement.is_removed) return finding;
            finding.check = "layers";
            if (placement.is_taken) return compare_layer(layer, placement.mac_number, finding);
            finding.verdict = Verdict::kSkipped;
            finding.detail = placement.reason;
        } catch (const Failure& failure) {
            finding.check = "layers";
            finding.verdict = Verdict::kFailed;
            finding.detail = failure.what();
        }
        return finding;
    }

    // Writes the layer that was judged last; returns what runs it on the command line.
    std::string save(const Layer& layer) const
    {
        std::filesystem::path folder = options_.folder;
        if (folder == ".") folder.clear();
        const std::string stem =
            std::filesystem::path(options_.model).stem().string() + "." + file_word(layer.name);
        const std::string model = (folder / (stem + ".onnx")).string();
        device_.save(model);
        std::string text = target_text(target_) + " --model " + model;
        for (const LayerInput& input : layer.inputs) {
            if (!input.is_variable) continue;
            const std::string path =
                (folder / (stem + "." + file_word(input.name) + ".npy")).string();
            const auto changed_input = inputs_.find(input.name);
            write_tensor(path, changed_input == inputs_.end() ? values_.at(input.name)
                                                              : changed_input->second);
            const std::string argument = " --input '" + input.name + "=" + path + "'";
            if (text.find(argument) == std::string::npos) text += argument;
        }
        return text;
    }

  private:
    Finding compare_layer(const Layer& layer, int64_t mac_number, Finding finding)
    {
        const std::vector<Tensor> outputs = device_.run();
        Expected expected;
        expected.outputs = compute(layer, inputs_, &reference_);
        const Rule rule = rule_of(finding.op);
        if (rule == Rule::kSum)
            expected.magnitudes = compute_magnitudes(layer, inputs_, &reference_);
        if (rule == Rule::kFunction)
            expected.conditions = compute_conditions(layer, inputs_, expected.outputs, &reference_);
        const Tensor& first = expected.outputs[0];
        const Agreement agreement =
            compare(case_of(layer, finding.op),
                    first.data_type == TENGINE_DT_FP32 ? value_type_ : first.data_type,
                    count_terms(layer, first, mac_number), expected, outputs);
        finding.error = agreement.error;
        finding.bound = 1;
        finding.verdict = agreement.agrees ? Verdict::kPassed : Verdict::kFailed;
        finding.detail = agreement.detail;
        return finding;
    }

    // As far as bounds ask for it.
    Case case_of(const Layer& layer, const std::string& op) const
    {
        Case of;
        of.op = op;
        for (const LayerInput& input : layer.inputs) {
            const auto value = values_.find(input.name);
            of.inputs.push_back(
                fed(value == values_.end() ? std::vector<int>() : value->second.shape));
        }
        return of;
    }

    int64_t count_terms(const Layer& layer, const Tensor& output, int64_t mac_number) const
    {
        const auto results = static_cast<int64_t>(output.element_number());
        if (results == 0) return 1;
        int64_t elements = 0;
        for (const LayerInput& input : layer.inputs) {
            const auto value = values_.find(input.name);
            if (value == values_.end()) continue;
            elements = std::max(elements, static_cast<int64_t>(value->second.element_number()));
        }
        return std::max({int64_t{1}, mac_number / results, elements / results});
    }

    const Target& target_;
    const LayerOptions& options_;
    const int value_type_ = type_of_precision(target_.precision);
    const Values values_;
    // Floats that the layer at hand reads; the device's graph borrows its own.
    Values inputs_, device_inputs_;
    LayerGraph device_;
    LayerGraph reference_;
};

}  // namespace

std::string layers_text(const Target& target, const LayerOptions& options)
{
    std::string text = target_text(target) + " --model " + options.model;
    for (const std::string& shape : options.inputs.shapes)
        text += " --shape '" + shape + "'";
    for (const std::string& input : options.inputs.inputs)
        text += " --input '" + input + "'";
    return text;
}

void check_layers(const Target& target, const LayerOptions& options, Verification* report,
                  const ShowProgress& show)
{
    if (!std::filesystem::is_directory(options.folder))
        throw Failure("--layer-folder: '" + options.folder + "' is not a folder");
    ModelOptions quiet = options.inputs;
    quiet.says_guess = false;
    const std::vector<Layer> layers = list_layers(Model(options.model, quiet).graph());
    LayerCheck check(target, options);
    bool is_saved = false;
    for (size_t i = 0; i < layers.size(); ++i) {
        show(static_cast<int>(i), static_cast<int>(layers.size()));
        if (!layers[i].is_variable()) continue;
        Finding finding = check.judge(layers[i]);
        if (finding.check.empty()) continue;
        if (finding.verdict == Verdict::kFailed) {
            finding.reproduction = is_saved ? layers_text(target, options) : check.save(layers[i]);
            is_saved = true;
        }
        report->add(finding);
    }
}

}  // namespace tengine::tools
