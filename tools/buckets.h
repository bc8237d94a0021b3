// SPDX-License-Identifier: Apache-2.0
// The buckets of a model (tengine/bucket.h), as data, table and JSON, and their option --bucket.
#pragma once

#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/c_api.h"

namespace tengine::tools {

struct Buckets
{
    std::vector<std::string> shapes;  // "x=4x3x224x224", a text for each
    int used = -1;                    // the one in which a prepared graph runs, or -1
    std::string reason;
};

// `texts`: the option's arguments, in which NAME= may be omitted for a model with one input.
// passes_names_over: names that the graph does not have are those of other entries. Throws Failure.
void add_buckets(graph_t graph, const std::vector<std::string>& texts, bool passes_names_over);

// Throws Failure.
Buckets read_buckets(graph_t graph);

// The shapes of a bucket, each as an argument of --shape.
std::vector<std::string> split_bucket(const std::string& text);

// A table, "" without buckets; `width` is the terminal's, 0: unlimited.
std::string buckets_text(const Buckets& buckets, size_t width);

Json to_json(const Buckets& buckets);

}  // namespace tengine::tools
