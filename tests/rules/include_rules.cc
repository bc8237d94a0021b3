// SPDX-License-Identifier: Apache-2.0
// The include rules; see include_rules.h.
#include "rules/include_rules.h"

#include <algorithm>
#include <sstream>

#include "rules/source_tree.h"

namespace tengine::rules {

// serializer.h is the contract of serializers and not one of them. The headers of base that
// programs and providers may include are those of the target tengine_common.
const std::vector<Room>& rooms()
{
    static const std::vector<Room> table = {
        {"include/", {}},
        {"source/base/", {}},
        {"source/image/", {"base/"}},
        {"source/graph/", {"base/"}},
        {"source/operator/", {"graph/", "base/"}},
        {"source/module/", {"serializer/serializer.h", "operator/", "graph/", "base/"}},
        {"source/optimizer/", {"module/", "operator/", "graph/", "base/"}},
        {"source/serializer/",
         {"serializer/serializer.h", "serializer/image_format.hpp", "module/", "operator/",
          "graph/", "base/"}},
        {"source/device/", {"module/", "operator/", "graph/", "base/"}},
        {"source/adapter/", {"base/"}},
        {"source/calibration/", {"base/"}},
        {"source/provider/", {"base/unfinished.h", "base/utf8.h"}},
        {"source/scheduler/", {"optimizer/", "module/", "operator/", "graph/", "base/"}},
        {"source/api/",
         {"serializer/serializer.h", "scheduler/", "optimizer/", "module/", "operator/", "graph/",
          "image/", "base/"}},
        {"tools/", {"base/unfinished.h", "base/utf8.h"}},
        {"examples/", {}},
        {"benchmark/", {}},
    };
    return table;
}

namespace {

const Room* room_of(const std::string& path)
{
    for (const Room& room : rooms()) {
        if (starts_with(path, room.folder)) return &room;
    }
    return nullptr;
}

// Returns the folder below source/ of a file, as an include path: "graph/", "device/cpu/". Each
// device and each serializer has its own; they do not see each other.
std::string own_folder(const std::string& path)
{
    const std::string source = "source/";
    if (!starts_with(path, source)) return "";
    const std::string inside = path.substr(source.size());
    size_t slash = inside.find('/');
    if (starts_with(inside, "device/") || starts_with(inside, "serializer/"))
        slash = inside.find('/', slash + 1);
    return slash == std::string::npos ? "" : inside.substr(0, slash + 1);
}

bool is_our_folder(const std::string& include)
{
    const std::string top = include.substr(0, include.find('/'));
    const std::vector<std::string> names = folders_below("source");
    return include.find('/') != std::string::npos &&
           std::find(names.begin(), names.end(), top) != names.end();
}

}  // namespace

std::vector<std::string> includes_of(const std::string& text)
{
    std::vector<std::string> includes;
    std::istringstream stream(strip_comments(text));
    for (std::string line; std::getline(stream, line);) {
        const size_t hash = line.find_first_not_of(" \t");
        if (hash == std::string::npos || line[hash] != '#') continue;
        const size_t word = line.find_first_not_of(" \t", hash + 1);
        if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
        const size_t open = line.find_first_of("<\"", word + 7);
        const size_t close = line.find_first_of(">\"", open + 1);
        if (open != std::string::npos && close != std::string::npos)
            includes.push_back(line.substr(open + 1, close - open - 1));
    }
    return includes;
}

std::string judge_include(const std::string& path, const std::string& include, bool is_sibling)
{
    const Room* room = room_of(path);
    if (!room || is_sibling || starts_with(include, "tengine/")) return "";
    if (include.find("../") != std::string::npos) return "leaves its folder with ..";
    if (!is_our_folder(include)) return "";
    const std::string own = own_folder(path);
    if (!own.empty() && starts_with(include, own)) return "";
    for (const char* prefix : room->below) {
        if (starts_with(include, prefix)) return "";
    }
    return std::string(room->folder) + " may not include it";
}

}  // namespace tengine::rules
