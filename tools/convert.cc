// SPDX-License-Identifier: Apache-2.0
// `tengine convert`: a model in another format. The library does the work, save_graph().
#include <cstdio>
#include <cstring>
#include <memory>

#include "command.h"
#include "command_line.h"
#include "input_shape.h"
#include "model.h"
#include "output_path.h"
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
[[noreturn]] void fail_to_save(const std::string& path, const Model& model)
{
    const std::string missing = model.missing_shapes();
    const bool wants_shapes = std::strstr(get_tengine_error(), "shape") && !missing.empty();
    fail_api(path + (wants_shapes ? ": with " + missing + " it could be written" : ""));
}

// An ONNX model that stays ONNX keeps its free dimensions; other conversions need shapes.
void convert(const ConvertOptions& options)
{
    const char* format = format_of(options.to);
    if (!format)
        throw Failure("'" + options.to + "': the file name must end in " + format_endings("or"));
    ModelOptions common = options.common;
    if (options.opset > 0) {
        require_ending("--opset", options.to, ".onnx");
        common.options.push_back("model.opset=" + std::to_string(options.opset));
    }
    if (options.has_integer_io) {
        require_ending("--integer-io", options.to, ".tmfile");
        common.options.emplace_back(kIntegerIo);
    }
    Model model(options.from, common);
    check_spares_model("OUT", options.to, model.graph());
    const char* origin = format_of(options.from);
    if (is_onnx(format) && (!origin || is_onnx(origin)))
        model.set_given_shapes();
    else
        model.set_inputs();
    if (save_graph(model.graph(), format, options.to.c_str()) < 0) fail_to_save(options.to, model);
    for (int i = 0; i < tengine_graph_get_input_number(model.graph()); ++i) {
        const DeclaredShape shape = declared_shape(tengine_graph_get_input(model.graph(), i));
        std::printf("input  %s  %s\n", visible_text(shape.input).c_str(),
                    is_free(shape) ? visible_text(declared_text(shape)).c_str()
                                   : shape_text(shape.dims).c_str());
    }
    std::printf("%s written\n", options.to.c_str());
}

}  // namespace

void add_convert_command(CommandLine* line)
{
    const auto options = std::make_shared<ConvertOptions>();
    Command command = line->add_command("convert", "Write a model in another format");
    command.add_option("IN", &options->from, "Model file").required();
    command.add_option("OUT", &options->to, "Output file; its extension selects the format")
        .required();
    command
        .add_option("--opset", &options->opset,
                    "Opset of an ONNX file. Default: 21, or the first one after it that has all "
                    "operators of the model")
        .in_range(kOldestOpset, kNewestOpset)
        .value_name("N");
    add_integer_io_option(&command, &options->has_integer_io);
    add_shape_option(&command, &options->common);
    add_state_option(&command, &options->common);
    add_affinity_option(&command, &options->common);
    add_hint_option(&command, &options->common);
    command.set_work([options] { convert(*options); });
}

}  // namespace tengine::tools
