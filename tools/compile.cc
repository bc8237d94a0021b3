// SPDX-License-Identifier: Apache-2.0
// `tengine compile`: a tmfile that has with it what devices compile of the model, so that boards
// need not. Every target is a preparation of the tmfile itself, for a model of another format has
// other nodes than what it is saved as.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "command.h"
#include "command_line.h"
#include "compiled_parts.h"
#include "model.h"
#include "output_path.h"
#include "progress.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "tengine";
constexpr const char* kEnding = ".tmfile";

struct CompileOptions
{
    std::string model;
    std::string output;
    std::vector<std::string> targets;  // KEY=VALUE,KEY=VALUE
    bool quiet = false;
    bool has_integer_io = false;
    ModelOptions common;
};

Failure cannot_write(const std::string& path, int error)
{
    return Failure("cannot write '" + path + "': " + std::strerror(error));
}

// So that the name is there after a loss of power.
void sync_folder(const fs::path& folder)
{
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;  // one that may be written, but not read
    fsync(descriptor);
    close(descriptor);
}

// The file as it grows, in a folder of its own beside where it goes; removed when it does not get
// there.
class UnfinishedFile
{
  public:
    explicit UnfinishedFile(std::string target)
        : target_(std::move(target)), folder_(target_ + ".XXXXXX")
    {
        if (!mkdtemp(folder_.data())) throw cannot_write(target_, errno);
        path_ = folder_ + "/model" + kEnding;
    }
    ~UnfinishedFile()
    {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    const std::string& path() const { return path_; }

    void write(graph_t graph) const
    {
        if (save_graph(graph, kFormat, path_.c_str()) < 0) fail_api(target_);
    }

    void finish() const
    {
        if (std::rename(path_.c_str(), target_.c_str()) != 0) throw cannot_write(target_, errno);
        sync_folder(fs::absolute(target_).parent_path());
    }

  private:
    const std::string target_;
    std::string folder_, path_;
};

std::vector<std::string> split_commas(const std::string& text)
{
    std::vector<std::string> words;
    size_t begin = 0;
    for (size_t comma; (comma = text.find(',', begin)) != std::string::npos; begin = comma + 1)
        words.push_back(text.substr(begin, comma - begin));
    words.push_back(text.substr(begin));
    return words;
}

std::string judge_target(const std::string& text)
{
    for (const std::string& word : split_commas(text)) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            return "invalid value '" + text + "': expected KEY=VALUE[,KEY=VALUE]...";
    }
    return "";
}

// The parts that `target` adds to the file.
size_t compile_target(const CompileOptions& options, const std::string& target,
                      const UnfinishedFile& file)
{
    ModelOptions common = options.common;
    common.says_guess = false;  // the first reading did
    common.options.emplace_back("model.keep_parts=1");
    if (!target.empty())
        for (const std::string& option : split_commas(target))
            common.options.push_back(option);
    Model model(file.path(), common);
    const size_t before = read_compiled_parts(model.graph()).size();
    model.set_inputs();
    model.prepare(1);
    file.write(model.graph());
    return read_compiled_parts(model.graph()).size() - before;
}

std::string names_text(const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? get_default_device() : text;
}

std::vector<CompiledPart> list_parts(const UnfinishedFile& file)
{
    return read_compiled_parts(Model(file.path(), {}).graph());
}

void compile(const CompileOptions& options)
{
    if (!has_ending(options.output, kEnding))
        throw Failure("'" + options.output + "': the file name must end in " + kEnding);
    check_output_path("--output", options.output);
    const UnfinishedFile file(options.output);
    {
        ModelOptions common = options.common;
        if (options.has_integer_io) common.options.emplace_back(kIntegerIo);
        Model model(options.model, common);
        model.set_inputs();
        file.write(model.graph());
    }
    const std::vector<std::string> targets =
        options.targets.empty() ? std::vector<std::string>{""} : options.targets;
    size_t added = 0;
    {
        Progress progress("compiling " + options.model, progress_output(options.quiet));
        for (size_t i = 0; i < targets.size(); ++i) {
            progress.show(static_cast<int>(i), static_cast<int>(targets.size()));
            added += compile_target(options, targets[i], file);
        }
    }
    const std::vector<CompiledPart> parts = list_parts(file);
    if (parts.empty())
        throw Failure(options.output + ": not written, for there is nothing to keep: none of " +
                      names_text(options.common.devices) +
                      " took a part of the model and can save what it compiles");
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
        "compile", "Compile a model for devices ahead of time, into a tmfile that they load");
    command.add_option("MODEL", &options->model, "Model file, such as net.onnx").required();
    command.add_option("-o,--output", &options->output, "tmfile to write")
        .required()
        .value_name("FILE");
    command
        .add_option("--target", &options->targets,
                    "Options of devices that only this target has, such as TPU.config=edge.json; "
                    "may be repeated: the file then has what devices compile for each")
        .value_name("KEY=VALUE[,KEY=VALUE]...")
        .repeatable()
        .checked_by(judge_target);
    add_integer_io_option(&command, &options->has_integer_io);
    add_placement_options(&command, &options->common);
    command.add_flag("--quiet", &options->quiet, "Do not show progress");
    command.set_work([options] { compile(*options); });
}

}  // namespace tengine::tools
