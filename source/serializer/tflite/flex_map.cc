// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/flex_map.h"

#include <cstring>

namespace tengine::tflite {
namespace {

// Types of FlexBuffers; a packed type has the logarithm of the width in its lowest two bits.
enum
{
    kInt = 1,
    kUnsigned = 2,
    kFloat = 3,
    kKey = 4,
    kString = 5,
    kIndirectInt = 6,
    kIndirectUnsigned = 7,
    kIndirectFloat = 8,
    kMap = 9,
    kVector = 10,
    kVectorInt = 11,
    kVectorUnsigned = 12,
    kVectorFloat = 13,
    kVectorKey = 14,
    kVectorString = 15,
    kBool = 26,
    kVectorBool = 36
};

int type_of(uint8_t packed)
{
    return packed >> 2;
}

size_t width_of(uint8_t packed)
{
    return size_t{1} << (packed & 3);
}

bool is_inline(int type)
{
    return type == kInt || type == kUnsigned || type == kFloat || type == kBool;
}

// The type of the elements of a vector of one type; 0: of any.
int element_type(int vector)
{
    switch (vector) {
        case kVectorInt:
            return kInt;
        case kVectorUnsigned:
            return kUnsigned;
        case kVectorFloat:
            return kFloat;
        case kVectorKey:
            return kKey;
        case kVectorString:
            return kString;
        case kVectorBool:
            return kBool;
        default:
            return 0;
    }
}

}  // namespace

bool FlexMap::read_unsigned(size_t place, size_t width, uint64_t* out_value) const
{
    if (place > size_ || width > size_ - place) return false;
    *out_value = 0;
    for (size_t i = width; i-- > 0;)
        *out_value = *out_value << 8 | bytes_[place + i];
    return true;
}

// An offset counts backwards from its own place.
bool FlexMap::follow(size_t place, size_t width, size_t* out_target) const
{
    uint64_t offset = 0;
    if (!read_unsigned(place, width, &offset) || offset > place) return false;
    *out_target = place - static_cast<size_t>(offset);
    return true;
}

bool FlexMap::count_elements(size_t place, size_t width, size_t* out_number) const
{
    uint64_t number = 0;
    if (place < width || !read_unsigned(place - width, width, &number) || number > size_)
        return false;
    *out_number = static_cast<size_t>(number);
    return true;
}

void FlexMap::find_root()
{
    if (size_ < 3) return;
    const uint8_t packed = bytes_[size_ - 2];
    const size_t parent = bytes_[size_ - 1], width = width_of(packed);
    if (type_of(packed) != kMap || (parent != 1 && parent != 2 && parent != 4 && parent != 8) ||
        size_ - 2 < parent || !follow(size_ - 2 - parent, parent, &map_) || map_ < 3 * width)
        return;
    uint64_t key_width = 0;
    size_t keys = 0;
    if (!count_elements(map_, width, &number_) || !follow(map_ - 3 * width, width, &keys_) ||
        !read_unsigned(map_ - 2 * width, width, &key_width) ||
        (key_width != 1 && key_width != 2 && key_width != 4 && key_width != 8))
        return;
    key_width_ = static_cast<size_t>(key_width);
    if (count_elements(keys_, key_width_, &keys) && keys == number_) width_ = width;
}

bool FlexMap::read_key(size_t place, std::string_view* out_key) const
{
    const auto* begin = reinterpret_cast<const char*>(bytes_) + place;
    const void* end = place < size_ ? std::memchr(begin, 0, size_ - place) : nullptr;
    if (!end) return false;
    *out_key = std::string_view(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
    return true;
}

bool FlexMap::read_text(size_t place, size_t width, std::string_view* out_text) const
{
    size_t length = 0;
    if (!count_elements(place, width, &length) || place > size_ || length > size_ - place)
        return false;
    *out_text = std::string_view(reinterpret_cast<const char*>(bytes_) + place, length);
    return true;
}

bool FlexMap::read_number(const Value& value, int type, size_t width, Entry* entry) const
{
    uint64_t bits = 0;
    if (!read_unsigned(value.place, width, &bits)) return false;
    if (type != kFloat) {
        const unsigned unused = 64 - 8 * static_cast<unsigned>(width);
        const auto shifted = static_cast<int64_t>(bits << unused);
        entry->ints.push_back(type == kInt ? shifted >> unused : static_cast<int64_t>(bits));
        return true;
    }
    if (width == 4) {
        const auto low = static_cast<uint32_t>(bits);
        float number = 0;
        std::memcpy(&number, &low, sizeof number);
        entry->floats.push_back(static_cast<double>(number));
        return true;
    }
    double number = 0;
    if (width != sizeof number) return false;
    std::memcpy(&number, &bits, sizeof number);
    entry->floats.push_back(number);
    return true;
}

// A number or text; several of them are the elements of one list.
bool FlexMap::read_element(int type, const Value& value, Entry* entry) const
{
    if (is_inline(type)) return read_number(value, type, value.parent_width, entry);
    const size_t width = width_of(value.packed);
    Value target = value;
    std::string_view text;
    if (!follow(value.place, value.parent_width, &target.place)) return false;
    switch (type) {
        case kIndirectInt:
            return read_number(target, kInt, width, entry);
        case kIndirectUnsigned:
            return read_number(target, kUnsigned, width, entry);
        case kIndirectFloat:
            return read_number(target, kFloat, width, entry);
        case kKey:
            if (!read_key(target.place, &text)) return false;
            break;
        case kString:
            if (!read_text(target.place, width, &text)) return false;
            break;
        default:
            return false;
    }
    entry->texts.push_back(text);
    return true;
}

bool FlexMap::read_vector(int type, size_t place, size_t width, Entry* entry) const
{
    size_t number = 0;
    if (!count_elements(place, width, &number) || place > size_ || number > (size_ - place) / width)
        return false;
    const size_t types = place + number * width;
    for (size_t i = 0; i < number; ++i) {
        const bool is_mixed = type == kVector;
        if (is_mixed && types + i >= size_) return false;
        const uint8_t packed =
            is_mixed ? bytes_[types + i] : static_cast<uint8_t>(element_type(type) << 2);
        if (!read_element(type_of(packed), {place + i * width, width, packed}, entry)) return false;
    }
    return true;
}

bool FlexMap::read_value(const Value& value, Entry* entry) const
{
    const int type = type_of(value.packed);
    const bool is_list = type == kVector || element_type(type) != 0;
    if (!is_list) {
        if (!read_element(type, value, entry)) return false;
        entry->kind = !entry->ints.empty()     ? Kind::kInt
                      : !entry->floats.empty() ? Kind::kFloat
                                               : Kind::kText;
        return true;
    }
    size_t place = 0;
    if (!follow(value.place, value.parent_width, &place) ||
        !read_vector(type, place, width_of(value.packed), entry))
        return false;
    const int kinds = !entry->ints.empty() + !entry->floats.empty() + !entry->texts.empty();
    if (kinds > 1) return false;
    entry->kind = !entry->floats.empty()  ? Kind::kFloats
                  : !entry->texts.empty() ? Kind::kTexts
                                          : Kind::kInts;
    return true;
}

FlexMap::Entry FlexMap::get(size_t index) const
{
    Entry entry;
    size_t key = 0;
    const size_t types = map_ + number_ * width_;
    if (types + index >= size_ || !follow(keys_ + index * key_width_, key_width_, &key) ||
        !read_key(key, &entry.name) ||
        !read_value({map_ + index * width_, width_, bytes_[types + index]}, &entry)) {
        Entry other;
        other.name = entry.name;
        return other;
    }
    return entry;
}

}  // namespace tengine::tflite
