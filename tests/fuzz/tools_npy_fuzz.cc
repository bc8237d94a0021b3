// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as an .npy file. A tensor that was read is written to a file from which
// reading gives the same.
#include <cstdlib>

#include "fuzz/tool_input.h"
#include "tensor_file/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tengine::tools;
    tengine::test::feed_tool(data, size, [](const std::string& content) {
        const Tensor tensor = decode_npy(content);
        const Tensor again = decode_npy(encode_npy(tensor));
        if (again.shape != tensor.shape || again.bytes != tensor.bytes) std::abort();
    });
    return 0;
}
