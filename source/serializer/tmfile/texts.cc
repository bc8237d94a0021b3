// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/texts.h"

#include <cstring>

namespace tengine::tmfile {

int refuse_texts(const String& what)
{
    return tengine_error_set(TENGINE_ENOTSUP, "%s: strings are not supported by a minimal build",
                             what.c_str());
}

String encode_texts(const char* const* texts, size_t number)
{
    String bytes;
    for (size_t i = 0; i < number; ++i) {
        const auto length = static_cast<uint32_t>(std::strlen(texts[i]));
        bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
        bytes.append(texts[i], length);
    }
    return bytes;
}

int decode_texts(Reading& reading, const char* bytes, size_t size, size_t number,
                 const String& what, const char** out_texts)
{
    size_t place = 0;
    for (size_t i = 0; i < number; ++i) {
        uint32_t length = 0;
        if (size - place < sizeof length)
            return tengine_error_set(TENGINE_EFORMAT,
                                     "%s: truncated: %zu bytes end at string %zu of %zu",
                                     what.c_str(), size, i, number);
        std::memcpy(&length, bytes + place, sizeof length);
        place += sizeof length;
        if (size - place < length)
            return tengine_error_set(TENGINE_EFORMAT,
                                     "%s: truncated: string %zu has %u bytes, %zu are left",
                                     what.c_str(), i, length, size - place);
        TENGINE_RETURN_IF_ERROR(
            check_ir_text(bytes + place, length, what.c_str(), static_cast<int64_t>(i)));
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(length));
        TENGINE_RETURN_IF_ERROR(
            keep_ir_string(reading.graph, bytes + place, length, &out_texts[i]));
        place += length;
    }
    if (place == size) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "%s has %zu bytes, expected %zu for its %zu strings",
                             what.c_str(), size, place, number);
}

}  // namespace tengine::tmfile
