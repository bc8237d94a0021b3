// SPDX-License-Identifier: Apache-2.0
// The program `tengine`: look at a model, run it, measure it. A subcommand is a file; see
// command.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "command.h"
#include "commit.h"
#include "manual.h"
#include "tengine/c_api.h"
#include "tensor_file/failure.h"
#include "text.h"

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

// The log, without the failures of calls: these are thrown, with what they are about.
void print_log_line(int level, const char* line)
{
    if (level == LOG_ERR && std::strcmp(line, get_tengine_error()) == 0) return;
    std::fprintf(stderr, "%s\n", line);
}

struct Library
{
    Library()
    {
        tengine_log_set_sink(print_log_line);
        if (init_tengine() < 0) throw Failure(get_tengine_error());
    }
    ~Library() { release_tengine(); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

std::string version_text()
{
    const std::string commit = TENGINE_COMMIT;
    return get_tengine_version() + (commit.empty() ? "" : " (" + commit + ")");
}

std::string listed(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

// The first word that nothing takes, and what it may have been meant to be.
std::string describe_extra(const CLI::App& app)
{
    const std::string word = app.remaining(true).at(0);
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    const CLI::App& place = parsed.empty() ? app : *parsed[0];
    const bool is_option = word[0] == '-';
    std::vector<std::string> known;
    if (is_option) {
        for (const CLI::Option* option : place.get_options())
            for (const std::string& name : option->get_lnames())
                known.push_back("--" + name);
    } else if (parsed.empty()) {
        for (const CLI::App* command : visible_commands(app))
            known.push_back(command->get_name());
    }
    const std::string option_name = word.substr(0, word.find('='));
    const std::string nearest = nearest_word(is_option ? option_name : word, known);
    const std::string what = is_option ? "option" : parsed.empty() ? "command" : "argument";
    std::string text = "there is no " + what + " '" + word + "'";
    if (what == "argument") text = "nothing takes the argument '" + word + "'";
    if (!nearest.empty()) return text + "; did you mean " + nearest + "?";
    return what == "command" ? text + "; there are " + listed(known) : text;
}

int run(int argc, char** argv)
{
    CLI::App app{"Runs, measures and explains neural networks.", "tengine"};
    app.set_version_flag("--version", version_text());
    app.require_subcommand(0, 1);
    add_run_command(&app);
    add_bench_command(&app);
    add_inspect_command(&app);
    add_devices_command(&app);
    add_quantize_command(&app);
    add_convert_command(&app);
    add_manual_command(&app);

    const Library library;
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty())
            throw CLI::ValidationError(
                "a command is missing: run, bench, inspect, devices, quantize or convert");
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ExtrasError&) {
        return print_error(describe_extra(app) + " (see --help)", kMisused);
    } catch (const CLI::ParseError& error) {
        return print_error(std::string(error.what()) + " (see --help)", kMisused);
    }
    // The first is of the end only, the second of all before.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw Failure("standard output cannot be written");
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
