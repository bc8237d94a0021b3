// SPDX-License-Identifier: Apache-2.0
#include "verify/layers.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "verify/bound.h"
#include "verify/layer_graph.h"
#include "verify/layer_group.h"
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

// The float inputs of a layer, by name. In another precision these are numbers that it has, so
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

// Constants of nodes, which the device finds in the model's file, as they are there.
Values with_constants(const Layer& layer, const Values& values, Values inputs)
{
    for (const LayerInput& input : layer.inputs)
        if (!input.is_variable && !input.is_initializer && inputs.count(input.name) != 0)
            inputs[input.name] = values.at(input.name);
    return inputs;
}

// The inputs that the device is fed, and those that it finds in the model's file.
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

// Weights of a float layer may be signed bytes with scales, whose zero point is 0.
std::vector<Tensor> compute_magnitudes(const Layer& layer, const Values& values,
                                       const Values& inputs, LayerGraph* graph)
{
    Values sizes = inputs;
    for (const LayerInput& input : layer.inputs) {
        const auto value = values.find(input.name);
        if (input.is_initializer && value != values.end() &&
            value->second.data_type == TENGINE_DT_INT8)
            sizes[input.name] = value->second;
    }
    for (auto& [name, tensor] : sizes) {
        const double most = tensor.data_type == TENGINE_DT_INT8 ? INT8_MAX : INFINITY;
        tensor = changed(tensor, [&](double value) { return std::min(std::fabs(value), most); });
    }
    return compute(layer, sizes, graph);
}

// Far above the rounding of fp32, and far below the curvature of a function.
constexpr double kShare = 1.0 / (1 << 10);

// The largest change of each output, for both directions of a change by an input: functions have
// kinks.
std::vector<Tensor> compute_changes(const Layer& layer, const Values& inputs,
                                    const std::string& name, const std::vector<Tensor>& outputs,
                                    LayerGraph* graph)
{
    std::vector<Tensor> largest;
    for (const double share : {kShare, -kShare}) {
        Values near = inputs;
        near[name] = changed(near[name], [&](double value) { return value * (1 + share); });
        const std::vector<Tensor> moved = compute(layer, near, graph);
        for (size_t o = 0; o < outputs.size(); ++o) {
            if (largest.size() <= o)
                largest.push_back(make_tensor(TENGINE_DT_FP64,
                                              {outputs[o].shape.begin(), outputs[o].shape.end()}));
            for (size_t i = 0; i < outputs[o].element_number(); ++i) {
                const double change =
                    std::fabs(get_element(moved[o], i) - get_element(outputs[o], i));
                if (std::isfinite(change))
                    set_element(&largest[o], i, std::max(get_element(largest[o], i), change));
            }
        }
    }
    return largest;
}

// The sum of the changes by each input, for a change as large as itself.
std::vector<Tensor> compute_conditions(const Layer& layer, const Values& inputs,
                                       const std::vector<Tensor>& outputs, LayerGraph* graph)
{
    std::vector<Tensor> sums;
    for (const Tensor& output : outputs)
        sums.push_back(make_tensor(TENGINE_DT_FP64, {output.shape.begin(), output.shape.end()}));
    for (const auto& [name, tensor] : inputs) {
        const std::vector<Tensor> changes = compute_changes(layer, inputs, name, outputs, graph);
        for (size_t o = 0; o < outputs.size(); ++o)
            for (size_t i = 0; i < outputs[o].element_number(); ++i)
                set_element(&sums[o], i,
                            get_element(sums[o], i) + get_element(changes[o], i) / kShare);
    }
    return sums;
}

// A file's name has only the letters, digits and connecting characters of a layer's name.
std::string file_word(const std::string& name)
{
    constexpr size_t kLongest = 60;  // for several in a name
    std::string word;
    for (const char letter : name.substr(0, kLongest)) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                              letter == '-' || letter == '.' || letter == '_';
        if (is_plain || (!word.empty() && word.back() != '_')) word += is_plain ? letter : '_';
    }
    return word;
}

