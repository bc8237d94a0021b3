// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any string as settings of pictures. A refusal leaves the settings as they are; those
// that are read can be used.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fuzz/refusal.h"
#include "tengine/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    set_log_level(LOG_EMERG);
    static const unsigned char pixels[16 * 16 * 3] = {};
    const tengine_image image = {pixels, 16, 16, TENGINE_IMAGE_RGB, 6, 0};
    tengine_image_settings settings, before;
    if (tengine_image_settings_init(&settings, sizeof settings) < 0) std::abort();
    std::memcpy(&before, &settings, sizeof settings);
    const auto* text = reinterpret_cast<const char*>(data);
    const bool is_read = tengine_image_settings_parse(text, size, &settings) == 0;
    if (!is_read && std::memcmp(&before, &settings, sizeof settings) != 0) std::abort();
    tengine::test::note_input(is_read);
    if (!is_read) return 0;
    float values[3 * 8 * 8];
    const tengine_image_target target = {TENGINE_DT_FP32, {1, 3, 8, 8}, 0, 0};
    const int status = tengine_image_convert(&image, 1, &settings, &target, values, sizeof values);
    if (status < 0)
        tengine::test::note_refusal();
    else
        ++tengine::test::run_inputs;
    return 0;
}
