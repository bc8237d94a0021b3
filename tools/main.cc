// SPDX-License-Identifier: Apache-2.0
// The program `tengine`. Each subcommand is a file; see command.h.
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "command.h"
#include "command_line.h"
#include "commit.h"
#include "manual.h"
#include "progress.h"
#include "tengine/c_api.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

constexpr int kFailed = 1;
constexpr int kMisused = 2;

// Prints any failure as one line.
int print_error(std::string text, int status)
{
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    for (char& letter : text) {
        if (letter == '\n') letter = ' ';
    }
    wipe_progress();
    std::fprintf(stderr, "tengine: %s\n", text.c_str());
    return status;
}

// Allocates no memory.
int print_no_memory()
{
    wipe_progress();
    std::fputs("tengine: out of memory\n", stderr);
    return kFailed;
}

// Prints the log except for failures of calls, which are thrown with their subject.
void print_log_line(int level, const char* line)
{
    if (level == LOG_ERR && std::strcmp(line, get_tengine_error()) == 0) return;
    wipe_progress();
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

// A folder without a plug-in is an error.
void load_plugins(const std::string& path)
{
    const int loaded = tengine_plugin_load(path.c_str());
    if (loaded < 0) throw Failure(get_tengine_error());
    if (loaded == 0) throw Failure("--plugin: no plug-in found in the folder " + path);
}

std::string version_text()
{
    const std::string commit = TENGINE_COMMIT;
    return get_tengine_version() + (commit.empty() ? "" : " (" + commit + ")");
}

int run(int argc, char** argv)
{
    CommandLine line("tengine", "Runs, measures and explains neural networks.", version_text());
    add_run_command(&line);
    add_bench_command(&line);
    add_inspect_command(&line);
    add_devices_command(&line);
    add_quantize_command(&line);
    add_compile_command(&line);
    add_convert_command(&line);
    add_verify_command(&line);
    add_manual_command(&line);
    line.add_common_option("--plugin", "FILE|DIR", load_plugins,
                           "Load the plug-in in this file, or those in this folder; may be "
                           "repeated. TENGINE_PLUGIN_PATH lists those of every command");

    const Library library;
    try {
        line.run(argc, argv);
    } catch (const Misuse& misuse) {
        return print_error(std::string(misuse.what()) + " (see --help)", kMisused);
    }
    // fflush() reports the last write, ferror() all before it.
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
    } catch (const std::bad_alloc&) {
        return tengine::tools::print_no_memory();
    } catch (const std::exception& failure) {
        return tengine::tools::print_error(failure.what(), tengine::tools::kFailed);
    }
}
