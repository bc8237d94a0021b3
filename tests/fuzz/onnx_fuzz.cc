// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as an ONNX model, through the public API. See CMakeLists.txt here.
#include <cstddef>
#include <cstdint>

#include "fuzz/refusal.h"
#include "tengine/c_api.h"

extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    return init_tengine();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    graph_t graph = create_graph(nullptr, "onnx:m", reinterpret_cast<const char*>(data),
                                 static_cast<int>(size));
    tengine::test::note_input(graph != nullptr);
    if (graph) destroy_graph(graph);
    return 0;
}
