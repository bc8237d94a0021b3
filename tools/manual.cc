// SPDX-License-Identifier: Apache-2.0
// Writes what CLI11 knows of the command line as man pages (roff with the macros of man(7)), as a
// page of Markdown, and as a script for bash. The contract is in manual.h.
#include "manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "tengine/version.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

// "tengine-run" for the command run.
std::string page_name(const CLI::App& app)
{
    return app.get_parent() == nullptr ? app.get_name()
                                       : page_name(*app.get_parent()) + "-" + app.get_name();
}

// "tengine run"
std::string joined_page_name(const CLI::App& app)
{
    std::string name = page_name(app);
    std::replace(name.begin(), name.end(), '-', ' ');
    return name;
}

// A plain hyphen would come out as a typographic one, a leading dot or quote as a request.
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

// "-o, --output"; nothing for a positional.
std::string option_names(const CLI::Option& option)
{
    std::string names;
    for (const std::string& name : option.get_snames())
        names += (names.empty() ? "-" : ", -") + name;
    for (const std::string& name : option.get_lnames())
        names += (names.empty() ? "--" : ", --") + name;
    return names;
}

// "-o, --output OUT.onnx", or of a positional its name alone.
std::string option_heading(const CLI::Option& option)
{
    const std::string names = option_names(option);
    if (names.empty()) return "\\fI" + roff(option.get_name()) + "\\fR";
    const std::string value =
        option.get_expected_max() == 0 ? "" : " \\fI" + roff(option.get_type_name()) + "\\fR";
    return "\\fB" + roff(names) + "\\fR" + value;
}

std::string synopsis(const CLI::App& app)
{
    std::string text = "\\fB" + roff(joined_page_name(app)) + "\\fR [\\fIoptions\\fR]";
    if (!visible_commands(app).empty()) text += " \\fIcommand\\fR";
    for (const CLI::Option* option : app.get_options())
        if (option->get_positional()) text += " \\fI" + roff(option->get_name()) + "\\fR";
    return text + "\n";
}

std::string paragraphs(const std::string& section, const CLI::App& app, bool is_positional)
{
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional() == is_positional)
            text +=
                ".TP\n" + option_heading(*option) + "\n" + roff(option->get_description()) + "\n";
    }
    return text.empty() ? "" : ".SH " + section + "\n" + text;
}

std::string other_pages(const CLI::App& app)
{
    const CLI::App& program = app.get_parent() == nullptr ? app : *app.get_parent();
    std::vector<const CLI::App*> pages = visible_commands(program);
    pages.insert(pages.begin(), &program);
    pages.erase(std::find(pages.begin(), pages.end(), &app));
    std::string text = ".SH SEE ALSO\n";
    for (const CLI::App* page : pages)
        text += ".BR " + roff(page_name(*page)) + " (1)" + (page == pages.back() ? "\n" : ",\n");
    return text;
}

std::string escape(const std::string& text, const char* letters)
{
    std::string escaped;
    for (const char letter : text) {
        if (std::strchr(letters, letter) != nullptr) escaped += '\\';
        escaped += letter;
    }
    return escaped;
}

// In a cell of a table. The border of a column needs its backslash even in code.
std::string markdown_text(const std::string& text)
{
    return escape(text, "|*<");
}

std::string markdown_code(const std::string& text)
{
    return "`" + escape(text, "|") + "`";
}

// ". Not with `--runs`", in the order of names; nothing without such options.
std::string related_options(const char* relation, const std::set<CLI::Option*>& options)
{
    std::set<std::string> names;
    for (const CLI::Option* option : options)
        names.insert(option->get_name());
    std::string text;
    for (const std::string& name : names)
        text += relation + markdown_code(name);
    return text;
}

std::string markdown_row(const CLI::Option& option)
{
    std::string name = option.get_positional() ? option.get_name() : option_names(option);
    if (!option.get_positional() && option.get_expected_max() != 0)
        name += " " + option.get_type_name();
    std::string text = markdown_text(option.get_description());
    if (!option.get_default_str().empty()) text += ". Default: " + option.get_default_str();
    text += related_options(". Not with ", option.get_excludes()) +
            related_options(". Needs ", option.get_needs());
    return "| " + markdown_code(name) + " | " + text + " |\n";
}

