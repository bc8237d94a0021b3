// SPDX-License-Identifier: Apache-2.0
// A temporary folder with one file, in which other users cannot create links.
#pragma once

#include <string>

#include "base/unfinished.h"

namespace tengine::provider {

class TemporaryFolder
{
  public:
    // Creates tengine-….unfinished in the folder `parent`, "" for the current one, and removes
    // those that killed programs of this user have left. Throws Failure.
    explicit TemporaryFolder(const std::string& parent);
    ~TemporaryFolder();  // removes it with the file; takes no memory
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    // The path of the file, which need not exist.
    std::string file() const { return std::string(folder_.path) + "/part.tmfile"; }

  private:
    unfinished_folder_t folder_;
};

}  // namespace tengine::provider
