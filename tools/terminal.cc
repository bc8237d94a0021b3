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

TableStyle terminal_style(const std::vector<std::string>& shortened)
{
    TableStyle style;
    style.width = terminal_width();
    style.shortened = shortened;
    return style;
}

bool wants_colours()
{
    const char* const no_colour = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && (!no_colour || *no_colour == '\0') &&
           (!terminal || std::string(terminal) != "dumb");
}

}  // namespace tengine::tools
