// SPDX-License-Identifier: Apache-2.0
// The command line on CLI11. The contract is in command_line.h.
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "text.h"

namespace tengine::tools {
namespace {

// A target in the form that CLI11 takes.
struct OptionMaker
{
    CLI::App* app;
    const std::string& names;
    const std::string& help;

    template <typename Value>
    CLI::Option* operator()(Value* target) const
    {
        return app->add_option(names, *target, help);
    }

    template <typename Value>
    CLI::Option* operator()(std::optional<Value>* target) const
    {
        return app->add_option_function<Value>(
            names, [target](const Value& value) { *target = value; }, help);
    }

    CLI::Option* operator()(const std::function<void(const std::string&)>& target) const
    {
        return app->add_option_function<std::string>(names, target, help);
    }
};

std::vector<const CLI::App*> visible_commands(const CLI::App& app)
{
    return app.get_subcommands(
        [](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<std::string> command_names(const CLI::App& app)
{
    std::vector<std::string> names;
    for (const CLI::App* command : visible_commands(app))
        names.push_back(command->get_name());
    return names;
}

std::vector<std::string> sorted_names(const std::set<CLI::Option*>& options)
{
    std::set<std::string> names;
    for (const CLI::Option* option : options)
        names.insert(option->get_name());
    return {names.begin(), names.end()};
}

OptionDescription describe_option(const CLI::Option& option)
{
    OptionDescription description;
    description.name = option.get_name();
    for (const std::string& name : option.get_snames())
        description.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        description.names.push_back("--" + name);
    if (option.get_expected_max() != 0) description.value = option.get_type_name();
    description.help = option.get_description();
    description.default_value = option.get_default_str();
    description.excludes = sorted_names(option.get_excludes());
    description.needs = sorted_names(option.get_needs());
    return description;
}

CommandDescription describe_command(const CLI::App& app)
{
    CommandDescription description;
    const std::string program = app.get_parent() ? app.get_parent()->get_name() + " " : "";
    description.name = program + app.get_name();
    description.help = app.get_description();
    for (const CLI::Option* option : app.get_options())
        description.options.push_back(describe_option(*option));
    for (const CLI::App* command : visible_commands(app))
        description.commands.push_back(describe_command(*command));
    return description;
}

std::string joined(const std::vector<std::string>& words, const std::string& last)
{
    std::string text;
    for (size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
    return text;
}

std::vector<std::string> option_names(const CLI::App& app)
{
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

// The first unknown word, and the closest known word.
std::string describe_extra(const CLI::App& app)
{
    const std::string word = app.remaining(true).at(0);
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    const CLI::App& place = parsed.empty() ? app : *parsed[0];
    const bool is_option = word[0] == '-';
    std::vector<std::string> known;
    if (is_option) {
        known = option_names(place);
    } else if (parsed.empty()) {
        known = command_names(app);
    }
    const std::string option_name = word.substr(0, word.find('='));
    const std::string nearest = nearest_word(is_option ? option_name : word, known);
    const std::string what = is_option ? "option" : parsed.empty() ? "command" : "argument";
    std::string text = "unknown " + what + " '" + word + "'";
    if (what == "argument") text = "unexpected argument '" + word + "'";
    if (!nearest.empty()) return text + "; did you mean " + nearest + "?";
    return what == "command" ? text + "; expected " + joined(known, ", ") : text;
}

}  // namespace

CommandOption& CommandOption::required()
{
    option_->required();
    return *this;
}

CommandOption& CommandOption::value_name(const std::string& name)
{
    option_->type_name(name);
    return *this;
}

CommandOption& CommandOption::shows_default()
{
    option_->capture_default_str();
    return *this;
}

CommandOption& CommandOption::in_range(int low, int high)
{
    option_->check(CLI::Range(low, high));
    return *this;
}

CommandOption& CommandOption::in_range(double low, double high)
{
    option_->check(CLI::Range(low, high));
    return *this;
}

CommandOption& CommandOption::checked_by(
    const std::function<std::string(const std::string&)>& judge)
{
    option_->check(judge);
    return *this;
}

CommandOption& CommandOption::one_of(const std::map<std::string, int>& numbers)
{
    option_->transform(CLI::CheckedTransformer(numbers));
    return *this;
}

CommandOption& CommandOption::repeatable()
{
    option_->allow_extra_args(false);
    return *this;
}

CommandOption& CommandOption::separated_by_commas()
{
    option_->delimiter(',')->allow_extra_args(false);
    return *this;
}

CommandOption& CommandOption::excludes(const CommandOption& other)
{
    option_->excludes(other.option_);
    return *this;
}

CommandOption& CommandOption::needs(const CommandOption& other)
{
    option_->needs(other.option_);
    return *this;
}

CommandOption Command::add_option(const std::string& names, const OptionTarget& target,
                                  const std::string& help)
{
    return CommandOption(std::visit(OptionMaker{app_, names, help}, target));
}

CommandOption Command::add_flag(const std::string& name, bool* target, const std::string& help)
{
    return CommandOption(app_->add_flag(name, *target, help));
}

void Command::set_work(const std::function<void()>& work)
{
    app_->callback(work);
}

void Command::hide()
{
    app_->group("");
}

CommandLine::CommandLine(const std::string& program, const std::string& help,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(help, program))
{
    app_->set_version_flag("--version", version);
    app_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add_command(const std::string& name, const std::string& help)
{
    return Command(app_->add_subcommand(name, help));
}

void CommandLine::add_common_option(const std::string& name, const std::string& value_name,
                                    const std::function<void(const std::string&)>& target,
                                    const std::string& help)
{
    for (CLI::App* command : app_->get_subcommands(nullptr))
        command
            ->add_option_function<std::vector<std::string>>(
                name,
                [target](const std::vector<std::string>& values) {
                    std::for_each(values.begin(), values.end(), target);
                },
                help)
            ->type_name(value_name)
            ->allow_extra_args(false);
}

CommandDescription CommandLine::describe() const
{
    return describe_command(*app_);
}

void CommandLine::run(int argc, char** argv)
{
    try {
        app_->parse(argc, argv);
    } catch (const CLI::Success& help) {
        app_->exit(help);
        return;
    } catch (const CLI::ExtrasError&) {
        throw Misuse(describe_extra(*app_));
    } catch (const CLI::ParseError& error) {
        throw Misuse(error.what());
    }
    if (app_->get_subcommands().empty())
        throw Misuse("missing command: expected " + joined(command_names(*app_), " or "));
}

}  // namespace tengine::tools
