// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/table.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <locale>
#include <sstream>
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
    std::ifstream file(path, std::ios::binary);
    char chunk[4096];
    while (file && out_text->size() <= kMostBytes) {
        file.read(chunk, sizeof chunk);
        out_text->append(chunk, static_cast<size_t>(file.gcount()));
    }
    if (out_text->size() > kMostBytes)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "'%s' has more than %zu bytes, which no "
                                 "calibration table has",
                                 path, kMostBytes);
    if (!file.eof())
        return tengine_error_set(TENGINE_EIO, "cannot read the calibration table '%s'", path);
    return TENGINE_OK;
}

bool starts_with(const std::string& text, const std::string& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

class Reader
{
  public:
    Reader(const char* path, CalibrationTable& table) : path_(path), table_(table) {}

    int read(const std::string& text)
    {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
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
        std::istringstream words(line);
        words.imbue(std::locale::classic());
        double scale = 0;
        long zero_point = 0;
        std::string name;
        words >> scale >> zero_point;
        if (!words || words.get() != ' ' || !std::getline(words, name) || name.empty())
            return fail("'" + shown +
                        "' is neither '<scale> <zero point> <tensor>' nor 'keep <node>'");
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
