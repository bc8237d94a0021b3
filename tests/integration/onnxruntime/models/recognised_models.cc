// SPDX-License-Identifier: Apache-2.0
// Writes the models of tests/tools/recognised_model.h: recognised_models FOLDER. Prints a line for
// each: the folder of the model, and the operator that stands for its nodes.
#include <cstdio>
#include <filesystem>

#include "tools/recognised_model.h"

int main(int number, char** arguments)
{
    if (number != 2) {
        std::fprintf(stderr, "usage: recognised_models FOLDER\n");
        return 2;
    }
    for (const auto& model : tengine::program::kRecognisedModels) {
        const std::string folder = std::string(arguments[1]) + "/" + model.name;
        std::filesystem::create_directories(folder);
        tengine::program::write_recognised(model, folder);
        std::printf("%s %s\n", model.name, model.op);
    }
    return 0;
}
