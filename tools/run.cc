// SPDX-License-Identifier: Apache-2.0
// `tengine run`: runs a model once and prints what goes in and comes out, or where it ran and how
// long that took.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "command.h"
#include "json_file.h"
#include "memory.h"
#include "model.h"
#include "report.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "text.h"

namespace tengine::tools {
namespace {

namespace fs = std::filesystem;

struct RunOptions
{
    std::string model;
    std::string output;
    std::string json;
    bool memory = false;
    int threads = 1;
    ModelOptions common;
};

constexpr size_t kFirstValues = 8;

void print_values(const Tensor& tensor)
{
    const size_t number = tensor.element_number();
    if (number == 0) return;
    double least = get_element(tensor, 0);
    double greatest = least;
    double sum = 0;
    for (size_t i = 0; i < number; ++i) {
        const double value = get_element(tensor, i);
        least = std::min(least, value);
        greatest = std::max(greatest, value);
        sum += value;
    }
    std::printf("  first");
    for (size_t i = 0; i < std::min(number, kFirstValues); ++i)
        std::printf(" %s", number_text(get_element(tensor, i)).c_str());
    std::printf("%s\n  min %s  max %s  mean %s\n", number > kFirstValues ? " ..." : "",
                number_text(least).c_str(), number_text(greatest).c_str(),
                number_text(sum / static_cast<double>(number)).c_str());
}

void print_tensor(const char* role, const Tensor& tensor)
{
    std::printf("%-6s  %s  %s  %s\n", role, tensor.name.c_str(), shape_text(tensor.shape).c_str(),
                tengine_data_type_get_name(tensor.data_type));
    print_values(tensor);
}

// Tensor names may hold anything; file names get what is harmless everywhere.
std::string file_name(const std::string& tensor_name)
{
    std::string name = tensor_name;
    for (char& letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 &&
            std::string("._-").find(letter) == std::string::npos)
            letter = '_';
    }
    return name.empty() || name[0] == '.' ? "_" + name : name;
}

// Returns the paths.
std::vector<std::string> write_outputs(const std::string& folder,
                                       const std::vector<Tensor>& outputs)
{
    std::vector<std::string> paths;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Failure("'" + folder + "' cannot be made: " + error.message());
    std::set<std::string> taken;
    for (const Tensor& output : outputs) {
        std::string name = file_name(output.name);
        while (!taken.insert(name).second)
            name += "_";
        const std::string path = (fs::path(folder) / (name + ".npy")).string();
        write_tensor(path, output);
        paths.push_back(path);
    }
    return paths;
}

void print_run(const Model& model, const std::vector<Tensor>& outputs,
               const std::vector<std::string>& paths)
{
    for (const Tensor& input : model.inputs())
        print_tensor("input", input);
    for (const Tensor& output : outputs)
        print_tensor("output", output);
    for (const std::string& path : paths)
        std::printf("wrote   %s\n", path.c_str());
}

void run(const RunOptions& options)
{
    ModelOptions common = options.common;
    const bool is_reported = !options.json.empty();
    // In front of the user's own options, which count more.
    if (is_reported) common.options.insert(common.options.begin(), "run.profile=1");
    Model model(options.model, common);
    model.set_inputs();
    model.prepare(options.threads);
    model.run();
    const std::vector<Tensor> outputs = model.outputs();
    std::vector<std::string> paths;
    if (!options.output.empty()) paths = write_outputs(options.output, outputs);
    if (options.json != "-") print_run(model, outputs, paths);
    if (options.memory && options.json != "-")
        std::printf("\n%s", memory_text(read_graph_memory(model.graph())).c_str());
    if (is_reported)
        write_json(options.json,
                   to_json(make_report(options.model, common.devices, model.graph())));
}

}  // namespace

void add_run_command(CLI::App* app)
{
    const auto options = std::make_shared<RunOptions>();
    CLI::App* command = app->add_subcommand("run", "Run a model once and print its outputs");
    command->add_option("MODEL", options->model, "Model file, such as net.onnx")->required();
    add_input_options(command, &options->common);
    command->add_option("--output", options->output, "Folder to write the outputs to, as .npy")
        ->type_name("DIR");
    command
        ->add_option("--json", options->json,
                     "File to write the placement to, with the times of this run; - : standard "
                     "output, and then nothing else goes there")
        ->type_name("FILE");
    command->add_flag("--memory", options->memory, "Print what the model holds in memory, too");
    add_placement_options(command, &options->common);
    add_threads_option(command, &options->threads);
    command->callback([options] { run(*options); });
}

}  // namespace tengine::tools
