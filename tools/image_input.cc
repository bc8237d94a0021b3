// SPDX-License-Identifier: Apache-2.0
// Converts pictures to tensors. The contract is in image_input.h.
#include "image_input.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "command_line.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

extern "C" {
#include "image.h"
}

namespace tengine::tools {
namespace {

void copy_channels(const std::vector<float>& values, const char* option, float out_values[3])
{
    if (values.size() != 1 && values.size() != 3)
        throw Failure(std::string(option) + " has " + std::to_string(values.size()) +
                      " numbers, expected 1 or 3");
    for (size_t c = 0; c < 3; ++c)
        out_values[c] = values[values.size() == 1 ? 0 : c];
}

// The axis of each dimension in an input, whose shape is complete.
struct PictureShape
{
    bool channels_last = false;
    int channels = 0;
    int height = 0;
    int width = 0;
};

bool is_channel_count(int extent)
{
    return extent == 1 || extent == 3;
}

bool has_channels_last(const std::vector<int>& shape)
{
    return shape.size() == 4 && is_channel_count(shape[3]) && !is_channel_count(shape[1]);
}

void fill_free_dimensions(const std::string& content, std::vector<int>* shape)
{
    if (shape->size() != 4) return;
    const size_t rows = has_channels_last(*shape) ? 1 : 2;
    if ((*shape)[0] < 0) (*shape)[0] = 1;
    int height;
    int width;
    const char* reason = image_size(content.data(), content.size(), &height, &width);
    if (reason) throw Failure(reason);
    if ((*shape)[rows] < 0) (*shape)[rows] = height;
    if ((*shape)[rows + 1] < 0) (*shape)[rows + 1] = width;
}

PictureShape read_shape(int data_type, const std::vector<int>& shape)
{
    PictureShape found;
    found.channels_last = has_channels_last(shape);
    const bool has_rank = shape.size() == 4;
    const size_t rows = found.channels_last ? 1 : 2;
    found.channels = has_rank ? shape[found.channels_last ? 3 : 1] : 0;
    found.height = has_rank ? shape[rows] : 0;
    found.width = has_rank ? shape[rows + 1] : 0;
    const bool takes_numbers = is_floating(data_type) || data_type == TENGINE_DT_UINT8;
    if (takes_numbers && has_rank && shape[0] == 1 && is_channel_count(found.channels) &&
        found.height > 0 && found.width > 0)
        return found;
    throw Failure(
        "a picture needs an input of floats or uint8 and of shape 1x1xHxW, 1x3xHxW, 1xHxWx1 or "
        "1xHxWx3; this one is " +
        std::string(tengine_data_type_get_name(data_type)) + " " + shape_text(shape));
}

image_values make_values(const ImageValues& values, int data_type, bool channels_last)
{
    image_values made = {};
    const std::vector<float> usual = {data_type == TENGINE_DT_UINT8 ? 1.0f : 1.0f / 255.0f};
    copy_channels(values.mean, "--mean", made.mean);
    copy_channels(values.scale.empty() ? usual : values.scale, "--scale", made.scale);
    made.fit = static_cast<image_fit>(values.fit);
    made.is_bgr = values.is_bgr ? 1 : 0;
    made.channels_last = channels_last ? 1 : 0;
    return made;
}

// Converts the values to another type; int8 and uint8 are rounded to the nearest.
Tensor convert_floats(const Tensor& floats, int data_type)
{
    if (data_type == TENGINE_DT_FP32) return floats;
    Tensor made = make_tensor(data_type, {floats.shape.begin(), floats.shape.end()});
    for (size_t i = 0; i < floats.element_number(); ++i) {
        const double value = get_element(floats, i);
        set_element(
            &made, i,
            data_type == TENGINE_DT_UINT8 ? std::clamp(std::nearbyint(value), 0.0, 255.0) : value);
    }
    return made;
}

// "0.5" or "1/255". False: neither.
bool parse_factor(const std::string& text, float* out_factor)
{
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    double divisor = 1;
    if (end == text.c_str()) return false;
    if (*end == '/') {
        const char* below = end + 1;
        divisor = std::strtod(below, &end);
        if (end == below) return false;
    }
    *out_factor = static_cast<float>(number / divisor);
    return *end == '\0' && std::isfinite(number) && std::isfinite(divisor) && divisor != 0;
}

struct FitName
{
    const char* name;
    image_fit fit;
};

constexpr FitName kFits[] = {
    {"stretch", IMAGE_STRETCH}, {"crop", IMAGE_CROP}, {"letterbox", IMAGE_LETTERBOX}};

}  // namespace

bool is_picture(const std::string& content)
{
    return image_is_known(content.data(), content.size()) != 0;
}

std::vector<float> parse_factors(const std::string& option, const std::string& text)
{
    std::vector<float> factors;
    std::istringstream parts(text + ",");
    for (std::string part; std::getline(parts, part, ',');) {
        factors.push_back(0);
        if (!parse_factor(part, &factors.back()))
            throw Misuse("invalid " + option + " '" + text +
                         "': expected a number or a fraction, such as 1/255, or three with commas");
    }
    return factors;
}

int parse_fit(const std::string& text)
{
    for (const FitName& known : kFits)
        if (text == known.name) return known.fit;
    throw Misuse("invalid --fit '" + text + "': expected stretch, crop or letterbox");
}

Tensor decode_picture(const std::string& content, int data_type, const std::vector<int>& shape,
                      const ImageValues& values)
{
    std::vector<int> settled = shape;
    fill_free_dimensions(content, &settled);
    const PictureShape wanted = read_shape(data_type, settled);
    const image_values made = make_values(values, data_type, wanted.channels_last);
    Tensor floats = make_tensor(TENGINE_DT_FP32, {settled.begin(), settled.end()});
    const char* reason =
        image_decode(content.data(), content.size(), wanted.channels, wanted.height, wanted.width,
                     &made, reinterpret_cast<float*>(floats.bytes.data()));
    if (reason) throw Failure(reason);
    return convert_floats(floats, data_type);
}

void read_picture(const std::string& path, const ImageValues& values, Tensor* tensor)
{
    const std::string content = read_file(path);
    try {
        Tensor picture = decode_picture(content, tensor->data_type, tensor->shape, values);
        tensor->bytes = std::move(picture.bytes);
    } catch (const Failure& failure) {
        throw Failure("'" + path + "': " + failure.what());
    }
}

}  // namespace tengine::tools
