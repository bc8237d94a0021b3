// SPDX-License-Identifier: Apache-2.0
// The subcommands of the program `tengine`, a file or a folder each. main.cc adds them.
#pragma once

namespace tengine::tools {

class CommandLine;

// Each adds its subcommand, which runs when the command line is parsed. Its options live as long as
// `line`. Failures are thrown as Failure.
void add_run_command(CommandLine* line);
void add_bench_command(CommandLine* line);
void add_inspect_command(CommandLine* line);
void add_devices_command(CommandLine* line);
void add_quantize_command(CommandLine* line);
void add_convert_command(CommandLine* line);
void add_compile_command(CommandLine* line);
void add_verify_command(CommandLine* line);

}  // namespace tengine::tools
