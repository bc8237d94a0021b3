// SPDX-License-Identifier: Apache-2.0
// What --help knows, once more for the system and the docs: man pages, a page of Markdown, and
// completion for bash.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace tengine::tools {

// The program's commands, without those that --help does not show.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);

// The man page of a program or of one of its commands, for section 1. The same every time.
std::string man_page(const CLI::App& app);

// All commands of a program as one page of Markdown: docs/cli.md. The same every time.
std::string markdown_page(const CLI::App& app);

// A script for bash that completes the program's commands and their options.
std::string bash_completion(const CLI::App& app);

// Adds the hidden command `manual DIR`, with which the build writes all of it: DIR/man1/<program>.1
// and <program>-<command>.1, DIR/bash/<program>, DIR/cli.md.
void add_manual_command(CLI::App* app);

}  // namespace tengine::tools
