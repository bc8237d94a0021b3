// SPDX-License-Identifier: Apache-2.0
// A file mapped into memory for reading. A program that truncates the file while it is being
// loaded stops the loading process (SIGBUS), as with any mapped file.
#pragma once

#include "serializer/onnx/wire.h"

namespace tengine {

class MappedFile
{
  public:
    MappedFile() = default;
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    // TENGINE_EIO when it cannot be read or is not a regular file, TENGINE_EFORMAT when it is
    // empty, TENGINE_ELIMIT when it is larger than a protobuf message can be.
    TENGINE_MUST_USE int open(const char* path);

    Bytes bytes() const { return bytes_; }

    // Tells the system that `part` will not be read again soon, so that a large file does not
    // stay in memory beside what is made of it.
    void drop(Bytes part) const;

  private:
    TENGINE_MUST_USE int map(int descriptor, const char* path);

    Bytes bytes_;
};

}  // namespace tengine
