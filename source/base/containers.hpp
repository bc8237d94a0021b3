// SPDX-License-Identifier: Apache-2.0
// The standard containers and strings over alloc.h, for the library's C++ parts: their memory comes
// from the program's arena when there is one. A short string needs no memory (15 characters).
// Those that look up by key are in maps.hpp, which takes longer to compile, sorting is in sort.hpp.
// They throw std::bad_alloc, which becomes a status where the part's functions are entered.
//
// The standard library has more that allocates from the heap and has no place here: std::function,
// streams, std::stable_sort, plain new. tests/rules looks for it in the object files.
#pragma once

#include <charconv>
#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include "base/alloc.h"

namespace tengine {

// Returns `size` bytes; throws std::bad_alloc.
inline void* alloc_or_throw(size_t size)
{
    void* memory = alloc_raw_memory(size);
    if (!memory) throw std::bad_alloc();
    return memory;
}

// The allocator of all containers. It has no state: any instance frees blocks of another.
template <class T>
struct Allocator
{
    static_assert(alignof(T) <= alignof(std::max_align_t));
    using value_type = T;

    Allocator() = default;
    template <class Other>
    Allocator(const Allocator<Other>&) noexcept
    {
    }

    T* allocate(size_t number)
    {
        size_t size;
        if (!checked_multiply(number, sizeof(T), &size)) throw std::bad_alloc();
        return static_cast<T*>(alloc_or_throw(size));
    }
    void deallocate(T* memory, size_t) noexcept { free_memory(memory); }

    template <class Other>
    bool operator==(const Allocator<Other>&) const
    {
        return true;
    }
    template <class Other>
    bool operator!=(const Allocator<Other>&) const
    {
        return false;
    }
};

template <class T>
using Vector = std::vector<T, Allocator<T>>;

using String = std::basic_string<char, std::char_traits<char>, Allocator<char>>;

// A base class for the memory of `new` of a derived class. `new (std::nothrow)` gives null
// when out of memory.
struct Allocated
{
    static void* operator new(size_t size) { return alloc_or_throw(size); }
    static void* operator new(size_t size, const std::nothrow_t&) noexcept
    {
        return alloc_raw_memory(size);
    }
    static void operator delete(void* memory) { free_memory(memory); }
    static void operator delete(void* memory, const std::nothrow_t&) noexcept
    {
        free_memory(memory);
    }
};

// std::to_string for integers.
template <class Integer>
String to_string(Integer number)
{
    char digits[24];  // 64 bits and a sign
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
    (void)error;
    return String(digits, end);
}

}  // namespace tengine
