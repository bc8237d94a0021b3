// SPDX-License-Identifier: Apache-2.0
// Files that belong to a model, such as its labels, are a ZIP archive behind the tables
// (TFLITE_METADATA names them). Its places count from the start of the file.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3
#include <algorithm>
#include <cstring>

#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

constexpr uint32_t kEntry = 0x04034b50, kDirectoryEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kDirectoryEntrySize = 46, kEndSize = 22, kMostComment = 65535;

template <class Number>
Number read(const char* bytes)
{
    Number number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

void add_to(char* bytes, int64_t change)
{
    const auto moved = static_cast<uint32_t>(int64_t{read<uint32_t>(bytes)} + change);
    std::memcpy(bytes, &moved, sizeof moved);
}

struct Archive
{
    size_t begin;      // of the first entry
    size_t directory;  // entries follow each other up to the end record
    size_t end_record;
    int64_t shift;  // from its places to those in the file
};

// The end record is the last one whose comment reaches to the end of the file.
bool find_end(const char* bytes, size_t size, size_t* out_place)
{
    if (size < kEndSize) return false;
    const size_t least = size > kEndSize + kMostComment ? size - kEndSize - kMostComment : 0;
    for (size_t place = size - kEndSize + 1; place-- > least;)
        if (read<uint32_t>(bytes + place) == kEnd &&
            place + kEndSize + read<uint16_t>(bytes + place + 20) == size) {
            *out_place = place;
            return true;
        }
    return false;
}

size_t entry_size(const char* entry)
{
    return kDirectoryEntrySize + read<uint16_t>(entry + 28) + read<uint16_t>(entry + 30) +
           read<uint16_t>(entry + 32);
}

bool find_archive(const char* bytes, size_t size, Archive* archive)
{
    if (!find_end(bytes, size, &archive->end_record)) return false;
    const size_t directory_size = read<uint32_t>(bytes + archive->end_record + 12);
    if (directory_size == 0 || directory_size > archive->end_record) return false;
    archive->directory = archive->end_record - directory_size;
    archive->shift = static_cast<int64_t>(archive->directory) -
                     int64_t{read<uint32_t>(bytes + archive->end_record + 16)};
    int64_t first = static_cast<int64_t>(archive->directory);
    for (size_t place = archive->directory; place < archive->end_record;) {
        const bool is_entry = archive->end_record - place >= kDirectoryEntrySize &&
                              read<uint32_t>(bytes + place) == kDirectoryEntry;
        if (!is_entry || entry_size(bytes + place) > archive->end_record - place) return false;
        first = std::min(first, int64_t{read<uint32_t>(bytes + place + 42)} + archive->shift);
        place += entry_size(bytes + place);
    }
    archive->begin = static_cast<size_t>(first);
    return first >= 0 && archive->begin + sizeof kEntry <= archive->directory &&
           read<uint32_t>(bytes + archive->begin) == kEntry;
}

}  // namespace

void append_archive(const char* bytes, size_t size, Vector<char>* out_bytes)
{
    Archive archive = {};
    if (!find_archive(bytes, size, &archive)) return;
    const size_t begin = out_bytes->size();
    out_bytes->insert(out_bytes->end(), bytes + archive.begin, bytes + size);
    const auto moved = [&](size_t place) {
        return out_bytes->data() + begin + place - archive.begin;
    };
    const int64_t change =
        static_cast<int64_t>(begin) - static_cast<int64_t>(archive.begin) + archive.shift;
    for (size_t place = archive.directory; place < archive.end_record;
         place += entry_size(bytes + place))
        add_to(moved(place + 42), change);
    add_to(moved(archive.end_record + 16), change);
}

}  // namespace tengine::tflite
