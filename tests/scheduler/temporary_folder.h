// SPDX-License-Identifier: Apache-2.0
// A folder of a test, removed with its content.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace tengine::test {

class TemporaryFolder
{
  public:
    TemporaryFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "tengine_XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }
    // Paths of its entries.
    std::vector<std::filesystem::path> list() const
    {
        return {std::filesystem::directory_iterator(path_), {}};
    }

  private:
    std::string path_;
};

}  // namespace tengine::test
