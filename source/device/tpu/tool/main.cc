// SPDX-License-Identifier: Apache-2.0
// The program tengine-tpu: shows configurations and programs of the simulated TPU, and compares the
// simulator with published figures. Commands: command.h. Only this file includes CLI11, which takes
// long to compile.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "device/tpu/machine/config_fields.h"
#include "device/tpu/tool/command.h"
#include "tengine/c_api.h"

namespace tengine::tpu {
namespace {

constexpr int kFailed = 1;
constexpr int kMisused = 2;

// Prints any error as one line.
int print_error(std::string text, int status)
{
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    for (char& letter : text) {
        if (letter == '\n') letter = ' ';
    }
    std::fprintf(stderr, "tengine-tpu: %s\n", text.c_str());
    return status;
}

void add_config_command(CLI::App* app)
{
    CLI::App* command = app->add_subcommand(
        "config", "Prints a configuration as JSON, and derived figures on standard error");
    auto name = std::make_shared<std::string>("edge");
    command->add_option("configuration", *name, preset_names() + ", or a JSON file")
        ->capture_default_str();
    command->callback([name] { run_config(*name); });
}

void add_disasm_command(CLI::App* app)
{
    auto options = std::make_shared<ProgramOptions>();
    CLI::App* command = app->add_subcommand("disasm", "Prints a program as text");
    command->add_option("program", options->input, "Program file")->required();
    command->add_flag("--code", options->code_only, "Only the instructions");
    command->callback([options] { run_disasm(*options); });
}

void add_asm_command(CLI::App* app)
{
    auto options = std::make_shared<ProgramOptions>();
    CLI::App* command = app->add_subcommand("asm", "Assembles a program from text");
    command->add_option("text", options->input, "Text as disasm prints it")->required();
    command->add_option("-o,--output", options->output, "Program file")->required();
    command->callback([options] { run_asm(*options); });
}

void add_validate_command(CLI::App* app)
{
    auto options = std::make_shared<ProgramOptions>();
    CLI::App* command = app->add_subcommand(
        "validate",
        "Checks a program and counts its cycles, or compares the simulator with SCALE-Sim on a "
        "topology; without either, compares it with published figures");
    CLI::Option* program = command->add_option("program", options->input, "Program file");
    command
        ->add_option("--topology", options->topology, "Network as SCALE-Sim reads it, a CSV file")
        ->excludes(program);
    command->add_option(
        "--config", options->config,
        preset_names() +
            ", or a JSON file; the default is that of the program, and edge for a topology");
    command->callback([options] {
        if (!options->config.empty() && options->input.empty() && options->topology.empty())
            throw CLI::ValidationError("--config needs a program or --topology");
        run_validate(*options);
    });
}

int run(int argc, char** argv)
{
    CLI::App app{"Inspects configurations and programs of the simulated TPU.", "tengine-tpu"};
    app.set_version_flag("--version", get_tengine_version());
    app.require_subcommand(0, 1);
    add_config_command(&app);
    add_disasm_command(&app);
    add_asm_command(&app);
    add_validate_command(&app);
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty())
            throw CLI::ValidationError("missing command: expected config, disasm, asm or validate");
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        return print_error(std::string(error.what()) + " (see --help)", kMisused);
    }
    // fflush() reports errors of the end only, ferror() all earlier ones.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw Failure("standard output cannot be written");
    return 0;
}

}  // namespace
}  // namespace tengine::tpu

int main(int argc, char** argv)
{
    try {
        return tengine::tpu::run(argc, argv);
    } catch (const std::exception& failure) {
        return tengine::tpu::print_error(failure.what(), tengine::tpu::kFailed);
    }
}
