// SPDX-License-Identifier: Apache-2.0
#include "calibration/failure.h"

#include <cstdarg>

#include "base/guard.hpp"
#include "tengine/log.h"

namespace tengine::calibration {

int fail(int code, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    const Sentence sentence = print_sentence(format, values);
    va_end(values);
    tengine_error_set(code, "%s", sentence.data());
    TLOG_ERR("%s", sentence.data());
    return code;
}

}  // namespace tengine::calibration
