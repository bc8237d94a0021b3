// SPDX-License-Identifier: Apache-2.0
// Reads and applies the list. The contract is in not_supported.h.
#include "conformance/not_supported.h"

#include <sstream>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::conformance {
namespace {

// Reasons that begin so: the expected values do not follow from the model.
constexpr char kMistaken[] = "mistaken";
// Reasons that begin so: the expected values are less exact than the library's.
constexpr char kRounding[] = "rounding";

bool begins_with(const std::string& text, const char* word)
{
    return text.rfind(word, 0) == 0;
}

void add_line(const std::string& line, NotSupportedList* list)
{
    const size_t space = line.find(' ');
    const size_t reason = line.find_first_not_of(' ', space);
    if (reason == std::string::npos) throw tools::Failure("'" + line + "' has no reason");
    const std::string name = line.substr(0, space);
    if (!list->empty() && name <= list->rbegin()->first)
        throw tools::Failure("'" + name + "' is not in alphabetical order");
    list->emplace(name, line.substr(reason));
}

}  // namespace

NotSupportedList read_not_supported(const std::vector<std::string>& paths)
{
    NotSupportedList all;
    for (const std::string& path : paths) {
        NotSupportedList list;
        std::istringstream lines(tools::read_file(path));
        for (std::string line; std::getline(lines, line);) {
            if (!line.empty() && line[0] != '#') add_line(line, &list);
        }
        all.merge(list);
        if (!list.empty()) throw tools::Failure("'" + list.begin()->first + "' is in two lists");
    }
    return all;
}

Outcome judge(const std::string& name, const Outcome& outcome, const NotSupportedList& list)
{
    const auto entry = list.find(name);
    if (outcome.verdict == Verdict::kNotInOpset) return outcome;
    if (entry == list.end())
        return outcome.verdict == Verdict::kPassed ? outcome
                                                   : Outcome{Verdict::kFailed, outcome.reason};
    const std::string listed = "listed as not supported (" + entry->second + "), but ";
    const bool may_differ =
        begins_with(entry->second, kRounding) || begins_with(entry->second, kMistaken);
    if (outcome.verdict == Verdict::kPassed)
        return {Verdict::kFailed, listed + "it passes: remove it from the list"};
    if (outcome.verdict == Verdict::kFailed && !may_differ)
        return {Verdict::kFailed, listed + "it was not refused as such: " + outcome.reason};
    return {Verdict::kNotSupported, "as listed, " + entry->second};
}

}  // namespace tengine::conformance
