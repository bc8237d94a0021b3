// SPDX-License-Identifier: Apache-2.0
// Whether an emulator runs the tests. It is about twenty times as slow as the processor: tests that
// try every position try only some of them there, and print the number.
#pragma once

namespace tengine::test {

#ifdef TENGINE_EMULATED
inline constexpr bool kEmulated = true;
#else
inline constexpr bool kEmulated = false;
#endif

}  // namespace tengine::test
