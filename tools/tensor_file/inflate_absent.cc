// SPDX-License-Identifier: Apache-2.0
// The stand-in for inflate.cc in a build without stb.
#include "tensor_file/failure.h"
#include "tensor_file/inflate.h"

namespace tengine::tools {

std::string inflate(const std::string&, size_t)
{
    throw Failure(
        "it is compressed, and this build has no stb to read it with; write the file with "
        "numpy.savez, which does not compress");
}

}  // namespace tengine::tools
