// SPDX-License-Identifier: Apache-2.0
// `tengine quantize`: post-training quantisation of a float model to int8.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "command.h"
#include "command_line.h"
#include "entries.h"
#include "model.h"
#include "output_path.h"
#include "progress.h"
#include "quantize/device_choice.h"
#include "quantize/dynamic.h"
#include "quantize/labels.h"
#include "quantize/quantize_report.h"
#include "quantize/samples.h"
#include "quantize/table.h"
#include "temporary_folder.h"
#include "tengine/entry.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr int kMostSamples = 1000000;

struct CommandOptions
{
    std::string model;
    std::string output;
    std::string table;
    std::string json;
    std::string labels;
    std::string activations;
    bool per_channel = false;
    bool has_integer_io = false;
    bool quiet = false;
    std::vector<std::string> shapes;
    std::vector<std::string> devices;
    DataOptions data;
    QuantizeOptions quantize;
};

bool is_tmfile(const std::string& path)
{
    const char* format = format_of(path);
    return format && std::strcmp(format, "tengine") == 0;
}

// uint8 in ONNX files: on x86 ONNX Runtime has no integer Conv for int8 pairs.
bool takes_unsigned(const CommandOptions& options)
{
    const std::string& type = options.activations;
    if (type.empty()) return !options.output.empty() && !is_tmfile(options.output);
    if (type != "int8" && type != "uint8")
        throw Misuse("invalid --activations '" + type + "': expected int8 or uint8");
    return type == "uint8";
}

// For shapes that the model leaves free and the command line does not give.
void add_sample_shapes(const CommandOptions& options, ModelOptions* common)
{
    const Model model(options.model, *common);
    if (model.missing_shapes().empty()) return;
    for (const std::string& shape : read_sample_shapes(options.data, model.declared())) {
        const std::string name = shape.substr(0, shape.rfind('=') + 1);
        const bool is_given = std::any_of(
            options.shapes.begin(), options.shapes.end(),
            [&](const std::string& given) { return given.compare(0, name.size(), name) == 0; });
        if (!is_given) common->shapes.push_back(shape);
    }
}

// Names, types and shapes as the library sees them. It also refuses models that cannot run at all.
std::vector<Tensor> describe_inputs(const CommandOptions& options)
{
    ModelOptions common;
    common.shapes = options.shapes;
    common.says_guess = false;  // samples are run one at a time
    if (!options.quantize.dynamic) add_sample_shapes(options, &common);
    Model model(options.model, common);
    check_spares_model("--output", options.output, model.graph());
    check_spares_model("--table", options.table, model.graph());
    check_spares_model("--json", options.json, model.graph());
    // Ranges that are found in each run need no shape.
    if (options.quantize.dynamic && !is_tmfile(options.model) && !model.missing_shapes().empty())
        return {};
    model.set_inputs();
    return model.inputs();
}

QuantizeReport make_report(const CommandOptions& options)
{
    QuantizeReport report;
    report.model = options.model;
    report.output = options.output;
    report.table = options.table;
    report.method = options.quantize.method;
    return report;
}

// `inputs`: shapes, which a tmfile needs.
void write_model(graph_t graph, const std::vector<Tensor>& inputs, const std::string& path)
{
    if (is_tmfile(path)) set_input_shapes(graph, inputs);
    const char* format = format_of(path);
    if (save_graph(graph, format ? format : "onnx", path.c_str()) < 0) fail_api(path);
}

// The kinds of scales that nothing on the command line rules out, the preferred first.
std::vector<WeightScales> list_scales(const CommandOptions& options)
{
    const WeightScales preferred = options.quantize.scales;
    std::vector<bool> per_tensor = {preferred.per_tensor};
    std::vector<bool> is_unsigned = {preferred.unsigned_activations};
    if (!options.per_channel && !preferred.per_tensor) per_tensor.push_back(true);
    if (options.activations.empty()) is_unsigned.push_back(!preferred.unsigned_activations);
    std::vector<WeightScales> scales;
    for (const bool has_no_sign : is_unsigned)
        for (const bool has_one_scale : per_tensor)
            scales.push_back({has_one_scale, has_no_sign});
    return scales;
}