bool is_integer(const Target& target)
{
    return target.precision == TENGINE_MODE_INT8 || target.precision == TENGINE_MODE_UINT8;
}

// For nodes that are no part of a layer in integers.
Target without_integers(Target target)
{
    if (is_integer(target)) target.precision = TENGINE_MODE_FP32;
    return target;
}

// Nodes between quantised tensors that stay in floats, such as Softmax, cause a warning in the log;
// here they are findings.
class WithoutWarnings
{
  public:
    WithoutWarnings() { set_log_level(LOG_ERR); }
    ~WithoutWarnings() { set_log_level(LOG_NOTICE); }
    WithoutWarnings(const WithoutWarnings&) = delete;
    WithoutWarnings& operator=(const WithoutWarnings&) = delete;
};

std::string type_text(const Tensor& output, int value_type)
{
    const std::string type = tengine_data_type_get_name(output.data_type);
    if (output.data_type != TENGINE_DT_FP32 || value_type == TENGINE_DT_FP32) return type;
    return type + " in " + tengine_data_type_get_name(value_type);
}

// Verifies the layers of a model, one after the other.
class LayerCheck
{
  public:
    LayerCheck(const Target& target, const LayerOptions& options)
        : target_(target),
          options_(options),
          values_(compute_values(options.model, options.inputs)),
          device_(options.model, without_integers(target), values_),
          reference_(options.model, reference_target(), values_)
    {
        if (is_integer(target)) integers_.emplace(options.model, target, values_);
    }

    const Values& values() const { return values_; }

