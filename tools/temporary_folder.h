// SPDX-License-Identifier: Apache-2.0
// A folder of the program's own beside a file that it makes, where others cannot plant links.
#pragma once

#include <filesystem>
#include <string>

namespace tengine::tools {

class TemporaryFolder
{
  public:
    // Makes tengine-….unfinished in the folder `parent`, and removes there those that killed
    // programs of this user have left. Throws Failure: it cannot be made, and `target`, which will
    // come out of it, not be written.
    TemporaryFolder(const std::filesystem::path& parent, const std::string& target);
    ~TemporaryFolder();  // removes it with all that it has
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
    int lock_ = -1;  // the folder's, as long as this lives
};

}  // namespace tengine::tools
