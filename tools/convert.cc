// SPDX-License-Identifier: Apache-2.0
// `tengine convert`: a model in another format. The library does the work, save_graph().
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "command.h"
#include "command_line.h"
#include "entries.h"
#include "input_shape.h"
#include "model.h"
#include "output_path.h"
#include "tengine/entry.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr int kOldestOpset = 7;
constexpr int kNewestOpset = 28;

struct ConvertOptions
{
    std::string from;
    std::string to;
    int opset = 0;
    bool has_integer_io = false;
    std::vector<std::string> entries;  // NAME, or NAME=FILE
    ModelOptions common;
};

void require_ending(const std::string& option, const std::string& path, const std::string& ending)
{
    if (!has_ending(path, ending))
        throw Failure(option + ": '" + path + "': the file name must end in " + ending);
}

bool is_onnx(const char* format)
{
    return std::strcmp(format, "onnx") == 0;
}

// Throws the message of the library, with the options to give where shapes are missing.
[[noreturn]] void fail_to_save(const std::string& path, const Models& models)
{
    for (const auto& model : models) {
        const std::string missing = model->missing_shapes();
        if (std::strstr(get_tengine_error(), "shape") && !missing.empty())
            fail_api(path + ": with " + missing + " it could be written");
    }
    fail_api(path);
}

bool is_file(const std::string& entry)
{
    return entry.find('=') != std::string::npos;
}

// IN is OUT where --entry names the files.
void place_arguments(ConvertOptions* options)
{
    const auto number = std::count_if(options->entries.begin(), options->entries.end(), is_file);
    if (number == 0) {
        if (options->to.empty()) throw Misuse("OUT is required");
        if (options->entries.size() > 1)
            throw Misuse("--entry NAME may be given once; several need the form NAME=FILE");
        return;
    }
    if (static_cast<size_t>(number) != options->entries.size())
        throw Misuse("--entry: either all have the form NAME=FILE, or one the form NAME");
    if (!options->to.empty())
        throw Misuse("--entry NAME=FILE takes the place of IN: '" + options->to +
                     "' is one too many");
    options->to = options->from;
    options->from.clear();
}

ModelOptions make_model_options(const ConvertOptions& options)
{
    ModelOptions common = options.common;
    if (options.opset > 0) {
        require_ending("--opset", options.to, ".onnx");
        common.options.push_back("model.opset=" + std::to_string(options.opset));
    }
    if (options.has_integer_io) {
        require_ending("--integer-io", options.to, ".tmfile");
        common.options.emplace_back(kIntegerIo);
    }
    return common;
}

// All entries, or the one of --entry.
Models load_models(const ConvertOptions& options, ModelOptions common)
{
    if (options.from.empty()) return join_models(options.entries, common);
    if (options.entries.empty()) return load_entries(options.from, common);
    common.entry = options.entries[0];
    Models models;
    models.push_back(std::make_unique<Model>(options.from, common));
    return models;
}

void check_entries(const ConvertOptions& options, const Models& models)
{
    if (models.size() < 2) return;
    std::string names;
    for (const std::string& name : entry_names(models[0]->graph()))
        names += (names.empty() ? "" : ", ") + visible_text(name);
    if (is_onnx(format_of(options.to)))
        throw Failure("'" + options.to +
                      "': only a .tmfile or a .tflite can have several entries, "
                      "here " +
                      names + "; --entry NAME chooses one");
}

// The model of one entry as a model of its own.
void separate(const ConvertOptions& options, const Models& models)
{
    if (options.from.empty() || options.entries.empty()) return;
    const graph_t graph = models[0]->graph();
    const char* name = options.entries[0].c_str();
    if (tengine_graph_join_entries(&graph, &name, 1) < 0) fail_api("--entry " + options.entries[0]);
}

void print_inputs(const Models& models)
{
    for (const auto& model : models) {
        const graph_t graph = model->graph();
        const std::string entry =
            models.size() < 2
                ? ""
                : tengine_graph_get_entry_name(graph, tengine_graph_get_entry_index(graph));
        if (!entry.empty()) std::printf("entry  %s\n", visible_text(entry).c_str());
        for (int i = 0; i < tengine_graph_get_input_number(graph); ++i) {
            const DeclaredShape shape = declared_shape(tengine_graph_get_input(graph, i));
            std::printf("input  %s  %s\n", visible_text(shape.input).c_str(),
                        is_free(shape) ? visible_text(declared_text(shape)).c_str()
                                       : shape_text(shape.dims).c_str());
        }
    }
}

// An ONNX model that stays ONNX keeps its free dimensions; other conversions need shapes.
void convert(ConvertOptions options)
{
    place_arguments(&options);
    const char* format = format_of(options.to);
    if (!format)
        throw Failure("'" + options.to + "': the file name must end in " + format_endings("or"));
    const Models models = load_models(options, make_model_options(options));
    check_entries(options, models);
    check_names(models, options.common);
    for (const auto& model : models)
        check_spares_model("OUT", options.to, model->graph());
    separate(options, models);
    const char* origin = format_of(options.from);
    for (const auto& model : models)
        if (is_onnx(format) && (!origin || is_onnx(origin)))
            model->set_given_shapes();
        else
            model->set_inputs();
    if (save_graph(models[0]->graph(), format, options.to.c_str()) < 0)
        fail_to_save(options.to, models);
    print_inputs(models);
    std::printf("%s written\n", options.to.c_str());
}

}  // namespace

void add_convert_command(CommandLine* line)
{
    const auto options = std::make_shared<ConvertOptions>();
    Command command = line->add_command("convert", "Write a model in another format");
    command.add_option("IN", &options->from, "Model file; with --entry NAME=FILE the output file")
        .required();
    command.add_option("OUT", &options->to, "Output file; its extension selects the format");
    command
        .add_option(
            "--entry", &options->entries,
            "NAME: the entry of a model with several to write, where the default is all "
            "of them. NAME=FILE: an entry of the .tmfile or .tflite to write, in place of IN; "
            "may be repeated. The first one is what programs load that name none. Entries have "
            "states of the same name in common, and weights that are equal")
        .value_name("NAME[=FILE]")
        .repeatable();
    command
        .add_option("--opset", &options->opset,
                    "Opset of an ONNX file. Default: 21, or the first one after it that has all "
                    "operators of the model")
        .in_range(kOldestOpset, kNewestOpset)
        .value_name("N");
    add_integer_io_option(&command, &options->has_integer_io);
    add_shape_option(&command, &options->common);
    add_state_option(&command, &options->common);
    add_bucket_option(&command, &options->common);
    add_affinity_option(&command, &options->common);
    add_hint_option(&command, &options->common);
    command.set_work([options] { convert(*options); });
}

}  // namespace tengine::tools
