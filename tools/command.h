// SPDX-License-Identifier: Apache-2.0
// The subcommands of the program `tengine`, a file or a folder each. main.cc puts them together.
#pragma once

#include <CLI/App.hpp>

namespace tengine::tools {

// Each adds its subcommand, which does its work when the command line is parsed. Its options live
// as long as `app`. Whatever goes wrong is thrown as Failure.
void add_run_command(CLI::App* app);
void add_bench_command(CLI::App* app);
void add_inspect_command(CLI::App* app);
void add_devices_command(CLI::App* app);
void add_quantize_command(CLI::App* app);
void add_convert_command(CLI::App* app);

}  // namespace tengine::tools
