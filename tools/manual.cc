// SPDX-License-Identifier: Apache-2.0
// Writes what CLI11 knows of the command line as man pages (roff with the macros of man(7)) and as
// a script for bash. The contract is in manual.h.
#include "manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

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

// "-o, --output OUT.onnx", or of a positional its name alone.
std::string option_heading(const CLI::Option& option)
{
    std::string names;
    for (const std::string& name : option.get_snames())
        names += (names.empty() ? "-" : ", -") + name;
    for (const std::string& name : option.get_lnames())
        names += (names.empty() ? "--" : ", --") + name;
    if (names.empty()) return "\\fI" + roff(option.get_name()) + "\\fR";
    const std::string value =
        option.get_expected_max() == 0 ? "" : " \\fI" + roff(option.get_type_name()) + "\\fR";
    return "\\fB" + roff(names) + "\\fR" + value;
}

std::string synopsis(const CLI::App& app)
{
    std::string name = page_name(app);
    std::replace(name.begin(), name.end(), '-', ' ');
    std::string text = "\\fB" + roff(name) + "\\fR [\\fIoptions\\fR]";
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
