// SPDX-License-Identifier: Apache-2.0
#include "output_path.h"

#include <unistd.h>

#include <filesystem>

#include "tengine/file.h"
#include "tensor_file/failure.h"

namespace tengine::tools {

static Failure would_overwrite(const std::string& option, const std::string& path)
{
    return Failure(option + " '" + path +
                   "' would overwrite the model that is read, or its external data: expected "
                   "another file");
}

void check_output_path(const std::string& option, const std::string& path)
{
    namespace fs = std::filesystem;
    if (path.empty() || path == "-") return;
    const auto fail = [&](const std::string& reason) {
        throw Failure(option + " '" + path + "' cannot be written: " + reason);
    };
    std::error_code error;
    if (fs::is_directory(path, error)) fail("it is a folder, expected a file");
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        fail("it is a pipe or a device, expected a file");
    const fs::path parent = fs::path(path).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    if (!fs::is_directory(folder, error)) fail("folder '" + folder + "' does not exist");
    if (access(folder.c_str(), W_OK) != 0)
        fail("no permission to write to folder '" + folder + "'");
    if (fs::exists(path, error) && access(path.c_str(), W_OK) != 0)
        fail("no permission to write to the file");
}

void check_spares_model(const std::string& option, const std::string& path, graph_t graph)
{
    if (path.empty() || path == "-" || tengine_graph_has_file(graph, path.c_str()) != 1) return;
    throw would_overwrite(option, path);
}

void check_spares_file(const std::string& option, const std::string& path, const std::string& input)
{
    std::error_code ignored;
    if (std::filesystem::equivalent(path, input, ignored)) throw would_overwrite(option, path);
}

}  // namespace tengine::tools
