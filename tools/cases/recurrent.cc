// SPDX-License-Identifier: Apache-2.0
#include "cases/case.h"

namespace tengine::tools {
namespace {

struct Layer
{
    int steps, batch, input, hidden;
    const char* direction = "forward";
};

void add_layer(const char* op, int gates, const Layer& layer, std::vector<Case>* cases)
{
    const int directions = layer.direction[0] == 'b' ? 2 : 1;
    Case made = {op,
                 {fed({layer.steps, layer.batch, layer.input}),
                  constant({directions, gates * layer.hidden, layer.input}),
                  constant({directions, gates * layer.hidden, layer.hidden}),
                  constant({directions, 2 * gates * layer.hidden})}};
    made.ints = {{"hidden_size", layer.hidden}};
    made.texts = {{"direction", layer.direction}};
    made.outputs = {kCaseType, kCaseType};
    if (std::string(op) == "tengine.ClippedLSTM") made.floats = {{"cell_clip", 0.2F}};
    made.low = -0.5;
    made.high = 0.5;
    made.types = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_FP64};
    made.shape_class = directions == 2    ? "both directions"
                       : layer.steps == 1 ? "one step"
                       : layer.batch > 1  ? "batch"
                                          : "sequence";
    cases->push_back(made);
}

}  // namespace

void add_recurrent_cases(std::vector<Case>* cases)
{
    for (const auto& [op, gates] : std::vector<std::pair<const char*, int>>{
             {"LSTM", 4}, {"GRU", 3}, {"RNN", 1}, {"tengine.ClippedLSTM", 4}})
        for (const Layer& layer : std::vector<Layer>{{1, 1, 5, 7},
                                                     {9, 1, 13, 16},
                                                     {5, 3, 7, 33},
                                                     {7, 2, 9, 8, "reverse"},
                                                     {5, 1, 16, 17, "bidirectional"}})
            add_layer(op, gates, layer, cases);
}

}  // namespace tengine::tools
