// SPDX-License-Identifier: Apache-2.0
// `tengine compile`: a tmfile with the compiled parts of devices, so that boards need not compile,
// or a .tflite with the byte code of a vendor's compiler, which LiteRT's dispatches run, too. Each
// target is a preparation of the tmfile itself, since a model in another format has other nodes
// than the tmfile.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "buckets.h"
#include "command.h"
#include "command_line.h"
#include "compiled_parts.h"
#include "entries.h"
#include "model.h"
#include "output_path.h"
#include "progress.h"
#include "temporary_folder.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "terminal.h"
#include "text.h"
#include "variants.h"

namespace tengine::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTmfile = ".tmfile";
constexpr const char* kTflite = ".tflite";
constexpr const char* kDispatch = "DISPATCH_OP";

struct CompileOptions
{
    std::string model;
    std::string output;
    std::vector<std::string> targets;  // KEY=VALUE,KEY=VALUE
    bool without_host = false;
    bool may_be_empty = false;
    bool quiet = false;
    bool has_integer_io = false;
    ModelOptions common;
};

Failure cannot_write(const std::string& path, int error)
{
    return Failure("cannot write '" + path + "': " + std::strerror(error));
}

// Makes the new name durable across a loss of power.
void sync_folder(const fs::path& folder)
{
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;  // a folder that can be written, but not read
    fsync(descriptor);
    close(descriptor);
}

// The file under construction, in a temporary folder beside its destination; removed unless it is
// completed.
class UnfinishedFile
{
  public:
    explicit UnfinishedFile(std::string target)
        : target_(std::move(target)),
          folder_(fs::path(target_).parent_path(), target_),
          path_(folder_.path("model" + fs::path(target_).extension().string()))
    {
    }

    const std::string& path() const { return path_; }

    void write(graph_t graph) const
    {
        if (save_graph(graph, format_of(target_), path_.c_str()) < 0) fail_api(target_);
    }

    void finish() const
    {
        if (std::rename(path_.c_str(), target_.c_str()) != 0) throw cannot_write(target_, errno);
        sync_folder(fs::absolute(target_).parent_path());
    }

  private:
    const std::string target_;
    const TemporaryFolder folder_;
    const std::string path_;
};

std::vector<std::string> list_devices(const ModelOptions& options)
{
    if (!options.devices.empty()) return options.devices;
    return {get_default_device()};
}

// The reason why a device has no node: its refusal of the first one.
std::string find_refusal(graph_t graph, const std::string& device)
{
    tengine_execution_node node;
    if (tengine_graph_get_execution_node(graph, 0, &node) < 0) return "";
    tengine_refusal refusal;
    for (int i = 0; i < node.refusal_number; ++i)
        if (tengine_graph_get_refusal(graph, 0, i, &refusal) == 0 && device == refusal.device)
            return std::string(": node '") + node.name + "': " + refusal.message;
    return "";
}

bool has_part(graph_t graph, const std::string& device)
{
    tengine_subgraph part;
    for (int i = 0; tengine_graph_get_subgraph(graph, i, &part) == 0; ++i)
        if (device == part.device) return true;
    return false;
}

// The option to give where a float model is for a device without fp32.
std::string find_precisions(const ModelOptions& options, const std::string& device)
{
    if (options.precision != TENGINE_MODE_FP32) return "";
    std::string names;
    const int number = tengine_device_get_data_type_number(device.c_str());
    for (int i = 0; i < number; ++i) {
        const int type = tengine_device_get_data_type(device.c_str(), i);
        if (type == TENGINE_DT_FP32) return "";
        const bool is_half = type == TENGINE_DT_BF16 || type == TENGINE_DT_FP16;
        const bool is_byte = type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8;
        if (!is_half && !is_byte) continue;
        names += (names.empty() ? "" : ", ") + std::string(tengine_data_type_get_name(type));
        if (is_byte) names += " (of a quantised model)";
    }
    return names.empty() ? "" : "; --precision sets one that it has: " + names;
}

bool is_tflite(const CompileOptions& options)
{
    return has_ending(options.output, kTflite);
}

// The result for one target.
struct Outcome
{
    size_t added = 0;                // parts
    std::vector<std::string> notes;  // about devices that took no node
    bool is_empty = true;
};

size_t count_parts(const Models& models)
{
    size_t number = 0;
    for (const auto& model : models)
        number += read_compiled_parts(model->graph()).size();
    return number;
}

