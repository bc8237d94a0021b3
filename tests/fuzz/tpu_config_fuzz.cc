// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any string as a configuration of the simulated TPU. A configuration that was read
// prints to a string from which reading gives the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "device/tpu/machine/config.h"
#include "fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tengine::tpu;
    Config config, again;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const bool is_read = parse_config(text, "the input", &config) == 0;
    tengine::test::note_input(is_read);
    if (!is_read) return 0;
    const std::string printed = print_config(config);
    if (parse_config(printed, "what was printed", &again) != 0 || print_config(again) != printed)
        std::abort();
    return 0;
}
