// SPDX-License-Identifier: Apache-2.0
// The command line of a program: commands, and their options. command_line.cc alone includes CLI11,
// which parses them, because its headers take many times as long to compile as a command does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tengine::tools {

// The command line is invalid; what() gives the reason.
struct Misuse : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// The destination of an option's values. The target outlives the command line and keeps its value
// when the option is not given; a function is called when it is, and may throw Misuse.
using OptionTarget = std::variant<std::string*, int*, double*, uint64_t*, std::vector<std::string>*,
                                  std::vector<int>*, std::vector<float>*, std::optional<int>*,
                                  std::optional<double>*, std::function<void(const std::string&)>>;

// Refers to an option, a flag or an argument of a command line, and is valid as long as that.
// All functions return *this.
class CommandOption
{
  public:
    explicit CommandOption(CLI::Option* option) : option_(option) {}

    CommandOption& required();

    // The name of the value in --help.
    CommandOption& value_name(const std::string& name);

    // --help prints the target's present value.
    CommandOption& shows_default();

    // The range of a number, both ends included.
    CommandOption& in_range(int low, int high);
    CommandOption& in_range(double low, double high);

    // `judge` returns the fault of a value, "" if there is none.
    CommandOption& checked_by(const std::function<std::string(const std::string&)>& judge);

    // The value is one of these names and becomes its number.
    CommandOption& one_of(const std::map<std::string, int>& numbers);

    // For a list: one value each time the option is given, or several with commas between them.
    CommandOption& repeatable();
    CommandOption& separated_by_commas();

    CommandOption& excludes(const CommandOption& other);
    CommandOption& needs(const CommandOption& other);

  private:
    CLI::Option* option_;
};

// Refers to a command of a command line, and is valid as long as that.
class Command
{
  public:
    explicit Command(CLI::App* app) : app_(app) {}

    // `names`: "--output", "-o,--output", or "MODEL" for an argument.
    CommandOption add_option(const std::string& names, const OptionTarget& target,
                             const std::string& help);
    CommandOption add_flag(const std::string& name, bool* target, const std::string& help);

    // The function of the command. It may throw Misuse.
    void set_work(const std::function<void()>& work);

    // --help and describe() leave it out.
    void hide();

  private:
    CLI::App* app_;
};

struct OptionDescription
{
    std::string name;                // "--output", or of an argument "MODEL"
    std::vector<std::string> names;  // "-o", "--output"; empty for an argument
    std::string value;               // as --help calls it; "" if there is none
    std::string help;
    std::string default_value;          // "": --help prints none
    std::vector<std::string> excludes;  // names, in alphabetical order
    std::vector<std::string> needs;

    bool is_argument() const { return names.empty(); }
};

struct CommandDescription
{
    std::string name;  // "tengine run"
    std::string help;
    std::vector<OptionDescription> options;    // in the order of --help
    std::vector<CommandDescription> commands;  // of a program
};

class CommandLine
{
  public:
    CommandLine(const std::string& program, const std::string& help, const std::string& version);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    Command add_command(const std::string& name, const std::string& help);

    // An option that every command added so far takes, as often as the user likes. The target is
    // called before the command does its work.
    void add_common_option(const std::string& name, const std::string& value_name,
                           const std::function<void(const std::string&)>& target,
                           const std::string& help);

    // The commands and options as --help shows them.
    CommandDescription describe() const;

    // Runs the command that the arguments name, or prints the help or the version. Throws Misuse,
    // and what the command throws.
    void run(int argc, char** argv);

  private:
    std::unique_ptr<CLI::App> app_;
};

}  // namespace tengine::tools
