// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error, if that is a terminal; otherwise nothing.
#pragma once

#include <string>

namespace tengine::tools {

class Progress
{
  public:
    explicit Progress(std::string title);
    ~Progress();  // wipes the line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(int done, int total);

  private:
    std::string title_;
    bool is_terminal_;
    int shown_ = -1;  // cells of the bar
};

}  // namespace tengine::tools
