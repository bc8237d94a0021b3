// SPDX-License-Identifier: Apache-2.0
// Writes the description of the command line as man pages (roff with the macros of man(7)), as a
// page of Markdown, and as a script for bash. The contract is in manual.h.
#include "manual.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_line.h"
#include "tengine/version.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

// "tengine-run" for the command run.
std::string page_name(const CommandDescription& page)
{
    std::string name = page.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

// "run"
std::string command_name(const CommandDescription& command)
{
    return command.name.substr(command.name.rfind(' ') + 1);
}

// Escapes hyphens, which would be printed as typographic ones, and a leading dot or quote, which
// would be a request.
std::string roff(const std::string& text)
{
    std::string escaped;
    for (const char letter : text) {
        if (letter == '\\' || letter == '-') escaped += '\\';
        escaped += letter == '\\' ? 'e' : letter;
    }
    const bool is_request = !escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'');
    return (is_request ? "\\&" : "") + escaped;
}

// "-o, --output"; nothing for an argument.
std::string option_names(const OptionDescription& option)
{
    std::string names;
    for (const std::string& name : option.names)
        names += (names.empty() ? "" : ", ") + name;
    return names;
}

// "-o, --output OUT.onnx", or the name alone of an argument.
std::string option_heading(const OptionDescription& option)
{
    if (option.is_argument()) return "\\fI" + roff(option.name) + "\\fR";
    const std::string value = option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR";
    return "\\fB" + roff(option_names(option)) + "\\fR" + value;
}

std::string synopsis(const CommandDescription& page)
{
    std::string text = "\\fB" + roff(page.name) + "\\fR [\\fIoptions\\fR]";
    if (!page.commands.empty()) text += " \\fIcommand\\fR";
    for (const OptionDescription& option : page.options)
        if (option.is_argument()) text += " \\fI" + roff(option.name) + "\\fR";
    return text + "\n";
}

std::string paragraphs(const std::string& section, const CommandDescription& page,
                       bool of_arguments)
{
    std::string text;
    for (const OptionDescription& option : page.options) {
        if (option.is_argument() == of_arguments)
            text += ".TP\n" + option_heading(option) + "\n" + roff(option.help) + "\n";
    }
    return text.empty() ? "" : ".SH " + section + "\n" + text;
}

std::string other_pages(const CommandDescription& program, const CommandDescription& page)
{
    std::vector<std::string> names = {page_name(program)};
    for (const CommandDescription& command : program.commands)
        names.push_back(page_name(command));
    names.erase(std::find(names.begin(), names.end(), page_name(page)));
    std::string text = ".SH SEE ALSO\n";
    for (const std::string& name : names)
        text += ".BR " + roff(name) + " (1)" + (name == names.back() ? "\n" : ",\n");
    return text;
}

std::string escape(const std::string& text, const char* letters)
{
    std::string escaped;
    for (const char letter : text) {
        if (std::strchr(letters, letter)) escaped += '\\';
        escaped += letter;
    }
    return escaped;
}

// The contents of a table's cell. A '|' needs a backslash even in code.
std::string markdown_text(const std::string& text)
{
    return escape(text, "|*<");
}

std::string markdown_code(const std::string& text)
{
    return "`" + escape(text, "|") + "`";
}

// ". Not with `--runs`"; nothing without such options.
std::string related_options(const char* relation, const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
        text += relation + markdown_code(name);
    return text;
}

std::string markdown_row(const OptionDescription& option)
{
    std::string name = option.is_argument() ? option.name : option_names(option);
    if (!option.is_argument() && !option.value.empty()) name += " " + option.value;
    std::string text = markdown_text(option.help);
    if (!option.default_value.empty()) text += ". Default: " + option.default_value;
    text +=
        related_options(". Not with ", option.excludes) + related_options(". Needs ", option.needs);
    return "| " + markdown_code(name) + " | " + text + " |\n";
}