// Adds what devices have of an entry.
void judge_entry(const ModelOptions& options, const std::string& place, graph_t graph,
                 Outcome* outcome)
{
    const std::vector<CompiledPart> parts = read_compiled_parts(graph);
    for (const std::string& device : list_devices(options)) {
        const bool took = has_part(graph, device);
        for (const CompiledPart& part : parts)
            if (took && part.device == device) outcome->is_empty = false;
        if (!took)
            outcome->notes.push_back(place + device + " took no part of the model" +
                                     find_refusal(graph, device) +
                                     find_precisions(options, device));
    }
}

Outcome judge_outcome(const ModelOptions& options, const std::string& target, const Models& models,
                      size_t parts_before)
{
    Outcome outcome;
    const size_t parts = count_parts(models);
    outcome.added = parts - std::min(parts, parts_before);
    const std::vector<std::string> names = entry_names(models[0]->graph());
    for (size_t i = 0; i < models.size(); ++i) {
        const std::string place = target.empty() ? "" : "target '" + target + "': ";
        const std::string entry = models.size() > 1 ? "entry '" + names[i] + "': " : "";
        judge_entry(options, place + entry, models[i]->graph(), &outcome);
    }
    return outcome;
}

// `shapes`: those of a bucket, as arguments of --shape; empty: those of the command line.
Outcome compile_shapes(const CompileOptions& options, const CompileTarget& target,
                       const std::vector<std::string>& shapes, const UnfinishedFile& file)
{
    ModelOptions common = add_target(options.common, target);
    if (!shapes.empty()) common.shapes = shapes;
    common.says_guess = false;  // printed for the first reading
    common.affinities.clear();  // the file has them as hints
    common.hints.clear();
    common.buckets.clear();
    common.name = options.model;
    common.options.emplace_back("model.keep_parts=1");
    if (options.without_host || is_tflite(options))
        common.options.emplace_back("model.keep_host_parts=0");
    const Models models = load_entries(file.path(), common);
    const size_t before = count_parts(models);
    for (const auto& model : models) {
        model->set_inputs();
        model->prepare(1);
    }
    file.write(models[0]->graph());
    return judge_outcome(common, target.text, models, before);
}

// Compiles each bucket that the command line names, or else the shapes of the inputs. The first
// one comes last: the file has its shapes.
Outcome compile_target(const CompileOptions& options, const CompileTarget& target,
                       const UnfinishedFile& file)
{
    if (options.common.buckets.empty()) return compile_shapes(options, target, {}, file);
    Outcome whole;
    const std::vector<std::string>& buckets = options.common.buckets;
    for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
        const Outcome one = compile_shapes(options, target, split_bucket(*bucket), file);
        whole.added += one.added;
        whole.is_empty = whole.is_empty && one.is_empty;
        if (whole.notes.empty()) whole.notes = one.notes;
    }
    return whole;
}

