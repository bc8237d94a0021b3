// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as an ONNX model, through the public API. See CMakeLists.txt here.
#include <cstddef>
#include <cstdint>

#include "tengine/c_api.h"

extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    return init_tengine();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    graph_t graph = create_graph(nullptr, "onnx:m", reinterpret_cast<const char*>(data),
                                 static_cast<int>(size));
    if (graph) destroy_graph(graph);
    return 0;
}
