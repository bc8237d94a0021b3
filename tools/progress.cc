// SPDX-License-Identifier: Apache-2.0
// The contract is in progress.h.
#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <utility>

namespace tengine::tools {
namespace {

// Long enough that the terminal does not slow down the measured work.
constexpr double kTerminalInterval = 0.2;
constexpr double kLogInterval = 10;

constexpr const char* kWipe = "\r\033[K";
std::atomic<bool> is_line_shown{false};  // on standard error

std::string duration_text(double seconds)
{
    const long rounded = std::lround(std::ceil(seconds));
    if (rounded < 100) return std::to_string(rounded) + " s";
    const long minutes = (rounded + 59) / 60;
    return minutes < 100 ? std::to_string(minutes) + " min"
                         : std::to_string((minutes + 59) / 60) + " h";
}

}  // namespace

void wipe_progress()
{
    if (is_line_shown.exchange(false)) std::fputs(kWipe, stderr);
}

ProgressOutput progress_output(bool quiet)
{
    const auto seconds = [] {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration<double>(now).count();
    };
    return {quiet ? nullptr : stderr, isatty(STDERR_FILENO) != 0, seconds};
}

Progress::Progress(std::string title, ProgressOutput output)
    : title_(std::move(title)),
      output_(std::move(output)),
      stage_begin_(output_.seconds()),
      // On a terminal progress is shown at once.
      shown_at_(stage_begin_ - (output_.is_terminal ? kTerminalInterval : 0))
{
    draw("", 0);
}

Progress::~Progress()
{
    if (output_.file && output_.is_terminal) std::fputs(kWipe, output_.file);
    if (output_.file == stderr) is_line_shown = false;
}

void Progress::show(int done, int total)
{
    draw(std::to_string(done) + " of " + std::to_string(total),
         static_cast<double>(done) / std::max(total, 1));
}

void Progress::show_share(int done, double share)
{
    draw(std::to_string(done), std::clamp(share, 0.0, 1.0));
}

void Progress::draw(const std::string& count, double share)
{
    if (!output_.file) return;
    const double now = output_.seconds();
    if (share < share_) stage_begin_ = now;
    share_ = share;
    if (now - shown_at_ < (output_.is_terminal ? kTerminalInterval : kLogInterval)) return;
    shown_at_ = now;
    std::string text = title_;
    if (!count.empty())
        text += ": " + count + ", " + std::to_string(std::lround(share * 100)) + " %";
    if (share > 0 && share < 1)
        text += ", " + duration_text((now - stage_begin_) * (1 - share) / share) + " left";
    std::fprintf(output_.file, output_.is_terminal ? "\r%s\033[K" : "%s\n", text.c_str());
    std::fflush(output_.file);
    if (output_.is_terminal && output_.file == stderr) is_line_shown = true;
}

}  // namespace tengine::tools
