// SPDX-License-Identifier: Apache-2.0
// Lines of the library and of the provider, in the log of ONNX Runtime.
#pragma once

#include "runtime.h"

namespace tengine::provider {

// Sends the library's log to this logger of the host.
void open_log(const OrtLogger* logger);
// Sends it to standard error again.
void close_log();

void log_line(const OrtLogger* logger, OrtLoggingLevel level, const char* line);

// While an instance lives, the library logs nothing on this thread: for calls whose failure is a
// result.
class QuietScope
{
  public:
    QuietScope();
    ~QuietScope();
    QuietScope(const QuietScope&) = delete;
    QuietScope& operator=(const QuietScope&) = delete;
};

}  // namespace tengine::provider