// The options to try, in this order, when many decisions differ.
std::string find_hint(const CommandOptions& options, const QuantizeReport& report)
{
    constexpr double kLargeDrop = 2;
    if (report.drop() <= kLargeDrop || options.quantize.max_drop) return "";
    std::string hint;
    const auto add = [&](const std::string& text) { hint += (hint.empty() ? "" : ", ") + text; };
    if (report.scales.per_tensor && report.scales_reason.empty()) add("--per-channel");
    if (options.quantize.method != "mse") add("--method mse");
    if (options.quantize.method == "minmax") add("--method percentile");
    add("--max-drop 1, which leaves the nodes that do most harm in float");
    return hint;
}

// The devices' support decides.
void settle_scales(const CommandOptions& options, const std::vector<Tensor>& inputs,
                   Calibration* calibration, QuantizeReport* report)
{
    if (options.devices.empty()) return;
    const FloatModel placed(options.model, inputs, options.devices);
    report->scales_reason = choose_scales(placed, inputs, list_scales(options), calibration);
}

// Writes the model, the table, or both.
QuantizeReport work(const CommandOptions& options)
{
    const std::vector<Tensor> inputs = describe_inputs(options);
    const FloatModel model(options.model, inputs);
    if (options.has_integer_io) model.set_option("model.integer_io", "1");
    Calibration calibration(model, options.quantize);
    const SampleSet samples = open_samples(options.data, inputs);
    Labels labels;
    if (!options.labels.empty()) labels = read_labels(options.labels, samples.number);
    QuantizeReport report = make_report(options);

    Progress progress(options.model, progress_output(options.quiet));
    const ShowProgress show = [&progress](int done, int total) { progress.show(done, total); };
    // The time left is that of both passes over the samples, unless there is a search between them.
    const bool has_search = options.quantize.max_drop.has_value();
    const auto show_pass = [&](int pass) -> ShowProgress {
        if (has_search) return show;
        return [&progress, pass](int done, int total) {
            progress.show(pass * total + done, 2 * total);
        };
    };
    calibration.run(samples, show_pass(0));
    settle_scales(options, inputs, &calibration, &report);
    if (has_search) calibration.search(*options.quantize.max_drop, show);
    calibration.compare(labels, show_pass(1));
    add_findings(calibration, &report);
    report.hint = find_hint(options, report);
    if (!options.table.empty()) write_file(options.table, calibration_table(calibration));
    if (!options.output.empty()) write_model(calibration.quantize().get(), inputs, options.output);
    return report;
}

// ---- several entries ----

// Writes the entry alone into a tmfile, which has its shapes.
void separate_entry(const CommandOptions& options, const std::string& name, const std::string& path)
{
    ModelOptions common;
    common.shapes = options.shapes;
    common.is_of_several = true;
    common.entry = name;
    common.says_guess = false;
    Model model(options.model, common);
    const graph_t graph = model.graph();
    const char* text = name.c_str();
    if (tengine_graph_join_entries(&graph, &text, 1) < 0) fail_api("entry '" + name + "'");
    model.set_inputs();
    if (save_graph(graph, "tengine", path.c_str()) < 0) fail_api("entry '" + name + "'");
}

// The folder of the entry's name in a folder of samples, if there is one.
std::string find_samples(const std::string& data, const std::string& name)
{
    const std::string below = data + "/" + name;
    return std::filesystem::is_directory(below.substr(below.find('=') + 1)) ? below : data;
}

CommandOptions take_entry(const CommandOptions& options, const std::string& name,
                          const std::string& model, const std::string& output)
{
    CommandOptions own = options;
    own.model = model;
    own.output = output;
    own.shapes.clear();  // the file has them
    for (std::string& data : own.data.data)
        data = find_samples(data, name);
    return own;
}

void check_whole(const CommandOptions& options)
{
    const Model model(options.model, {});
    check_spares_model("--output", options.output, model.graph());
    check_spares_model("--json", options.json, model.graph());
    if (!options.table.empty() || !options.labels.empty())
        throw Misuse("--table and --labels are for a model of one graph, '" + options.model +
                     "' has several entries");
    if (!is_tmfile(options.output))
        throw Misuse("--output '" + options.output + "' must end in .tmfile: '" + options.model +
                     "' has several entries");
}

