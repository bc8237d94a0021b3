// SPDX-License-Identifier: Apache-2.0
// The program `tengine`: look at a model, run it, measure it. A subcommand is a file; see
// command.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "command.h"
#include "tengine/c_api.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
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
    std::fprintf(stderr, "tengine: %s\n", text.c_str());
    return status;
}

struct Library
{
    Library()
    {
        if (init_tengine() < 0) throw Failure(get_tengine_error());
    }
    ~Library() { release_tengine(); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

int run(int argc, char** argv)
{
    CLI::App app{"Runs, measures and explains neural networks.", "tengine"};
    app.set_version_flag("--version", get_tengine_version());
    app.require_subcommand(0, 1);
    add_run_command(&app);
    add_bench_command(&app);
    add_inspect_command(&app);
    add_devices_command(&app);
    add_quantize_command(&app);
    add_convert_command(&app);

    const Library library;
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty())
            throw CLI::ValidationError(
                "a command is missing: run, bench, inspect, devices, quantize or convert");
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        return print_error(std::string(error.what()) + " (see --help)", kMisused);
    }
    if (std::fflush(stdout) != 0) throw Failure("standard output cannot be written");
    return 0;
}

}  // namespace
}  // namespace tengine::tools

int main(int argc, char** argv)
{
    try {
        return tengine::tools::run(argc, argv);
    } catch (const std::exception& failure) {
        return tengine::tools::print_error(failure.what(), tengine::tools::kFailed);
    }
}
