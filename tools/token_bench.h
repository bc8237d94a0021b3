// SPDX-License-Identifier: Apache-2.0
// `tengine bench --tokens`: a decoder that reads a prompt and then makes one token after the other,
// with the cache of each attention in place. decoder.h defines such models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json_file.h"
#include "measurement.h"
#include "progress.h"

namespace tengine::tools {

struct TokenOptions
{
    int prompt = 128;
    int tokens = 0;  // after the prompt; 0: no tokens
};

struct TokenMeasurement
{
    std::string model;
    int threads = 0;  // those with which the graph runs
    TokenOptions options;
    double load = 0;           // milliseconds, as the next ones
    double prepare = 0;        // for the prompt, when it is new
    double prefill = 0;        // a run of the prompt, after one that was not measured
    Summary decode;            // prerun_graph and run_graph of a token
    int64_t weight_bytes = 0;  // that a token reads
    int64_t cache_bytes = 0;   // all layers
    int64_t peak_memory = 0;
    std::vector<int> made;  // the tokens
};

// None when Ctrl-C was pressed before the last token. Throws Failure, also for a model without a
// cache.
std::optional<TokenMeasurement> measure_tokens(const std::string& path, int threads,
                                               const TokenOptions& tokens,
                                               const MeasureOptions& options, Progress* progress);

void print_token_measurements(const std::vector<TokenMeasurement>& measurements);

Json to_json(const std::vector<TokenMeasurement>& measurements);

}  // namespace tengine::tools
