// SPDX-License-Identifier: Apache-2.0
// Converts pictures to tensors. The contract is in image_input.h.
#include "image_input.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "command_line.h"
#include "named_value.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

void check(int status)
{
    if (status < 0) throw Failure(get_tengine_error());
}

class Picture
{
  public:
    explicit Picture(const std::string& content)
    {
        check(tengine_image_decode(content.data(), content.size(), 0, &image_));
    }
    ~Picture() { tengine_image_free(&image_); }
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;

    const tengine_image& image() const { return image_; }

  private:
    tengine_image image_ = {};
};

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
    int fit;
};

constexpr FitName kFits[] = {{"stretch", TENGINE_IMAGE_STRETCH},
                             {"crop", TENGINE_IMAGE_CROP},
                             {"letterbox", TENGINE_IMAGE_LETTERBOX}};

// The value of a --picture in JSON: a number, numbers with commas between them, or a word.
std::string json_value(const std::string& text)
{
    const std::string numbers = "0123456789.,+-eE";
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos)
        return "\"" + text + "\"";
    if (text.find_first_not_of(numbers) != std::string::npos)
        throw Failure("invalid --picture value '" + text +
                      "': expected a word, a number, or numbers with commas between them");
    return text.find(',') == std::string::npos ? text : "[" + text + "]";
}

// All --picture options as one JSON object.
std::string json_object(const std::vector<std::string>& settings)
{
    std::string json = "{";
    for (const std::string& setting : settings) {
        const size_t equals = setting.find('=');
        if (equals == std::string::npos || setting.find_first_of("\"\\") < equals)
            throw Failure("invalid --picture '" + setting + "': expected KEY=VALUE");
        json += (json.size() > 1 ? ", \"" : "\"") + setting.substr(0, equals) +
                "\": " + json_value(setting.substr(equals + 1));
    }
    return json + "}";
}

}  // namespace

tengine_image_settings settle(const ImageValues& values)
{
    tengine_image_settings settings;
    check(tengine_image_settings_init(&settings, sizeof settings));
    if (!values.file.empty())
        check(tengine_image_settings_load(values.file.c_str(), &settings));
    else if (!values.model.empty())
        check(tengine_image_settings_load_beside(values.model.c_str(), &settings));
    if (values.is_bgr) settings.format = TENGINE_IMAGE_BGR;
    for (const auto& change : values.changes)
        change(&settings);
    if (values.settings.empty()) return settings;
    const std::string json = json_object(values.settings);
    if (tengine_image_settings_parse(json.data(), json.size(), &settings) < 0)
        throw Failure(std::string("--picture: ") + get_tengine_error());
    return settings;
}

bool is_picture(const std::string& content)
{
    return tengine_image_get_type(content.data(), content.size()) != nullptr;
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
    if (factors.size() != 1 && factors.size() != 3)
        throw Failure(option + " has " + std::to_string(factors.size()) +
                      " numbers, expected 1 or 3");
    return factors;
}

int parse_fit(const std::string& text)
{
    for (const FitName& known : kFits)
        if (text == known.name) return known.fit;
    throw Misuse("invalid --fit '" + text + "': expected stretch, crop or letterbox");
}

Tensor decode_picture(const std::string& content, int data_type, const std::vector<int>& shape,
                      const tengine_image_settings& settings)
{
    const Picture picture(content);
    if (shape.size() != 4)
        throw Failure("a picture needs an input of 4 dimensions, this one is " +
                      std::string(tengine_data_type_get_name(data_type)) + " " + shape_text(shape));
    tengine_image_target target = {};
    target.data_type = data_type;
    std::copy(shape.begin(), shape.end(), target.dims);
    check(tengine_image_fill_shape(&picture.image(), 1, &settings, target.dims));
    Tensor made = make_tensor(data_type, {target.dims, target.dims + 4});
    check(tengine_image_convert(&picture.image(), 1, &settings, &target, made.bytes.data(),
                                made.bytes.size()));
    return made;
}

void read_picture(const std::string& path, const tengine_image_settings& settings, Tensor* tensor)
{
    const std::string content = read_file(path);
    try {
        Tensor picture = decode_picture(content, tensor->data_type, tensor->shape, settings);
        tensor->bytes = std::move(picture.bytes);
    } catch (const Failure& failure) {
        throw Failure("'" + path + "': " + failure.what());
    }
}

}  // namespace tengine::tools
