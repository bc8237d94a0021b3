// SPDX-License-Identifier: Apache-2.0
// A pseudo-terminal, see pty(7). The contract is in terminal.h.
#include "tools/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <regex>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "tensor_file/failure.h"

namespace tengine::program {
namespace {

int open_terminal(int columns)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        throw tools::Failure("no pseudo-terminal");
    winsize size = {};
    size.ws_row = 25;
    size.ws_col = static_cast<unsigned short>(columns);
    ioctl(master, TIOCSWINSZ, &size);
    return master;
}

// The first terminal that a new session opens is its controlling terminal: Ctrl-C there sends a
// signal to the program.
[[noreturn]] void become_program(const std::string& device, const std::vector<std::string>& words)
{
    std::vector<char*> pointers = {const_cast<char*>("tengine")};
    for (const std::string& word : words)
        pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    setsid();
    const int terminal = open(device.c_str(), O_RDWR);
    if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0) _exit(127);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        dup2(terminal, stream);
    execv(TENGINE_PROGRAM, pointers.data());
    _exit(127);
}

// Reads until the program has closed the terminal.
std::string read_terminal(int master, const std::string& interrupt_at)
{
    const char control_c = 3;
    bool interrupts = !interrupt_at.empty();
    std::string shown;
    char buffer[4096];
    for (ssize_t number; (number = read(master, buffer, sizeof buffer)) > 0;) {
        shown.append(buffer, static_cast<size_t>(number));
        if (!interrupts || shown.find(interrupt_at) == std::string::npos) continue;
        interrupts = write(master, &control_c, 1) != 1;
    }
    return shown;
}

}  // namespace

Finished run_on_terminal(const std::vector<std::string>& arguments, const TerminalRun& terminal)
{
    const int master = open_terminal(terminal.columns);
    const std::string device = ptsname(master);
    const pid_t child = fork();
    if (child < 0) throw tools::Failure("cannot start a process");
    if (child == 0) become_program(device, arguments);
    const std::string shown = read_terminal(master, terminal.interrupt_at);
    close(master);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            std::regex_replace(shown, std::regex("\r\n"), "\n"), ""};
}

std::string without_colours(const std::string& text)
{
    return std::regex_replace(text, std::regex("\033\\[[0-9;]*m"), "");
}

}  // namespace tengine::program
