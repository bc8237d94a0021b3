// SPDX-License-Identifier: Apache-2.0
// The progress of a command on standard error: on a terminal a line that changes, else a line every
// ten seconds, so that a log shows progress.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace tengine::tools {

// The destination of the progress.
struct ProgressOutput
{
    std::FILE* file = nullptr;  // null: nowhere
    bool is_terminal = false;
    std::function<double()> seconds;  // a clock
};

// Standard error, or nowhere.
ProgressOutput progress_output(bool quiet);

// Erases the line that a Progress shows on standard error, before other output. Any thread.
void wipe_progress();

class Progress
{
  public:
    Progress(std::string title, ProgressOutput output);
    ~Progress();  // erases the line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `done` of `total` steps are done. A command of several stages begins again with each.
    void show(int done, int total);
    // `done` steps are done, and this share (0 to 1) of the available time has passed.
    void show_share(int done, double share);

  private:
    void draw(const std::string& count, double share);

    std::string title_;
    ProgressOutput output_;
    double stage_begin_;  // seconds of the clock
    double shown_at_;
    double share_ = 0;  // at the last call
};

}  // namespace tengine::tools
