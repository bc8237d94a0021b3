// SPDX-License-Identifier: Apache-2.0
#include "tensor_folder.h"

#include <cctype>
#include <filesystem>
#include <set>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

// Tensor names may hold anything; file names get only harmless characters.
std::string file_name(const std::string& tensor_name)
{
    constexpr size_t kLongest = 200;  // file systems take 255 bytes
    std::string name = tensor_name.substr(0, kLongest);
    for (char& letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 &&
            std::string("._-").find(letter) == std::string::npos)
            letter = '_';
    }
    return name.empty() || name[0] == '.' ? "_" + name : name;
}

}  // namespace

std::vector<std::string> name_files(const std::vector<Tensor>& tensors)
{
    std::vector<std::string> names;
    std::set<std::string> taken;
    for (const Tensor& tensor : tensors) {
        std::string name = file_name(tensor.name);
        while (!taken.insert(name).second)
            name += "_";
        names.push_back(name + ".npy");
    }
    return names;
}

std::vector<std::string> write_tensors(const std::string& folder,
                                       const std::vector<Tensor>& tensors)
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw Failure("'" + folder + "' cannot be created: " + error.message());
    const std::vector<std::string> names = name_files(tensors);
    std::vector<std::string> paths;
    for (size_t i = 0; i < tensors.size(); ++i)
        paths.push_back(put_tensor(folder, names[i], tensors[i]));
    return paths;
}

}  // namespace tengine::tools
