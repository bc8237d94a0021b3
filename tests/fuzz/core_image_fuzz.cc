// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a picture, in all types and fits, reduced and enlarged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include "fuzz/refusal.h"
#include "tengine/image.h"

namespace {

constexpr int kHeight = 40, kWidth = 30;

// The size of the input chooses settings, so that damaged copies of a picture have various ones.
tengine_image_settings choose_settings(size_t size)
{
    tengine_image_settings settings;
    if (tengine_image_settings_init(&settings, sizeof settings) < 0) std::abort();
    settings.fit = static_cast<int>(size % 3);
    settings.format = size % 2 == 0 ? TENGINE_IMAGE_RGB : TENGINE_IMAGE_BGR;
    settings.orientation = static_cast<int>(size / 2 % 2);
    if (settings.fit == TENGINE_IMAGE_CROP && size % 5 == 0) settings.shorter_side = 44;
    if (size % 7 == 0) settings.box[2] = settings.box[3] = 2;
    return settings;
}

void convert(const tengine_image& image, int data_type, int channels, size_t size)
{
    static double values[3 * kHeight * kWidth];
    const tengine_image_settings settings = choose_settings(size);
    const size_t bytes = data_type == TENGINE_DT_UINT8  ? 1
                         : data_type == TENGINE_DT_FP16 ? 2
                         : data_type == TENGINE_DT_FP32 ? 4
                                                        : 8;
    tengine_image_target target = {data_type, {1, channels, kHeight, kWidth}, 0, 0};
    const size_t number = static_cast<size_t>(channels) * kHeight * kWidth;
    const int status = tengine_image_convert(&image, 1, &settings, &target, values, number * bytes);
    // A box may be outside of the picture, or the picture too large for a shorter side.
    if (status < 0) return tengine::test::note_refusal();
    ++tengine::test::run_inputs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    set_log_level(LOG_EMERG);
    tengine_image image = {};
    int width = 0, height = 0;
    const bool has_size = tengine_image_get_size(data, size, &width, &height) == 0;
    if (!has_size) tengine::test::note_refusal();
    const bool is_decoded = tengine_image_decode(data, size, 1 << 22, &image) == 0;
    if (is_decoded && (!has_size || image.width != width || image.height != height)) std::abort();
    tengine::test::note_input(is_decoded);
    if (!is_decoded) return 0;
    for (const int channels : {1, 3})
        for (const int type : {TENGINE_DT_UINT8, TENGINE_DT_FP16, TENGINE_DT_FP32, TENGINE_DT_FP64})
            convert(image, type, channels, size);
    tengine_image_free(&image);
    return 0;
}
