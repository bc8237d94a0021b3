// SPDX-License-Identifier: Apache-2.0
// A private folder beside a file that the program writes, in which other users cannot create links.
#pragma once

#include <string>

#include "base/unfinished.h"

namespace tengine::tools {

class TemporaryFolder
{
  public:
    // Makes tengine-….unfinished in the folder `parent`, "" for the current one, and removes there
    // those that killed programs of this user have left. Throws Failure if it cannot be created, so
    // that `target`, which will be moved out of it, cannot be written.
    TemporaryFolder(const std::string& parent, const std::string& target);
    ~TemporaryFolder();  // removes it with its files; takes no memory
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name) const { return folder_.path + ("/" + name); }

  private:
    unfinished_folder_t folder_;
};

}  // namespace tengine::tools