    // The finding; `check` is "" when the preparation leaves nothing of the layer to run.
    Finding judge(const Layer& layer)
    {
        Finding finding;
        if (!has_values(layer)) return finding;
        describe(layer, &finding);
        judged_ = &device_;
        try {
            reference_.cut(layer);
            finding.op = reference_.op(layer.op);
            inputs_ = float_inputs(layer, values_, value_type_);
            device_inputs_ = without_computed(layer, inputs_);
            device_.cut(layer, device_inputs_);
            const Placement placement = device_.placement();
            if (placement.is_removed) return finding;
            if (!placement.is_converted) inputs_ = with_constants(layer, values_, inputs_);
            finding.check = "layers";
            if (const char* reason = find_obstacle(layer, finding.op)) {
                finding.verdict = Verdict::kSkipped;
                finding.detail = reason;
                return finding;
            }
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

    // The same of a layer between quantised tensors, for a target in integers. Nothing when its
    // preparation leaves a node in floats.
    std::optional<Finding> judge_integers(const Layer& layer)
    {
        if (!has_values(layer)) return std::nullopt;
        Finding finding;
        describe(layer, &finding);
        judged_ = &*integers_;
        inputs_.clear();
        try {
            const WithoutWarnings quiet;
            integers_->cut(layer);
            if (!integers_->is_in_integers()) return std::nullopt;
            const IntegerWork work = integers_->integer_work();
            if (work.placement.is_removed) return finding;
            finding.op = work.op;
            finding.check = kIntegerCheck;
            if (work.placement.is_taken) return compare_bytes(layer, work, finding);
            finding.verdict = Verdict::kSkipped;
            finding.detail = work.placement.reason;
        } catch (const Failure& failure) {
            finding.check = kIntegerCheck;
            finding.verdict = Verdict::kFailed;
            finding.detail = failure.what();
        }
        return finding;
    }

    // Writes the layer that was judged last; returns the command line that runs it.
    std::string save(const Layer& layer) const
    {
        std::filesystem::path folder = options_.folder;
        if (folder == ".") folder.clear();
        const std::string stem =
            std::filesystem::path(options_.model).stem().string() + "." + file_word(layer.name);
        const std::string model = judged_->save(folder, stem + ".onnx");
        std::string text = target_text(target_) + " --model " + model;
        for (const LayerInput& input : layer.inputs) {
            if (!input.is_variable) continue;
            const auto changed_input = inputs_.find(input.name);
            const std::string path = put_tensor(
                folder.string(), stem + "." + file_word(input.name) + ".npy",
                changed_input == inputs_.end() ? values_.at(input.name) : changed_input->second);
            const std::string argument = " --input '" + input.name + "=" + path + "'";
            if (text.find(argument) == std::string::npos) text += argument;
        }
        return text;
    }

  private:
    static constexpr char kIntegerCheck[] = "integer layers";

    bool has_values(const Layer& layer) const
    {
        return std::all_of(layer.outputs.begin(), layer.outputs.end(),
                           [&](const std::string& name) { return values_.count(name) != 0; });
    }

    void describe(const Layer& layer, Finding* finding) const
    {
        const Tensor& first = values_.at(layer.outputs[0]);
        finding->subject = layer.name;
        finding->op = layer.op;
        finding->types = type_text(first, value_type_);
        finding->shape_class = shape_text(first.shape);
    }

    // Compares with the integers that the plain kernels computed in floats between DequantizeLinear
    // and QuantizeLinear.
    Finding compare_bytes(const Layer& layer, const IntegerWork& work, Finding finding)
    {
        Expected expected;
        for (const std::string& name : layer.outputs)
            expected.outputs.push_back(values_.at(name));
        const std::string rounds = "QuantizeLinear";
        const Agreement agreement =
            compare(case_of(layer, work.is_rounded ? rounds : work.op),
                    expected.outputs[0].data_type, 1, expected, integers_->run());
        note(agreement, &finding);
        return finding;
    }

    // The reason why a layer of a quantised model has no bound in a precision of 16 bits; null: it
    // has one.
    const char* find_obstacle(const Layer& layer, const std::string& op) const
    {
        if (value_type_ == TENGINE_DT_FP32) return nullptr;
        const auto is_byte = [](const Tensor& value) {
            return value.data_type == TENGINE_DT_INT8 || value.data_type == TENGINE_DT_UINT8;
        };
        const bool is_lowered = op != layer.op;
        if (rule_of(op) == Rule::kSteps || (is_lowered && is_byte(values_.at(layer.outputs[0]))))
            return "its tensors are quantised: it is verified in fp32 and int8";
        const auto is_rounded = [&](const LayerInput& input) {
            const auto value = values_.find(input.name);
            const bool is_made = !input.is_initializer && value_type_ == TENGINE_DT_BF16;
            return !input.is_variable && value != values_.end() &&
                   (is_made || is_byte(value->second));
        };
        if (is_lowered && std::any_of(layer.inputs.begin(), layer.inputs.end(), is_rounded))
            return "its constants are rounded to the precision: it is verified in fp32";
        return nullptr;
    }

    static void note(const Agreement& agreement, Finding* finding)
    {
        finding->error = agreement.error;
        finding->bound = 1;
        finding->verdict = agreement.agrees ? Verdict::kPassed : Verdict::kFailed;
        finding->detail = agreement.detail;
    }

    Finding compare_layer(const Layer& layer, int64_t mac_number, Finding finding)
    {
        const std::vector<Tensor> outputs = device_.run();
        Expected expected;
        expected.outputs = compute(layer, inputs_, &reference_);
        const Rule rule = rule_of(finding.op);
        if (rule == Rule::kSum)
            expected.magnitudes = compute_magnitudes(layer, values_, inputs_, &reference_);
        if (rule == Rule::kFunction)
            expected.conditions = compute_conditions(layer, inputs_, expected.outputs, &reference_);
        const Tensor& first = expected.outputs[0];
        const Agreement agreement = compare(
            case_of(layer, finding.op),
            first.data_type == TENGINE_DT_FP32 ? value_type_ : first.data_type,
            count_terms(finding.op, first, largest_input(layer), mac_number), expected, outputs);
        note(agreement, &finding);
        return finding;
    }

    // As far as bounds need it.
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

    int64_t largest_input(const Layer& layer) const
    {
        int64_t elements = 0;
        for (const LayerInput& input : layer.inputs) {
            const auto value = values_.find(input.name);
            if (value == values_.end()) continue;
            elements = std::max(elements, static_cast<int64_t>(value->second.element_number()));
        }
        return elements;
    }

    const Target& target_;
    const LayerOptions& options_;
    const int value_type_ = type_of_precision(target_.precision);
    const Values values_;
    // Floats that the present layer reads; the device's graph borrows its own.
    Values inputs_, device_inputs_;
    LayerGraph device_;
    LayerGraph reference_;
    std::optional<LayerGraph> integers_;  // for a target in integers
    const LayerGraph* judged_ = &device_;
};

std::set<std::string> list_results(graph_t graph)
{
    std::set<std::string> names;
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i)
        names.insert(get_tensor_name(tengine_graph_get_output(graph, i)));
    return names;
}

// Visits the layers in the order of the file. A group that runs in integers is verified as a whole
// at its first float node.
class LayerWalk
{
  public:
    LayerWalk(const Target& target, const LayerOptions& options, Verification* report)
        : target_(target), options_(options), check_(target, options), report_(report)
    {
        ModelOptions quiet = options.inputs;
        quiet.says_guess = false;
        quiet.options.emplace_back(kStatesAreInputs);
        const Model model(options.model, quiet);
        layers_ = list_layers(model.graph());
        if (!is_integer(target)) return;
        std::set<std::string> floats;
        for (const auto& [name, value] : check_.values())
            if (is_floating(value.data_type)) floats.insert(name);
        results_ = list_results(model.graph());
        for (LayerGroup& group : list_groups(layers_, floats, results_)) {
            const size_t first = group.nodes[0];
            groups_[first] = std::move(group);
        }
    }

