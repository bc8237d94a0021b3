// SPDX-License-Identifier: Apache-2.0
// The standard containers that look up by key, over alloc.h; see containers.hpp. The minimal
// library has none that hashes: libstdc++'s part of that is 3 kB.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/containers.hpp"

namespace tengine {

template <class Key, class Value>
using Map = std::map<Key, Value, std::less<Key>, Allocator<std::pair<const Key, Value>>>;

template <class Key>
using Set = std::set<Key, std::less<Key>, Allocator<Key>>;

// std::hash, which knows no strings but its own.
template <class Key>
struct Hash : std::hash<Key>
{
};
template <>
struct Hash<String> : std::hash<std::string_view>
{
};

template <class Key, class Value>
using UnorderedMap = std::unordered_map<Key, Value, Hash<Key>, std::equal_to<Key>,
                                        Allocator<std::pair<const Key, Value>>>;

template <class Key>
using UnorderedSet = std::unordered_set<Key, Hash<Key>, std::equal_to<Key>, Allocator<Key>>;

}  // namespace tengine
