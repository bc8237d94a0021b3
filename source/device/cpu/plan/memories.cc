// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/memories.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/minimal.h"
#include "tengine/error.h"

namespace tengine::cpu {
namespace {

constexpr char kForm[] =
    "NAME:BYTES:NS for each memory, the fastest first, separated by commas, such as "
    "SRAM:524288:1,DRAM:0:8";

int fail_memory(const char* text, const char* fault)
{
    return tengine_error_set(TENGINE_EINVAL, "CPU: invalid memories '%.100s': %s: expected %s",
                             text, fault, kForm);
}

bool is_name_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// Reads a name up to a colon; false if there is none.
bool read_name(const char** cursor, char* name, size_t size)
{
    size_t length = 0;
    while (is_name_character((*cursor)[length]))
        ++length;
    if (length == 0 || length >= size || (*cursor)[length] != ':') return false;
    std::memcpy(name, *cursor, length);
    *cursor += length + 1;
    return true;
}

// Reads a number of bytes up to a colon; false if there is none.
bool read_bytes(const char** cursor, int64_t* out_bytes)
{
    if (**cursor < '0' || **cursor > '9') return false;
    char* end = nullptr;
    errno = 0;
    const long long bytes = std::strtoll(*cursor, &end, 10);
    if (errno != 0 || *end != ':' || bytes > int64_t{1} << 48) return false;
    *out_bytes = bytes;
    *cursor = end + 1;
    return true;
}

// Reads a time in decimals up to a comma or the end, in any locale; false if there is none.
bool read_time(const char** cursor, double* out_ns)
{
    const char* next = *cursor;
    double value = 0, place = 1;
    bool is_fraction = false;
    for (; (*next >= '0' && *next <= '9') || (*next == '.' && !is_fraction); ++next) {
        if (*next == '.') {
            is_fraction = true;
            continue;
        }
        value = value * 10 + (*next - '0');
        if (is_fraction) place *= 10;
    }
    *out_ns = value / place;
    if (next - *cursor > 20 || !(*out_ns > 0) || (*next != ',' && *next)) return false;
    *cursor = next;
    return true;
}

bool has_name(const Vector<ir_memory_t>& memories, const char* name)
{
    for (const ir_memory_t& memory : memories)
        if (std::strcmp(memory.name, name) == 0) return true;
    return false;
}

int read_memory(const char* text, const char** cursor, Vector<ir_memory_t>* memories)
{
    ir_memory_t memory = {};
    if (!read_name(cursor, memory.name, sizeof memory.name))
        return fail_memory(text, "a name has 1 to 15 letters, digits and '_'");
    if (!read_bytes(cursor, &memory.bytes))
        return fail_memory(text, "a size is a number of bytes up to 2^48");
    if (!read_time(cursor, &memory.ns_per_kib))
        return fail_memory(text, "a time is a number of ns above 0 for 1 KiB");
    if (has_name(*memories, memory.name)) return fail_memory(text, "a name occurs twice");
    if (!memories->empty() && memories->back().bytes == 0)
        return fail_memory(text, "the last memory alone has the size 0, any number of bytes");
    if (!memories->empty() && memories->back().ns_per_kib > memory.ns_per_kib)
        return fail_memory(text, "a memory is slower than the next one");
    if (memories->size() == IR_MOST_MEMORIES) return fail_memory(text, "there are more than four");
    memories->push_back(memory);
    return TENGINE_OK;
}

}  // namespace

int parse_memories(const char* text, Vector<ir_memory_t>* out_memories)
{
    const char* cursor = text;
    for (;;) {
        TENGINE_RETURN_IF_ERROR(read_memory(text, &cursor, out_memories));
        if (!*cursor) break;
        ++cursor;
    }
    if (out_memories->back().bytes != 0)
        return fail_memory(text, "the last memory must have the size 0, any number of bytes");
    return TENGINE_OK;
}

Vector<ir_memory_t> list_memories(const graph& graph, const struct device* device)
{
    Vector<ir_memory_t> memories;
    const char* text = IS_MINIMAL ? nullptr : get_ir_device_option(&graph, device, "memories");
    // It has been checked when it was set.
    if (text && *text && parse_memories(text, &memories) < 0) memories.clear();
    return memories;
}

Vector<memory_tier_t> list_tiers(const subgraph& part, const struct device* device)
{
    Vector<memory_tier_t> tiers;
    int index = 0;
    for (const ir_memory_t& memory : list_memories(*part.graph, device))
        tiers.push_back({get_ir_part_room(&part, index++), memory.ns_per_kib, 0});
    // A device that has the part compiled by this one has one memory.
    if (!tiers.empty() && tiers.back().bytes == 0) tiers.clear();
    if (tiers.empty()) tiers.push_back({SIZE_MAX, 1, 0});
    return tiers;
}

}  // namespace tengine::cpu
