// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>

#include "base/maps.hpp"
#include "base/small_file.h"
#include "tengine/error.h"

namespace tengine {
namespace {

constexpr const char* kTitle = "# tengine calibration table 1";
constexpr const char* kKeep = "keep ";
// Far more than any model needs; limits the memory for an endless file.
constexpr size_t kMostBytes = size_t{64} << 20;

// Takes a number and the blanks before it from `text`, in any locale; false when there is none.
template <class Number>
bool take_number(std::string_view* text, Number* out_number)
{
    text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
    // std::from_chars accepts "nan" and "inf", too.
    if (text->find_first_of("-.0123456789") != 0) return false;
    const auto result = std::from_chars(text->data(), text->data() + text->size(), *out_number);
    text->remove_prefix(static_cast<size_t>(result.ptr - text->data()));
    return result.ec == std::errc();
}

bool starts_with(const String& text, const String& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

class Reader
{
  public:
    Reader(const char* path, CalibrationTable& table) : path_(path), table_(table) {}

    int read(std::string_view text)
    {
        for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
            end = std::min(text.find('\n', begin), text.size());
            String line(text.substr(begin, end - begin));
            if (!line.empty() && line.back() == '\r') line.pop_back();
            TENGINE_RETURN_IF_ERROR(read_line(line, ++line_));
        }
        return line_ > 0 ? TENGINE_OK : fail("the file is empty");
    }

  private:
    int fail(const String& cause) const
    {
        return tengine_error_set(TENGINE_EFORMAT, "calibration table '%s', line %d: %s", path_,
                                 line_ > 0 ? line_ : 1, cause.c_str());
    }

    int read_line(const String& line, int number)
    {
        const String shown = line.substr(0, 100);
        if (number == 1 && line != kTitle)
            return fail("'" + shown + "': expected '" + kTitle + "'");
        if (number == 1 || line.empty()) return TENGINE_OK;
        if (!starts_with(line, kKeep)) return read_tensor(line, shown);
        table_.nodes.push_back({line.substr(String(kKeep).size()), number});
        return TENGINE_OK;
    }

    int read_tensor(const String& line, const String& shown)
    {
        std::string_view rest = line;
        double scale = 0;
        int zero_point = 0;
        if (!take_number(&rest, &scale) || !take_number(&rest, &zero_point) || rest.size() < 2 ||
            rest.front() != ' ')
            return fail("'" + shown +
                        "': expected '<scale> <zero point> <tensor>' or 'keep <node>'");
        const String name(rest.substr(1));
        const auto narrowed = static_cast<float>(scale);
        if (!std::isfinite(narrowed) || narrowed <= 0)
            return fail("'" + shown + "': the scale is not a positive number of fp32");
        if (zero_point < -128 || zero_point > 127)
            return fail("'" + name + "' has the zero point " + to_string(zero_point) +
                        ", expected -128 to 127");
        if (!names_.insert(name).second) return fail("'" + name + "' is given twice");
        table_.tensors.push_back({name, narrowed, zero_point, line_});
        return TENGINE_OK;
    }

    const char* path_;
    CalibrationTable& table_;
    UnorderedSet<String> names_;
    int line_ = 0;
};

}  // namespace

int read_calibration_table(const char* path, CalibrationTable* out_table)
{
    char* bytes = nullptr;
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(
        read_small_file(path, "the calibration table", kMostBytes, &bytes, &size));
    const std::unique_ptr<char, void (*)(void*)> freed(bytes, free_memory);
    return Reader(path, *out_table).read({bytes, size});
}

}  // namespace tengine