// Each entry has ranges of its own. Weights that they share have the same scales, and stay one.
void quantize_entries(const CommandOptions& options, const std::vector<std::string>& names)
{
    check_whole(options);
    const TemporaryFolder folder(std::filesystem::path(options.output).parent_path(),
                                 options.output);
    std::vector<std::string> files;
    Json reports = Json::array();
    for (size_t i = 0; i < names.size(); ++i) {
        const std::string place = std::to_string(i) + ".tmfile";
        const std::string given = folder.path("float" + place), made = folder.path("int8" + place);
        separate_entry(options, names[i], given);
        QuantizeReport report = work(take_entry(options, names[i], given, made));
        report.model = options.model;
        report.output.clear();
        if (options.json != "-") {
            std::printf("%sentry       %s\n", i == 0 ? "" : "\n", visible_text(names[i]).c_str());
            print_report(report);
        }
        reports.push_back({{"entry", names[i]}, {"report", to_json(report)}});
        files.push_back(names[i] + "=" + made);
    }
    const Models models = join_models(files, {});
    if (save_graph(models[0]->graph(), "tengine", options.output.c_str()) < 0)
        fail_api(options.output);
    if (options.json != "-") std::printf("\nwrote       %s\n", options.output.c_str());
    Json whole = Json::object();
    whole["model"] = options.model;
    whole["output"] = options.output;
    whole["entries"] = reports;
    if (!options.json.empty()) write_json(options.json, whole);
}

// Names of more than one entry; none for a model that is one graph.
std::vector<std::string> list_entries(const CommandOptions& options)
{
    const Model model(options.model, {});
    std::vector<std::string> names = entry_names(model.graph());
    if (names.size() < 2) names.clear();
    return names;
}

void work_dynamically(const CommandOptions& options)
{
    if (options.output.empty()) throw Misuse("--output is required");
    if (is_tmfile(options.output))
        throw Misuse("--dynamic writes operators of ONNX that a tmfile does not have: '" +
                     options.output + "' must not end in .tmfile");
    check_output_path("--output", options.output);
    check_output_path("--json", options.json);
    if (!list_entries(options).empty())
        throw Misuse("--dynamic is for a model of one graph, '" + options.model +
                     "' has several entries: `tengine convert --entry NAME` writes one alone");
    const std::vector<Tensor> inputs = describe_inputs(options);
    const FloatModel model(options.model, inputs);
    DynamicModel made = quantize_dynamically(model, options.quantize);
    made.report.model = options.model;
    made.report.output = options.output;
    write_model(made.graph.get(), inputs, options.output);
    if (options.json != "-") print_report(made.report);
    if (!options.json.empty()) write_json(options.json, to_json(made.report));
}

void quantize(CommandOptions options)
{
    if (options.quantize.dynamic) return work_dynamically(options);
    if (options.output.empty() && options.table.empty())
        throw Misuse("--output or --table is required");
    if (!options.labels.empty() && options.data.random != 0)
        throw Misuse("--labels cannot be combined with --random: random samples have no labels");
    if (options.has_integer_io && !is_tmfile(options.output))
        throw Misuse("--integer-io: '" + options.output +
                     "': the name of the --output file must end in .tmfile");
    if (!options.table.empty() && (options.quantize.equalizes || options.quantize.corrects_bias))
        throw Misuse(
            "--table cannot be combined with --equalize and --correct-bias, which change "
            "the model that it is for");
    check_output_path("--output", options.output);
    check_output_path("--table", options.table);
    check_output_path("--json", options.json);
    options.quantize.scales.unsigned_activations = takes_unsigned(options);
    options.data.image_values.model = options.model;
    const std::vector<std::string> names = list_entries(options);
    if (!names.empty()) return quantize_entries(options, names);
    const QuantizeReport report = work(options);
    if (options.json != "-") print_report(report);
    if (!options.json.empty()) write_json(options.json, to_json(report));
}

