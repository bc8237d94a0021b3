// SPDX-License-Identifier: Apache-2.0
#include "temporary_folder.h"

#include <cstring>

#include "tensor_file/failure.h"

namespace tengine::tools {

TemporaryFolder::TemporaryFolder(const std::string& parent, const std::string& target)
{
    const int cause = create_unfinished_folder(parent.c_str(), &folder_);
    if (cause != 0) throw Failure("cannot write '" + target + "': " + std::strerror(cause));
}

TemporaryFolder::~TemporaryFolder()
{
    remove_unfinished_folder(&folder_);
}

}  // namespace tengine::tools
