// SPDX-License-Identifier: Apache-2.0
// The contract is in token_bench.h.
#include "token_bench.h"

#include <cstdio>
#include <random>

#include "decoder.h"
#include "interrupt.h"
#include "peak_memory.h"
#include "stopwatch.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

void check_room(const Decoder& decoder, const std::string& path, const TokenOptions& tokens)
{
    const int needed = tokens.prompt + tokens.tokens;
    if (needed <= decoder.room()) return;
    throw Failure(path + ": its cache has room for " + std::to_string(decoder.room()) +
                  " tokens, --prompt " + std::to_string(tokens.prompt) + " and --tokens " +
                  std::to_string(tokens.tokens) + " need " + std::to_string(needed));
}

std::vector<int> make_prompt(int tokens, int vocabulary, uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::vector<int> prompt(static_cast<size_t>(tokens));
    for (int& token : prompt)
        token = static_cast<int>(random() % static_cast<uint64_t>(vocabulary));
    return prompt;
}

// False: Ctrl-C was pressed.
bool make_tokens(Decoder* decoder, int threads, int token, const TokenOptions& tokens,
                 TokenMeasurement* result, Progress* progress)
{
    std::vector<double> times;
    while (static_cast<int>(times.size()) < tokens.tokens) {
        result->made.push_back(token);
        times.push_back(milliseconds([&] { token = decoder->read({token}, threads); }));
        progress->show(static_cast<int>(times.size()), tokens.tokens);
        if (was_interrupted()) return false;
    }
    result->decode = summarise(times);
    return true;
}

double per_second(double ms)
{
    return ms > 0 ? 1000 / ms : 0;
}

// 10^9 bytes of weights a second.
double weight_rate(const TokenMeasurement& m)
{
    return static_cast<double>(m.weight_bytes) * per_second(m.decode.mean) / 1e9;
}

}  // namespace

std::optional<TokenMeasurement> measure_tokens(const std::string& path, int threads,
                                               const TokenOptions& tokens,
                                               const MeasureOptions& options, Progress* progress)
{
    reset_peak_memory();
    std::optional<Model> model;
    TokenMeasurement result = {};
    result.model = path;
    result.options = tokens;
    result.load = milliseconds([&] { model.emplace(path, options.common); });
    const InterruptedRuns interrupted(model->graph());
    Decoder decoder(&*model, path);
    check_room(decoder, path, tokens);
    const auto prompt_size = static_cast<size_t>(tokens.prompt);
    result.prepare = milliseconds([&] { decoder.prepare(prompt_size, threads); });
    const std::vector<int> prompt =
        make_prompt(tokens.prompt, decoder.vocabulary(), options.common.seed);
    // Runs everything once, so that both shapes are known and weights are in memory.
    decoder.read({decoder.read(prompt, threads)}, threads);
    decoder.forget();
    int token = 0;
    result.prefill = milliseconds([&] { token = decoder.read(prompt, threads); });
    if (was_interrupted() || !make_tokens(&decoder, threads, token, tokens, &result, progress))
        return std::nullopt;
    result.threads = tengine_graph_get_thread_number(model->graph());
    result.weight_bytes = decoder.weight_bytes();
    result.cache_bytes = decoder.cache_bytes();
    result.peak_memory = peak_memory();
    return result;
}

void print_token_measurements(const std::vector<TokenMeasurement>& measurements)
{
    if (measurements.empty()) return;
    Rows rows = {{"model", ">threads", ">prepare ms", ">prompt", ">prefill ms", ">tokens/s",
                  ">tokens", ">min ms", ">median ms", ">tokens/s", ">weights/token", ">GB/s",
                  ">cache", ">peak"}};
    for (const TokenMeasurement& m : measurements)
        rows.push_back({m.model, std::to_string(m.threads), time_text(m.prepare),
                        std::to_string(m.options.prompt), time_text(m.prefill),
                        decimal_text(m.options.prompt * per_second(m.prefill), 1),
                        std::to_string(m.options.tokens), time_text(m.decode.min),
                        time_text(m.decode.median), decimal_text(per_second(m.decode.mean), 1),
                        bytes_text(static_cast<double>(m.weight_bytes)),
                        decimal_text(weight_rate(m), 2),
                        bytes_text(static_cast<double>(m.cache_bytes)),
                        bytes_text(static_cast<double>(m.peak_memory))});
    std::printf("%s", broken_table_text(rows, terminal_style({"model"})).c_str());
}

Json to_json(const std::vector<TokenMeasurement>& measurements)
{
    Json results = Json::array();
    for (const TokenMeasurement& m : measurements)
        results.push_back({{"model", m.model},
                           {"threads", m.threads},
                           {"prompt", m.options.prompt},
                           {"tokens", m.options.tokens},
                           {"load_ms", m.load},
                           {"prepare_ms", m.prepare},
                           {"prefill_ms", m.prefill},
                           {"prefill_tokens_per_second", m.options.prompt * per_second(m.prefill)},
                           {"min_ms", m.decode.min},
                           {"median_ms", m.decode.median},
                           {"mean_ms", m.decode.mean},
                           {"tokens_per_second", per_second(m.decode.mean)},
                           {"weight_bytes", m.weight_bytes},
                           {"gbps", weight_rate(m)},
                           {"cache_bytes", m.cache_bytes},
                           {"peak_memory", m.peak_memory},
                           {"made", m.made}});
    return results;
}

}  // namespace tengine::tools
