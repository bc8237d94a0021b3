// SPDX-License-Identifier: Apache-2.0
// The symbols that object files and libraries define and need, as nm prints them, and those that
// the public headers declare.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tengine::rules {

struct Symbols
{
    std::set<std::string> defined;
    std::map<std::string, std::string> needed;  // and an object that needs it
};

// Reads the output of `nm -A -P -g`.
Symbols read_symbols(const std::string& nm_output);

// Runs nm on the files; fails the test if it cannot.
Symbols symbols_of(const std::string& options, const std::vector<std::string>& files);

// Returns the functions that include/tengine/*.h declares with TENGINE_API.
std::set<std::string> public_functions();

}  // namespace tengine::rules
