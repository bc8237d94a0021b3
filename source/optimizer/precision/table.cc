// SPDX-License-Identifier: Apache-2.0
// No streams: with their locales they would be a third of a small program.
#include "optimizer/precision/table.h"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unordered_set>

#include "tengine/error.h"

namespace tengine {
namespace {

constexpr const char* kTitle = "# tengine calibration table 1";
constexpr const char* kKeep = "keep ";
// Far more than any model has; it keeps an endless file from claiming all memory.
constexpr size_t kMostBytes = size_t{64} << 20;

int read_file(const char* path, std::string* out_text)
{
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "rb"), std::fclose);
    char chunk[4096];
    while (file && !std::feof(file.get()) && !std::ferror(file.get()) &&
           out_text->size() <= kMostBytes)
        out_text->append(chunk, std::fread(chunk, 1, sizeof chunk, file.get()));
    if (out_text->size() > kMostBytes)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "'%s' has more than %zu bytes, which no "
                                 "calibration table has",
                                 path, kMostBytes);
    if (!file || std::ferror(file.get()))
        return tengine_error_set(TENGINE_EIO, "cannot read the calibration table '%s'", path);
    return TENGINE_OK;
}

bool starts_with(const std::string& text, const std::string& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

// Reads a decimal number with a point, whatever the program's locale has there, and moves *text
// behind it.
bool read_number(const char** text, double* out_number)
{
    const size_t length = std::strspn(*text, "+-.0123456789eE");
    std::string digits(*text, length);
    const size_t point = digits.find('.');
    if (point != std::string::npos) digits.replace(point, 1, std::localeconv()->decimal_point);
    char* end = nullptr;
    *out_number = std::strtod(digits.c_str(), &end);
    *text += length;
    return length > 0 && *end == '\0' && std::isfinite(*out_number);
}

class Reader
{
  public:
    Reader(const char* path, CalibrationTable& table) : path_(path), table_(table) {}

    int read(const std::string& text)
    {
        for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
            end = std::min(text.find('\n', begin), text.size());
            std::string line = text.substr(begin, end - begin);
            if (!line.empty() && line.back() == '\r') line.pop_back();
            TENGINE_RETURN_IF_ERROR(read_line(line, ++line_));
        }
        return line_ > 0 ? TENGINE_OK : fail("the file is empty");
    }

  private:
    int fail(const std::string& cause) const
    {
        return tengine_error_set(TENGINE_EFORMAT, "calibration table '%s', line %d: %s", path_,
                                 line_ > 0 ? line_ : 1, cause.c_str());
    }

    int fail_line(const std::string& shown) const
    {
        return fail("'" + shown + "' is neither '<scale> <zero point> <tensor>' nor 'keep <node>'");
    }

    int read_line(const std::string& line, int number)
    {
        const std::string shown = line.substr(0, 100);
        if (number == 1 && line != kTitle) return fail("'" + shown + "' is not '" + kTitle + "'");
        if (number == 1 || line.empty()) return TENGINE_OK;
        if (!starts_with(line, kKeep)) return read_tensor(line, shown);
        table_.nodes.push_back({line.substr(std::string(kKeep).size()), number});
        return TENGINE_OK;
    }

    int read_tensor(const std::string& line, const std::string& shown)
    {
        const char* rest = line.c_str();
        double scale = 0;
        if (!read_number(&rest, &scale) || *rest != ' ') return fail_line(shown);
        char* name_begin = nullptr;
        errno = 0;
        const long zero_point = std::strtol(rest, &name_begin, 10);
        if (errno != 0 || name_begin == rest || name_begin[0] != ' ' || name_begin[1] == '\0')
            return fail_line(shown);
        const std::string name = name_begin + 1;
        const auto narrowed = static_cast<float>(scale);
        if (!std::isfinite(narrowed) || narrowed <= 0)
            return fail("in '" + shown + "' the scale is not a positive number of fp32");
        if (zero_point < -128 || zero_point > 127)
            return fail("the zero point " + std::to_string(zero_point) + " of '" + name +
                        "' is not in -128 to 127");
        if (!names_.insert(name).second) return fail("'" + name + "' was there before");
        table_.tensors.push_back({name, narrowed, static_cast<int>(zero_point), line_});
        return TENGINE_OK;
    }

    const char* path_;
    CalibrationTable& table_;
    std::unordered_set<std::string> names_;
    int line_ = 0;
};

}  // namespace

int read_calibration_table(const char* path, CalibrationTable* out_table)
{
    std::string text;
    TENGINE_RETURN_IF_ERROR(read_file(path, &text));
    return Reader(path, *out_table).read(text);
}

}  // namespace tengine
