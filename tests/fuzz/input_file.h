// SPDX-License-Identifier: Apache-2.0
// An input of a fuzz target as a file in memory, for code that reads files by their path.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>

namespace tengine::test {

class InputFile
{
  public:
    InputFile(const uint8_t* data, size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC))
    {
        if (descriptor_ < 0 || write(descriptor_, data, size) != static_cast<ssize_t>(size))
            std::abort();
        path_ = "/proc/self/fd/" + std::to_string(descriptor_);
    }
    ~InputFile() { close(descriptor_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const char* path() const { return path_.c_str(); }

  private:
    int descriptor_;
    std::string path_;
};

}  // namespace tengine::test
