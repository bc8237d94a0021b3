// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any string as an option of the simulated TPU, "<key>=<value>".
#include <cstddef>
#include <cstdint>
#include <string>

#include "device/tpu/driver.h"
#include "fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    const size_t end = text.find('=');
    const std::string value = end == std::string::npos ? "" : text.substr(end + 1);
    tengine::tpu::Options options;
    tengine::test::note_input(tengine::tpu::set_option(text.substr(0, end), value, &options) == 0);
    return 0;
}
