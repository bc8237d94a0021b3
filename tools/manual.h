// SPDX-License-Identifier: Apache-2.0
// The contents of --help as man pages, a page of Markdown, and completion for bash.
#pragma once

#include <string>

namespace tengine::tools {

class CommandLine;
struct CommandDescription;

// The man page of `page`, which is a program or one of its commands, for section 1. The output is
// deterministic.
std::string man_page(const CommandDescription& program, const CommandDescription& page);

// All commands of a program as one page of Markdown: docs/cli.md. The output is deterministic.
std::string markdown_page(const CommandDescription& program);

// A script for bash that completes the program's commands and their options.
std::string bash_completion(const CommandDescription& program);

// Adds the hidden command `manual DIR`, with which the build writes all of these:
// DIR/man1/<program>.1 and <program>-<command>.1, DIR/bash/<program>, DIR/cli.md.
void add_manual_command(CommandLine* line);

}  // namespace tengine::tools
