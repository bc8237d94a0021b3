// SPDX-License-Identifier: Apache-2.0
// Draws the bar. The contract is in progress.h.
#include "progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace tengine::tools {
namespace {

constexpr int kCells = 40;

}  // namespace

Progress::Progress(std::string title)
    : title_(std::move(title)), is_terminal_(isatty(STDERR_FILENO) != 0)
{
    show(0, 1);
}

Progress::~Progress()
{
    if (is_terminal_) std::fputs("\r\033[K", stderr);
}

// Draws only when a cell changes, so that the terminal does not slow down what is measured.
void Progress::show(int done, int total)
{
    const int cells = static_cast<int>(static_cast<double>(done) / total * kCells);
    if (!is_terminal_ || cells == shown_) return;
    shown_ = cells;
    const std::string bar = std::string(static_cast<size_t>(cells), '#') +
                            std::string(static_cast<size_t>(kCells - cells), '.');
    std::fprintf(stderr, "\r%s [%s]\033[K", title_.c_str(), bar.c_str());
    std::fflush(stderr);
}

}  // namespace tengine::tools