    size_t size() const { return layers_.size(); }

    void visit(size_t index)
    {
        const Layer& layer = layers_[index];
        if (!layer.is_variable() || done_.count(index) != 0) return;
        if (may_be_inside(layer)) {
            waiting_[layer.outputs[0]] = index;
            return;
        }
        const auto group = groups_.find(index);
        if (group != groups_.end() && takes(group->second)) return;
        for (const LayerInput& input : layer.inputs) {
            const auto source = waiting_.find(input.name);
            if (source == waiting_.end()) continue;
            add(layers_[source->second], check_.judge(layers_[source->second]));
            waiting_.erase(source);
        }
        add(layer, check_.judge(layer));
    }

  private:
    // It becomes a layer of its own if a reader does not run in integers.
    bool may_be_inside(const Layer& layer) const
    {
        return is_integer(target_) && is_dequantisation(layer) &&
               results_.count(layer.outputs[0]) == 0;
    }

    bool takes(const LayerGroup& group)
    {
        std::optional<Finding> finding = check_.judge_integers(group.layer);
        if (!finding) return false;
        done_.insert(group.nodes.begin(), group.nodes.end());
        add(group.layer, *finding);
        return true;
    }

    void add(const Layer& layer, Finding finding)
    {
        if (finding.check.empty()) return;
        if (finding.verdict == Verdict::kFailed) {
            finding.reproduction = is_saved_ ? layers_text(target_, options_) : check_.save(layer);
            is_saved_ = true;
        }
        report_->add(finding);
    }

    const Target& target_;
    const LayerOptions& options_;
    LayerCheck check_;
    Verification* report_;
    std::vector<Layer> layers_;
    std::set<std::string> results_;          // the model's
    std::map<size_t, LayerGroup> groups_;    // by their first node
    std::set<size_t> done_;                  // nodes of groups that ran in integers
    std::map<std::string, size_t> waiting_;  // DequantizeLinear nodes by their results
    bool is_saved_ = false;
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
    LayerWalk walk(target, options, report);
    for (size_t i = 0; i < walk.size(); ++i) {
        show(static_cast<int>(i), static_cast<int>(walk.size()));
        walk.visit(i);
    }
}

}  // namespace tengine::tools