std::string names_text(const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

[[noreturn]] void refuse_empty(const CompileOptions& options, const CompileTarget& target)
{
    const std::string place = target.text.empty() ? "" : " for target '" + target.text + "'";
    throw Failure(options.output + ": not written, for there is nothing to keep" + place +
                  ": none of " + names_text(list_devices(add_target(options.common, target))) +
                  " took a part of the model and can save it compiled; --allow-empty writes the "
                  "file all the same");
}

std::vector<Outcome> compile_targets(const CompileOptions& options,
                                     const std::vector<CompileTarget>& targets,
                                     const UnfinishedFile& file)
{
    std::vector<Outcome> outcomes;
    Progress progress("compiling " + options.model, progress_output(options.quiet));
    for (const CompileTarget& target : targets) {
        progress.show(static_cast<int>(outcomes.size()), static_cast<int>(targets.size()));
        outcomes.push_back(compile_target(options, target, file));
    }
    return outcomes;
}

// Adds the parts that every target compiles to the file. Returns the number of new parts.
size_t add_targets(const CompileOptions& options, const UnfinishedFile& file)
{
    std::vector<CompileTarget> targets;
    for (const std::string& text : options.targets)
        targets.push_back(parse_target(text));
    if (targets.empty()) targets.emplace_back();
    const std::vector<Outcome> outcomes = compile_targets(options, targets, file);
    size_t added = 0;
    for (const Outcome& outcome : outcomes) {
        added += outcome.added;
        for (const std::string& note : outcome.notes)
            std::fprintf(stderr, "tengine: %s\n", note.c_str());
    }
    for (size_t i = 0; i < targets.size(); ++i)
        if (outcomes[i].is_empty && !options.may_be_empty) refuse_empty(options, targets[i]);
    return added;
}

std::vector<CompiledPart> list_parts(const UnfinishedFile& file)
{
    std::vector<CompiledPart> parts;
    for (const auto& model : load_entries(file.path(), {}))
        for (const CompiledPart& part : read_compiled_parts(model->graph()))
            parts.push_back(part);
    return parts;
}

int count_dispatches(const UnfinishedFile& file)
{
    int number = 0;
    for (const auto& model : load_entries(file.path(), {})) {
        const graph_t graph = model->graph();
        for (int i = 0; i < get_graph_node_num(graph); ++i)
            if (std::strstr(get_node_op(get_graph_node_by_idx(graph, i)), kDispatch)) ++number;
    }
    return number;
}

void finish_tflite(const CompileOptions& options, const UnfinishedFile& file)
{
    const int number = count_dispatches(file);
    if (number == 0 && !options.may_be_empty)
        throw Failure(options.output + ": not written, for it would have no byte code: none of " +
                      names_text(list_devices(options.common)) +
                      " has a compiler that compiles nodes of a .tflite as they are; --allow-empty "
                      "writes the file all the same");
    file.finish();
    std::printf("%s written: DISPATCH_OPs: %d\n", options.output.c_str(), number);
}

void check_output(const CompileOptions& options)
{
    if (!has_ending(options.output, kTmfile) && !is_tflite(options))
        throw Failure("'" + options.output + "': the file name must end in " + kTmfile + " or " +
                      kTflite);
    if (is_tflite(options) && options.targets.size() > 1)
        throw Failure("--target: a .tflite has the byte code of one target, " +
                      std::to_string(options.targets.size()) + " are given");
    check_output_path("--output", options.output);
}

void compile(const CompileOptions& options)
{
    check_output(options);
    const UnfinishedFile file(options.output);
    {
        ModelOptions common = options.common;
        common.options.emplace_back("model.fold_activations=0");  // reports name the model's nodes
        if (options.has_integer_io) common.options.emplace_back(kIntegerIo);
        if (common.shapes.empty() && !common.buckets.empty())
            common.shapes = split_bucket(common.buckets.front());
        const Models models = load_entries(options.model, common);
        check_names(models, options.common);
        // If the output is the model itself, parts are added to it.
        if (options.output != options.model)
            check_spares_model("--output", options.output, models[0]->graph());
        for (const auto& model : models)
            model->set_inputs();
        file.write(models[0]->graph());
    }
    const size_t added = add_targets(options, file);
    if (is_tflite(options)) return finish_tflite(options, file);
    const std::vector<CompiledPart> parts = list_parts(file);
    file.finish();
    std::printf("%s%s written: compiled parts: %zu, new: %zu\n",
                compiled_parts_text(parts, terminal_width()).c_str(), options.output.c_str(),
                parts.size(), added);
}

}  // namespace

void add_compile_command(CommandLine* line)
{
    const auto options = std::make_shared<CompileOptions>();
    Command command = line->add_command(
        "compile",
        "Compile a model for devices ahead of time, into a tmfile, or the byte code of a vendor's "
        "compiler into a .tflite");
    command.add_option("MODEL", &options->model, "Model file, such as net.onnx").required();
    command.add_option("-o,--output", &options->output, "tmfile or .tflite to write")
        .required()
        .value_name("FILE");
    command
        .add_option("--target", &options->targets,
                    "Compile for this target; may be repeated: the file then has the compiled "
                    "parts of each. Keys with a dot are options of devices, such as "
                    "TPU.config=edge. name, device (several with +), chip, driver and precision "
                    "make a variant, which a program takes where it fits")
        .value_name("KEY=VALUE[,KEY=VALUE]...")
        .repeatable()
        .checked_by(judge_target);
    add_integer_io_option(&command, &options->has_integer_io);
    command.add_flag("--no-host", &options->without_host,
                     "Leave out the CPU's compiled parts, which are for processors like this "
                     "machine's (option model.keep_host_parts)");
    command.add_flag("--allow-empty", &options->may_be_empty,
                     "Write the file, and exit with status 0, also where a target's devices took "
                     "nothing");
    add_placement_options(&command, &options->common);
    add_hint_option(&command, &options->common);
    command.add_flag("--quiet", &options->quiet, "Do not show progress");
    command.set_work([options] { compile(*options); });
}

}  // namespace tengine::tools
