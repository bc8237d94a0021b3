// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration.h"

#include <algorithm>
#include <iterator>

#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

// A message of the library with the names that this program has for its arguments, or with the
// path of the model.
std::string program_message(std::string message, const std::string& path)
{
    struct Name
    {
        const std::string library, program;
    };
    const Name names[] = {{"method: ", ""},
                          {"max_drop ", "--max-drop "},
                          {"labels has ", "--labels has "},
                          {"keep_float: ", "--keep-float: "},
                          {"there is nothing to quantise: ", "there is nothing to quantise: "}};
    const auto name = std::find_if(std::begin(names), std::end(names), [&](const Name& known) {
        return message.rfind(known.library, 0) == 0;
    });
    if (name == std::end(names)) return path + ": " + message;
    message.replace(0, name->library.size(), name->program);
    const std::string option = " keep_float ";
    const size_t at = message.find(option);
    if (at != std::string::npos) message.replace(at, option.size(), " --keep-float ");
    if (get_tengine_errno() == TENGINE_ENOENT) message += "; `tengine inspect` lists their names";
    return message;
}

int scales_per_channel(const WeightScales& scales)
{
    return scales.per_tensor ? TENGINE_PER_TENSOR : 0;
}

// All items of one kind.
template <class Item, class Get>
std::vector<Item> list_items(int number, const Get& get)
{
    std::vector<Item> items(static_cast<size_t>(number));
    for (int i = 0; i < number; ++i)
        get(i, &items[static_cast<size_t>(i)]);
    return items;
}

}  // namespace

int Calibration::read_sample(void* user, int64_t index, tengine_sample_input inputs[],
                             int input_number)
{
    Calibration& self = *static_cast<Calibration*>(user);
    try {
        if (static_cast<size_t>(index) >= self.samples_.number) return 0;
        self.sample_ = self.samples_.read(static_cast<size_t>(index));
        for (int i = 0; i < input_number; ++i) {
            const Tensor& tensor = self.sample_.at(static_cast<size_t>(i));
            inputs[i].data = tensor.bytes.data();
            inputs[i].size = tensor.bytes.size();
            inputs[i].data_type = tensor.data_type;
            inputs[i].dim_number = static_cast<int>(tensor.shape.size());
            std::copy(tensor.shape.begin(), tensor.shape.end(), inputs[i].dims);
        }
        return 1;
    } catch (...) {
        self.thrown_ = std::current_exception();
        return -1;
    }
}

int Calibration::show_progress(void* user, int64_t done, int64_t total)
{
    const Calibration& self = *static_cast<Calibration*>(user);
    if (self.show_)
        self.show_(
            static_cast<int>(done),
            static_cast<int>(total > 0 ? total : static_cast<int64_t>(self.samples_.number)));
    return 0;
}

Calibration::Calibration(const FloatModel& model, const QuantizeOptions& options)
    : path_(model.path())
{
    std::vector<const char*> patterns;
    for (const std::string& pattern : options.keep_float)
        patterns.push_back(pattern.c_str());
    tengine_calibration_options how = {};
    how.user = this;
    how.show_progress = show_progress;
    how.keep_float = patterns.data();
    how.keep_float_number = static_cast<int>(patterns.size());
    how.thread_number = options.threads;
    how.dynamic = options.dynamic ? 1 : 0;
    how.equalize = options.equalizes ? 1 : 0;
    how.correct_bias = options.corrects_bias ? 1 : 0;
    if (!options.dynamic) {
        how.read_sample = read_sample;
        how.method = options.method.c_str();
        how.percentile = options.percentile;
        how.per_channel = scales_per_channel(options.scales);
        how.unsigned_activations = options.scales.unsigned_activations ? 1 : 0;
    }
    calibration_.reset(tengine_calibration_create(model.graph(), &how, sizeof how));
    check(calibration_ != nullptr);
}

void Calibration::check(bool is_done) const
{
    if (is_done) return;
    if (thrown_) std::rethrow_exception(thrown_);
    throw Failure(program_message(get_tengine_error(), path_));
}

void Calibration::run(SampleSet samples, const ShowProgress& show)
{
    samples_ = std::move(samples);
    show_ = show;
    check(tengine_calibration_run(calibration_.get()) == 0);
}

ScaleChoice Calibration::choose(const FloatModel& placed,
                                const std::vector<WeightScales>& candidates)
{
    std::vector<tengine_calibration_scales> scales;
    for (const WeightScales& candidate : candidates)
        scales.push_back({scales_per_channel(candidate), candidate.unsigned_activations ? 1 : 0});
    tengine_quantization_choice choice = {};
    check(tengine_calibration_choose(calibration_.get(), placed.graph(), scales.data(),
                                     static_cast<int>(scales.size()), &choice, sizeof choice) == 0);
    return {static_cast<size_t>(choice.index), choice.mac_number, choice.first_mac_number,
            choice.refusal};
}

void Calibration::search(double max_drop, const ShowProgress& show)
{
    show_ = show;
    check(tengine_calibration_search(calibration_.get(), max_drop) == 0);
}

void Calibration::compare(const Labels& labels, const ShowProgress& show)
{
    show_ = show;
    check(tengine_calibration_compare(calibration_.get(), labels.empty() ? nullptr : labels.data(),
                                      static_cast<int64_t>(labels.size())) == 0);
}

GraphPointer Calibration::quantize() const
{
    GraphPointer graph(tengine_calibration_quantize(calibration_.get()));
    check(graph != nullptr);
    return graph;
}

tengine_calibration_summary Calibration::summary() const
{
    tengine_calibration_summary summary = {};
    check(tengine_calibration_get_summary(calibration_.get(), &summary, sizeof summary) == 0);
    return summary;
}

std::vector<tengine_calibrated_layer> Calibration::layers() const
{
    return list_items<tengine_calibrated_layer>(
        summary().layer_number, [this](int i, tengine_calibrated_layer* layer) {
            check(tengine_calibration_get_layer(calibration_.get(), i, layer, sizeof *layer) == 0);
        });
}

std::vector<tengine_calibrated_node> Calibration::nodes() const
{
    return list_items<tengine_calibrated_node>(
        summary().node_number, [this](int i, tengine_calibrated_node* node) {
            check(tengine_calibration_get_node(calibration_.get(), i, node, sizeof *node) == 0);
        });
}

std::vector<tengine_calibrated_tensor> Calibration::tensors() const
{
    return list_items<tengine_calibrated_tensor>(
        summary().tensor_number, [this](int i, tengine_calibrated_tensor* tensor) {
            check(tengine_calibration_get_tensor(calibration_.get(), i, tensor, sizeof *tensor) ==
                  0);
        });
}

std::vector<tengine_calibrated_output> Calibration::outputs() const
{
    return list_items<tengine_calibrated_output>(
        summary().output_number, [this](int i, tengine_calibrated_output* output) {
            check(tengine_calibration_get_output(calibration_.get(), i, output, sizeof *output) ==
                  0);
        });
}

std::set<std::string> float_nodes(const Calibration& calibration)
{
    std::set<std::string> names;
    for (const tengine_calibrated_node& node : calibration.nodes())
        if (node.reason == TENGINE_FLOAT_REQUESTED ||
            (node.reason == TENGINE_FLOAT_DROP && node.rank >= 0))
            names.insert(node.name);
    return names;
}

}  // namespace tengine::tools
