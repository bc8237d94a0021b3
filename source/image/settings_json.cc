// SPDX-License-Identifier: Apache-2.0
// Settings of pictures as JSON. The contract is in settings.h.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/guard.hpp"
#include "base/json_members.hpp"
#include "image/settings.h"

namespace tengine {
namespace {

using Json = nlohmann::json;
using Settings = tengine_image_settings;

// A value as far as settings have it: a number, a word, or a list of numbers.
struct Value
{
    enum Kind
    {
        kNumber,
        kWord,
        kList,
        kOther
    };

    Value() = default;
    explicit Value(const Json& value)
    {
        if (value.is_number()) {
            kind = kNumber;
            numbers = {value.get<double>()};
        } else if (value.is_string()) {
            kind = kWord;
            word = value.get<std::string>();
        } else if (value.is_array()) {
            kind = kList;
        }
    }

    Kind kind = kOther;
    std::string word;
    std::vector<double> numbers;
};

class Members : public JsonMembers<Json, Value>
{
    // Only numbers in a list directly below a member are of use.
    void add_inside(Value& list, const Json& value, bool is_below) override
    {
        if (!is_below && list.kind == Value::kList && value.is_number())
            list.numbers.push_back(value.get<double>());
        else
            list.kind = Value::kOther;
    }
};

struct Word
{
    const char* word;
    int value;
};

constexpr Word kFits[] = {{"stretch", TENGINE_IMAGE_STRETCH},
                          {"crop", TENGINE_IMAGE_CROP},
                          {"letterbox", TENGINE_IMAGE_LETTERBOX}};
constexpr Word kFormats[] = {{"rgb", TENGINE_IMAGE_RGB}, {"bgr", TENGINE_IMAGE_BGR}};
constexpr Word kLayouts[] = {
    {"any", TENGINE_IMAGE_ANY_LAYOUT}, {"nchw", TENGINE_IMAGE_NCHW}, {"nhwc", TENGINE_IMAGE_NHWC}};
constexpr Word kOrientations[] = {{"stored", 0}, {"exif", 1}};

// Each function returns what it expects, or null when it has set the member.
using Setter = const char* (*)(const Value& value, Settings* settings);

template <size_t number>
const char* set_word(const Value& value, const Word (&words)[number], const char* expected,
                     int* member)
{
    for (const Word& word : words) {
        if (value.kind != Value::kWord || value.word != word.word) continue;
        *member = word.value;
        return nullptr;
    }
    return expected;
}

bool is_in(const std::vector<double>& numbers, double low, double high, bool is_whole)
{
    for (const double number : numbers) {
        const bool is_good = number >= low && number <= high;
        if (!is_good || (is_whole && number != double(int64_t(number)))) return false;
    }
    return true;
}

// One number for all channels, or three.
template <class Type>
bool set_channels(const Value& value, double low, double high, Type (&member)[3])
{
    constexpr bool is_whole = std::is_integral_v<Type>;
    const size_t given = value.numbers.size();
    const bool is_one = value.kind == Value::kNumber;
    if (!(is_one || (value.kind == Value::kList && given == 3)) ||
        !is_in(value.numbers, low, high, is_whole))
        return false;
    for (size_t c = 0; c < 3; ++c)
        member[c] = static_cast<Type>(value.numbers[is_one ? 0 : c]);
    return true;
}

const char* set_mean(const Value& value, Settings* settings)
{
    return set_channels(value, -1e30, 1e30, settings->mean) ? nullptr
                                                            : "a number or [red, green, blue]";
}

const char* set_scale(const Value& value, Settings* settings)
{
    float scale[3];
    bool is_good = set_channels(value, -1e30, 1e30, scale);
    for (size_t c = 0; is_good && c < 3; ++c)
        is_good = scale[c] != 0;
    if (is_good) std::copy(scale, scale + 3, settings->scale);
    return is_good ? nullptr : "a number other than 0 or [red, green, blue]";
}

const char* set_fill(const Value& value, Settings* settings)
{
    return set_channels(value, 0, 255, settings->fill)
               ? nullptr
               : "an integer from 0 to 255 or [red, green, blue]";
}

const char* set_fit(const Value& value, Settings* settings)
{
    return set_word(value, kFits, "\"stretch\", \"crop\" or \"letterbox\"", &settings->fit);
}

const char* set_format(const Value& value, Settings* settings)
{
    return set_word(value, kFormats, "\"rgb\" or \"bgr\"", &settings->format);
}

const char* set_layout(const Value& value, Settings* settings)
{
    return set_word(value, kLayouts, "\"any\", \"nchw\" or \"nhwc\"", &settings->layout);
}

const char* set_orientation(const Value& value, Settings* settings)
{
    return set_word(value, kOrientations, "\"stored\" or \"exif\"", &settings->orientation);
}

const char* set_box(const Value& value, Settings* settings)
{
    const bool is_good = value.kind == Value::kList && value.numbers.size() == 4 &&
                         is_in(value.numbers, 0, MOST_IMAGE_PIXELS, true);
    for (size_t i = 0; is_good && i < 4; ++i)
        settings->box[i] = static_cast<int>(value.numbers[i]);
    return is_good ? nullptr : "[left, top, right, bottom] in pixels";
}

const char* set_shorter_side(const Value& value, Settings* settings)
{
    const bool is_good =
        value.kind == Value::kNumber && is_in(value.numbers, 1, MOST_IMAGE_PIXELS, true);
    if (is_good) settings->shorter_side = static_cast<int>(value.numbers[0]);
    return is_good ? nullptr : "a number of pixels";
}

const char* set_size(const Value& value, Settings* settings)
{
    const bool is_good = value.kind == Value::kList && value.numbers.size() == 2 &&
                         is_in(value.numbers, 1, MOST_IMAGE_PIXELS, true);
    if (!is_good) return "[height, width] in pixels";
    settings->height = static_cast<int>(value.numbers[0]);
    settings->width = static_cast<int>(value.numbers[1]);
    return nullptr;
}

struct Key
{
    const char* name;
    Setter set;
};

constexpr Key kKeys[] = {
    {"box", set_box},
    {"fill", set_fill},
    {"fit", set_fit},
    {"format", set_format},
    {"layout", set_layout},
    {"mean", set_mean},
    {"orientation", set_orientation},
    {"scale", set_scale},
    {"shorter_side", set_shorter_side},
    {"size", set_size},
};

const Key* find_key(const std::string& name)
{
    for (const Key& key : kKeys)
        if (name == key.name) return &key;
    return nullptr;
}

std::string key_names()
{
    std::string names;
    for (const Key& key : kKeys)
        names += (names.empty() ? "" : ", ") + std::string(key.name);
    return names;
}

std::string value_text(const Value& value)
{
    if (value.kind == Value::kWord) return "\"" + value.word + "\"";
    if (value.kind == Value::kOther) return "of another kind";
    std::string text;
    for (const double number : value.numbers) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%g", number);
        text += (text.empty() ? "" : ", ") + std::string(digits);
    }
    return value.kind == Value::kList ? "[" + text + "]" : text;
}

int set_members(const Members& members, const char* where, Settings* settings)
{
    for (const auto& [name, value] : members.list()) {
        const Key* key = find_key(name);
        if (!key)
            return tengine_error_set(TENGINE_EINVAL, "%s: unknown key '%.80s', expected one of %s",
                                     where, name.c_str(), key_names().c_str());
        if (const char* expected = key->set(value, settings))
            return tengine_error_set(TENGINE_EINVAL, "%s: '%s' is %.80s, expected %s", where,
                                     key->name, value_text(value).c_str(), expected);
    }
    const int status = check_image_settings(settings);
    if (status == TENGINE_OK) return TENGINE_OK;
    const std::string reason = tengine_error_message();
    return tengine_error_set(status, "%s: %s", where, reason.c_str());
}

int parse(const char* json, size_t length, const char* where, Settings* settings)
{
    Members members;
    TENGINE_RETURN_IF_ERROR(members.read(json, length, where));
    Settings changed = *settings;
    TENGINE_RETURN_IF_ERROR(set_members(members, where, &changed));
    *settings = changed;
    return TENGINE_OK;
}

}  // namespace
}  // namespace tengine

int parse_image_settings(const char* json, size_t length, const char* where,
                         struct tengine_image_settings* settings)
{
    const auto read = [&] { return tengine::parse(json, length, where, settings); };
    const auto with_library = [&] {
        return tengine::guarded_library(read, TENGINE_EINVAL, "%s", where);
    };
    return tengine::guarded(with_library, "%s: out of memory", where);
}
