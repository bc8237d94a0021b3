// SPDX-License-Identifier: Apache-2.0
// Exceptions become a status where the library's C++ parts are entered.
#pragma once

#include <array>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "tengine/error.h"

namespace tengine {

using Sentence = std::array<char, 1024>;

TENGINE_PRINTF(1, 0)
inline Sentence print_sentence(const char* format, va_list values)
{
    Sentence sentence;
    std::vsnprintf(sentence.data(), sentence.size(), format, values);
    return sentence;
}

// Returns the status for the exception that is being handled: TENGINE_ENOMEM with this message for
// std::bad_alloc, and for std::length_error, which a container throws for a size that no memory
// has; TENGINE_EINTERNAL for exceptions that only code called by the library throws. All handlers,
// which are many and small, share this function.
[[gnu::noinline]] TENGINE_PRINTF(1, 0) inline int fail_by_exception(const char* no_memory,
                                                                    va_list values) noexcept
{
    try {
        throw;
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    } catch (const std::exception& failure) {
        return tengine_error_set(TENGINE_EINTERNAL, "unexpected exception: %s", failure.what());
    } catch (...) {
        return tengine_error_set(TENGINE_EINTERNAL, "unexpected exception: not a std::exception");
    }
    return tengine_error_set(TENGINE_ENOMEM, "%s", print_sentence(no_memory, values).data());
}

// Returns the result of work(), or fail_by_exception() with this message when it throws. The
// message is printed after the failure: the variables that its arguments refer to must outlive
// `work`.
template <class Work>
TENGINE_PRINTF(2, 3)
int guarded(const Work& work, const char* no_memory, ...)
{
    try {
        return work();
    } catch (...) {
        va_list values;
        va_start(values, no_memory);
        const int status = fail_by_exception(no_memory, values);
        va_end(values);
        return status;
    }
}

template <auto function, class Type = decltype(function)>
struct GuardedEntry;

template <auto function, class... Arguments>
struct GuardedEntry<function, int (*)(Arguments...)>
{
    static int call(Arguments... arguments)
    {
        return guarded([&] { return function(arguments...); }, "out of memory");
    }
};

// `function` with guarded() around it, for tables of functions that C calls.
template <auto function>
constexpr auto guarded_entry = GuardedEntry<function>::call;

// The same for exceptions of a library: `code` with this message, a colon, and the library's
// message. std::bad_alloc, and exceptions other than std::exception, are left to guarded().
template <class Work>
TENGINE_PRINTF(3, 4)
int guarded_library(const Work& work, int code, const char* failed, ...)
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& failure) {
        va_list values;
        va_start(values, failed);
        const Sentence sentence = print_sentence(failed, values);
        va_end(values);
        return tengine_error_set(code, "%s: %s", sentence.data(), failure.what());
    }
}

}  // namespace tengine
