// SPDX-License-Identifier: Apache-2.0
// Names of nodes and tensors: the file's, if they are free, else new ones.
#pragma once

#include <string_view>

#include "base/containers.hpp"
#include "base/maps.hpp"

namespace tengine {

class Names
{
  public:
    // Names of the file may then be equal, as those of an execution graph are.
    void allow_equal() { may_be_equal_ = true; }

    // The file's next name, "" for none. It must outlive the object.
    void add(std::string_view name)
    {
        const bool is_free = !name.empty() && (taken_.insert(name).second || may_be_equal_);
        names_.push_back({name, is_free});
    }

    // The name of entry `index`, after all were added; `kind` serves where the file has none.
    String choose(uint32_t index, const char* kind)
    {
        const Entry& entry = names_[index];
        if (entry.is_free) return String(entry.name);
        String made(entry.name.empty() ? kind : entry.name);
        made += "_" + to_string(index);
        while (taken_.count(made) != 0 || !made_up_.insert(made).second)
            made += "_";
        return made;
    }

  private:
    struct Entry
    {
        std::string_view name;
        bool is_free;
    };

    bool may_be_equal_ = false;
    Vector<Entry> names_;
    Set<std::string_view> taken_;  // by the file
    Set<String> made_up_;
};

}  // namespace tengine
