// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <sys/ioctl.h>

namespace tengine::tools {

size_t terminal_width()
{
    winsize size = {};
    if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

bool wants_colours()
{
    const char* const no_colour = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && (!no_colour || *no_colour == '\0') &&
           (!terminal || std::string(terminal) != "dumb");
}

}  // namespace tengine::tools
