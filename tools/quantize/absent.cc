// SPDX-License-Identifier: Apache-2.0
// Stands in for quantize.cc in a build without protobuf or without the ONNX serializer.
#include <CLI/CLI.hpp>

#include "command.h"
#include "tensor_file/failure.h"

namespace tengine::tools {

void add_quantize_command(CLI::App* app)
{
    CLI::App* command = app->add_subcommand("quantize", "Not in this build, which lacks protobuf");
    command->allow_extras();
    command->callback(
        [] { throw Failure("this program was built without protobuf, which quantize needs"); });
}

}  // namespace tengine::tools
