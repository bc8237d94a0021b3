// SPDX-License-Identifier: Apache-2.0
// The program tengine-tpu: look at configurations and programs of the simulated TPU, and compare
// the simulator with published figures. Commands: command.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "device/tpu/tool/command.h"
#include "tengine/c_api.h"

namespace tengine::tpu {
namespace {

constexpr int kFailed = 1;
constexpr int kMisused = 2;

// Whatever went wrong is one line.
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

int run(int argc, char** argv)
{
    CLI::App app{"Looks at configurations and programs of the simulated TPU.", "tengine-tpu"};
    app.set_version_flag("--version", get_tengine_version());
    app.require_subcommand(0, 1);
    add_config_command(&app);
    add_disasm_command(&app);
    add_asm_command(&app);
    add_validate_command(&app);
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty())
            throw CLI::ValidationError("a command is missing: config, disasm, asm or validate");
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        return print_error(std::string(error.what()) + " (see --help)", kMisused);
    }
    // The first is of the end only, the second of all before.
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
