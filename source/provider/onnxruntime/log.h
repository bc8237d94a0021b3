// SPDX-License-Identifier: Apache-2.0
// Lines of the library and of the provider, in the log of ONNX Runtime.
#pragma once

#include "runtime.h"

namespace tengine::provider {

// From here on the library's lines go to this logger of the host.
void open_log(const OrtLogger* logger);
// Sends them to standard error again.
void close_log();

void log_line(const OrtLogger* logger, OrtLoggingLevel level, const char* line);

// While it lives, the library logs nothing on this thread: for questions whose answer may be no.
class QuietScope
{
  public:
    QuietScope();
    ~QuietScope();
    QuietScope(const QuietScope&) = delete;
    QuietScope& operator=(const QuietScope&) = delete;
};

}  // namespace tengine::provider