void add_data_options(Command* command, CommandOptions* options, const CommandOption& dynamic)
{
    const CommandOption data =
        command
            ->add_option("--data", &options->data.data,
                         "Samples: a folder with one file per sample (NAME=DIR for each input), or "
                         "an .npz file with an array for each input. For a model with several "
                         "entries a folder of its name may be in it for each")
            .value_name("[NAME=]DIR|FILE.npz")
            .repeatable()
            .excludes(dynamic);
    command
        ->add_option("--random", &options->data.random,
                     "Use this many random samples instead, for a first look")
        .in_range(1, kMostSamples)
        .excludes(data)
        .excludes(dynamic)
        .value_name("N");
    command
        ->add_option(
            "--labels", &options->labels,
            "Correct classes of the --data samples, from 0: integers as .npy, or text with one "
            "number per line. The report then includes the accuracy before and after")
        .excludes(dynamic)
        .value_name("FILE");
    command->add_option("--seed", &options->data.seed, "Seed of the random numbers")
        .value_name("N");
    add_picture_options(command, &options->data.image_values);
    command
        ->add_option("--shape", &options->shapes,
                     "Shape of an input for pictures and random numbers; may be repeated")
        .value_name("NAME=SHAPE")
        .repeatable();
}

void add_range_options(Command* command, CommandOptions* options, const CommandOption& dynamic)
{
    command
        ->add_option("--method", &options->quantize.method,
                     "Method that chooses the ranges: minmax, percentile, kl or mse")
        .shows_default()
        .excludes(dynamic)
        .value_name("M");
    command
        ->add_option("--percentile", &options->quantize.percentile,
                     "Percentage of the values that --method percentile covers")
        .shows_default()
        .in_range(50.0, 100.0)
        .excludes(dynamic)
        .value_name("P");
    const CommandOption per_tensor =
        command
            ->add_flag("--per-tensor", &options->quantize.scales.per_tensor,
                       "One scale for a weight, for devices that need it")
            .excludes(dynamic);
    command
        ->add_flag("--per-channel", &options->per_channel,
                   "A scale for each output channel of a weight. This is the default")
        .excludes(dynamic)
        .excludes(per_tensor);
    command
        ->add_option("--device", &options->devices,
                     "Devices that will run the model, separated by commas: scales per tensor and "
                     "the other type of activations take the place of the default where the "
                     "devices then take more of its work")
        .separated_by_commas()
        .excludes(dynamic)
        .value_name("LIST");
    command
        ->add_option("--activations", &options->activations,
                     "Type of the tensors that nodes compute, int8 or uint8 (default: uint8 in an "
                     "ONNX file, "
                     "int8 in a tmfile)")
        .excludes(dynamic)
        .value_name("T");
    command
        ->add_flag(
            "--equalize", &options->quantize.equalizes,
            "Scale channels between two convolutions so that their weights have equal ranges")
        .excludes(dynamic);
    command
        ->add_flag("--correct-bias", &options->quantize.corrects_bias,
                   "Add the mean error of the quantised weights to the biases of convolutions")
        .excludes(dynamic);
    command
        ->add_option("--keep-float", &options->quantize.keep_float,
                     "Nodes to leave in float, by name with * and ?; may be repeated")
        .value_name("NAME")
        .repeatable();
    command
        ->add_option("--max-drop", &options->quantize.max_drop,
                     "Percentage of samples whose decision may differ from float; as many nodes as "
                     "needed stay in float")
        .in_range(0.0, 100.0)
        .excludes(dynamic)
        .value_name("X");
}

}  // namespace

void add_quantize_command(CommandLine* line)
{
    const auto options = std::make_shared<CommandOptions>();
    Command command = line->add_command("quantize", "Quantise a float model to int8");
    command.add_option("MODEL", &options->model, "Model in fp32, .onnx or .tmfile").required();
    command
        .add_option("-o,--output", &options->output,
                    "File to write the model to: a tmfile if it ends in .tmfile, else ONNX")
        .value_name("OUT");
    const CommandOption dynamic = command.add_flag(
        "--dynamic", &options->quantize.dynamic,
        "Quantise the first input of MatMul and Gemm in each run, to the range that it has then; "
        "only weights are quantised beforehand. Needs no samples");
    command
        .add_option(
            "--table", &options->table,
            "File to write scales and zero points to, to run the float model itself in int8")
        .excludes(dynamic)
        .value_name("FILE");
    add_data_options(&command, options.get(), dynamic);
    add_range_options(&command, options.get(), dynamic);
    add_integer_io_option(&command, &options->has_integer_io);
    command
        .add_option(
            "--json", &options->json,
            "File to write the report to; - for standard output, which then carries nothing else")
        .value_name("FILE");
    command.add_flag("--quiet", &options->quiet, "Do not show progress");
    add_threads_option(&command, &options->quantize.threads);
    command.set_work([options] { quantize(*options); });
}

}  // namespace tengine::tools