std::string markdown_command(const CLI::App& app)
{
    const std::string name = joined_page_name(app);
    std::string usage = name + " [options]";
    for (const CLI::Option* option : app.get_options())
        if (option->get_positional()) usage += " " + option->get_name();
    std::string text = "\n## " + name + "\n\n" + app.get_description() + ": `" + usage +
                       "`\n\n| option | meaning |\n|---|---|\n";
    for (const bool is_positional : {true, false})
        for (const CLI::Option* option : app.get_options())
            if (option->get_positional() == is_positional) text += markdown_row(*option);
    return text;
}

std::string option_words(const CLI::App& app)
{
    std::string words;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames())
            words += (words.empty() ? "--" : " --") + name;
    }
    return words;
}

void write_manual(const CLI::App& app, const std::string& folder)
{
    namespace fs = std::filesystem;
    std::error_code error;
    for (const char* part : {"man1", "bash"}) {
        fs::create_directories(fs::path(folder) / part, error);
        if (error) throw Failure("'" + folder + "' cannot be made: " + error.message());
    }
    write_file(folder + "/man1/" + page_name(app) + ".1", man_page(app));
    for (const CLI::App* command : visible_commands(app))
        write_file(folder + "/man1/" + page_name(*command) + ".1", man_page(*command));
    write_file(folder + "/bash/" + app.get_name(), bash_completion(app));
    write_file(folder + "/cli.md", markdown_page(app));
}

}  // namespace

std::vector<const CLI::App*> visible_commands(const CLI::App& app)
{
    return app.get_subcommands(
        [](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string man_page(const CLI::App& app)
{
    std::string title = page_name(app);
    for (char& letter : title)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    std::string text = ".TH \"" + title + "\" 1 \"\" \"tengine " TENGINE_VERSION_STRING "\"\n";
    text += ".SH NAME\n" + roff(page_name(app)) + " \\- " + roff(app.get_description()) + "\n";
    text += ".SH SYNOPSIS\n" + synopsis(app);
    const std::vector<const CLI::App*> commands = visible_commands(app);
    if (!commands.empty()) text += ".SH COMMANDS\n";
    for (const CLI::App* command : commands)
        text += ".TP\n\\fB" + roff(command->get_name()) + "\\fR\n" +
                roff(command->get_description()) + "\n";
    text += paragraphs("ARGUMENTS", app, true) + paragraphs("OPTIONS", app, false);
    text +=
        ".SH EXIT STATUS\n0: done; 1: it failed, or outputs are not as expected; 2: the command "
        "line is wrong.\n";
    return text + other_pages(app);
}

std::string markdown_page(const CLI::App& app)
{
    const std::string& program = app.get_name();
    std::string text = "# The command line\n\nWhat `" + program +
                       " <command> --help` prints. The program writes this page itself: `" +
                       program +
                       " manual DIR` leaves it in `DIR/cli.md`, beside the man pages.\n\n" +
                       "| command | what it does |\n|---|---|\n";
    const std::vector<const CLI::App*> commands = visible_commands(app);
    for (const CLI::App* command : commands)
        text += "| [`" + command->get_name() + "`](#" + page_name(*command) + ") | " +
                markdown_text(command->get_description()) + " |\n";
    text +=
        "\nThe exit status is 0 when the command is done, 1 when it failed or outputs are not as "
        "expected, and 2 when the command line is wrong.\n";
    for (const CLI::App* command : commands)
        text += markdown_command(*command);
    return text;
}

std::string bash_completion(const CLI::App& app)
{
    std::string commands;
    std::string cases;
    for (const CLI::App* command : visible_commands(app)) {
        commands += command->get_name() + " ";
        cases += "        " + command->get_name() + ") words='" + option_words(*command) + "' ;;\n";
    }
    const std::string function = "_" + app.get_name();
    return "# Completion of " + app.get_name() + " for bash, written by the program itself.\n" +
           function +
           "()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} words=''\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='" +
           commands + option_words(app) +
           "'\n    elif [ \"${word#-}\" != \"$word\" ]; then\n"
           "        case ${COMP_WORDS[1]} in\n" +
           cases +
           "        esac\n    fi\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
           "complete -o default -F " +
           function + " " + app.get_name() + "\n";
}

void add_manual_command(CLI::App* app)
{
    const auto folder = std::make_shared<std::string>();
    CLI::App* command = app->add_subcommand("manual", "Write man pages and completion");
    command->group("");
    command->add_option("DIR", *folder, "Folder to write them to")->required();
    command->callback([app, folder] { write_manual(*app, *folder); });
}

}  // namespace tengine::tools
