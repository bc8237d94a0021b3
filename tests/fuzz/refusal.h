// SPDX-License-Identifier: Apache-2.0
// The outcome of each input of a fuzz target, for libFuzzer and replay.cc.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "tengine/error.h"

namespace tengine::test {

inline size_t accepted_inputs = 0;
inline size_t run_inputs = 0;  // of these

// Called after every refusal. One without a code and a message ends the program, as a crash does;
// the error is cleared, so that the next input does not see it.
inline void note_refusal()
{
    const int code = tengine_error_code();
    if (code >= 0 || tengine_error_message()[0] == '\0') {
        std::fprintf(stderr, "an input is refused with code %d and the message '%s'\n", code,
                     tengine_error_message());
        std::abort();
    }
    tengine_error_clear();
}

// Called after every input.
inline void note_input(bool is_accepted)
{
    if (!is_accepted) return note_refusal();
    ++accepted_inputs;
    tengine_error_clear();
}

}  // namespace tengine::test
