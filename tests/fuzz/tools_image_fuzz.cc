// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a picture, grey and in colour, reduced and enlarged.
#include "fuzz/tool_input.h"

extern "C" {
#include "image.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    tengine::test::feed_tool(data, size, [&](const std::string&) {
        static float planes[3 * 40 * 30];
        for (const int channels : {1, 3}) {
            const image_fit fit = size % 3 == 0   ? IMAGE_STRETCH
                                  : size % 3 == 1 ? IMAGE_CROP
                                                  : IMAGE_LETTERBOX;
            const image_values values = {{0, 0, 0}, {1, 1, 1}, fit, channels == 3, channels == 3};
            const char* reason = image_decode(data, size, channels, 40, 30, &values, planes);
            if (reason) throw tengine::tools::Failure(reason);
        }
    });
    return 0;
}
