// SPDX-License-Identifier: Apache-2.0
// A folder of the program's own beside a file that it makes, where others cannot plant links.
#pragma once

#include <string>

#include "base/unfinished.h"

namespace tengine::tools {

class TemporaryFolder
{
  public:
    // Makes tengine-….unfinished in the folder `parent`, "" for the current one, and removes there
    // those that killed programs of this user have left. Throws Failure: it cannot be made, and
    // `target`, which will come out of it, not be written.
    TemporaryFolder(const std::string& parent, const std::string& target);
    ~TemporaryFolder();  // removes it with its files; takes no memory
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name) const { return folder_.path + ("/" + name); }

  private:
    unfinished_folder_t folder_;
};

}  // namespace tengine::tools
