// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as an .npz file.
#include "fuzz/tool_input.h"
#include "tensor_file/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    tengine::test::feed_tool(
        data, size, [](const std::string& content) { tengine::tools::decode_npz(content); });
    return 0;
}
