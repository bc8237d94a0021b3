// SPDX-License-Identifier: Apache-2.0
#include "temporary_folder.h"

#include <cstring>

#include "runtime.h"

namespace tengine::provider {

TemporaryFolder::TemporaryFolder(const std::string& parent)
{
    const int cause = create_unfinished_folder(parent.c_str(), &folder_);
    if (cause != 0)
        throw Failure("no temporary folder in '" + (parent.empty() ? "." : parent) +
                      "': " + std::strerror(cause));
}

TemporaryFolder::~TemporaryFolder()
{
    remove_unfinished_folder(&folder_);
}

}  // namespace tengine::provider