std::string markdown_command(const CommandDescription& command)
{
    std::string usage = command.name + " [options]";
    for (const OptionDescription& option : command.options)
        if (option.is_argument()) usage += " " + option.name;
    std::string text = "\n## " + command.name + "\n\n" + command.help + ": `" + usage +
                       "`\n\n| option | meaning |\n|---|---|\n";
    for (const bool of_arguments : {true, false})
        for (const OptionDescription& option : command.options)
            if (option.is_argument() == of_arguments) text += markdown_row(option);
    return text;
}

// The long names of the options.
std::string option_words(const CommandDescription& page)
{
    std::string words;
    for (const OptionDescription& option : page.options) {
        for (const std::string& name : option.names)
            if (name.compare(0, 2, "--") == 0) words += (words.empty() ? "" : " ") + name;
    }
    return words;
}

void write_manual(const CommandDescription& program, const std::string& folder)
{
    namespace fs = std::filesystem;
    std::error_code error;
    for (const char* part : {"man1", "bash"}) {
        fs::create_directories(fs::path(folder) / part, error);
        if (error) throw Failure("'" + folder + "' cannot be created: " + error.message());
    }
    put_file(folder + "/man1", page_name(program) + ".1", man_page(program, program));
    for (const CommandDescription& command : program.commands)
        put_file(folder + "/man1", page_name(command) + ".1", man_page(program, command));
    put_file(folder + "/bash", program.name, bash_completion(program));
    put_file(folder, "cli.md", markdown_page(program));
}

}  // namespace

std::string man_page(const CommandDescription& program, const CommandDescription& page)
{
    std::string title = page_name(page);
    for (char& letter : title)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    std::string text = ".TH \"" + title + "\" 1 \"\" \"tengine " TENGINE_VERSION_STRING "\"\n";
    text += ".SH NAME\n" + roff(page_name(page)) + " \\- " + roff(page.help) + "\n";
    text += ".SH SYNOPSIS\n" + synopsis(page);
    if (!page.commands.empty()) text += ".SH COMMANDS\n";
    for (const CommandDescription& command : page.commands)
        text += ".TP\n\\fB" + roff(command_name(command)) + "\\fR\n" + roff(command.help) + "\n";
    text += paragraphs("ARGUMENTS", page, true) + paragraphs("OPTIONS", page, false);
    text +=
        ".SH EXIT STATUS\n0: success; 1: failure, or an output differs from the expected one; 2: "
        "invalid command line.\n";
    return text + other_pages(program, page);
}

std::string markdown_page(const CommandDescription& program)
{
    std::string text = "# The command line\n\nThe output of `" + program.name +
                       " <command> --help`. This page is generated: `" + program.name +
                       " manual DIR` writes it to `DIR/cli.md`, beside the man pages.\n\n" +
                       "| command | purpose |\n|---|---|\n";
    for (const CommandDescription& command : program.commands)
        text += "| [`" + command_name(command) + "`](#" + page_name(command) + ") | " +
                markdown_text(command.help) + " |\n";
    text +=
        "\nThe exit status is 0 on success, 1 when the command failed or an output differs from "
        "the expected one, and 2 when the command line is invalid.\n";
    for (const CommandDescription& command : program.commands)
        text += markdown_command(command);
    return text;
}

std::string bash_completion(const CommandDescription& program)
{
    std::string commands;
    std::string cases;
    for (const CommandDescription& command : program.commands) {
        const std::string name = command_name(command);
        commands += name + " ";
        cases += "        " + name + ") words='" + option_words(command) + "' ;;\n";
    }
    const std::string function = "_" + program.name;
    return "# Completion of " + program.name + " for bash, generated by the program.\n" + function +
           "()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} words=''\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='" +
           commands + option_words(program) +
           "'\n    elif [ \"${word#-}\" != \"$word\" ]; then\n"
           "        case ${COMP_WORDS[1]} in\n" +
           cases +
           "        esac\n    fi\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
           "complete -o default -F " +
           function + " " + program.name + "\n";
}

void add_manual_command(CommandLine* line)
{
    const auto folder = std::make_shared<std::string>();
    Command command = line->add_command("manual", "Write man pages and completion");
    command.hide();
    command.add_option("DIR", folder.get(), "Folder to write them to").required();
    command.set_work([line, folder] { write_manual(line->describe(), *folder); });
}

}  // namespace tengine::tools
