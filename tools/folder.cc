// SPDX-License-Identifier: Apache-2.0
#include "folder.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "tensor_file/failure.h"

namespace tengine::tools {

std::vector<std::string> list_names(const std::string& folder)
{
    struct Close
    {
        void operator()(DIR* opened) const { closedir(opened); }
    };
    const std::unique_ptr<DIR, Close> opened(opendir(folder.c_str()));
    if (!opened) throw Failure("'" + folder + "' cannot be read: " + std::strerror(errno));
    std::vector<std::string> names;
    while (const dirent* entry = readdir(opened.get())) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace tengine::tools
