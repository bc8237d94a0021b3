// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any string as options of a context, a line each: "<key>=<value>". An option that was
// set has the value when it is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "fuzz/refusal.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"

extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    set_log_level(LOG_EMERG);
    return init_tengine();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    context_t context = create_context("fuzz", 1);
    for (int i = 0; i < tengine_device_get_number(); ++i)
        if (add_context_device(context, tengine_device_get_name(i)) != 0) clr_tengine_errno();
    std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
    bool is_set = true;
    for (std::string line; is_set && std::getline(lines, line);) {
        const size_t end = line.find('=');
        const std::string key = line.substr(0, end);
        const std::string value = end == std::string::npos ? "" : line.substr(end + 1);
        is_set = tengine_context_set_option(context, key.c_str(), value.c_str()) == 0;
        // A string ends at its first NUL.
        if (is_set &&
            tengine_context_get_option(context, key.c_str()) != std::string(value.c_str()))
            std::abort();
    }
    tengine::test::note_input(is_set);
    destroy_context(context);
    return 0;
}
