// SPDX-License-Identifier: Apache-2.0
#include "buckets.h"

#include "model.h"
#include "tengine/bucket.h"
#include "tengine/graph.h"
#include "text.h"

namespace tengine::tools {
namespace {

bool is_shape(const std::string& text)
{
    return !text.empty() && text.find_first_not_of("0123456789x") == std::string::npos;
}

// The parts of a bucket that name inputs of the graph, or none.
std::string keep_own_inputs(graph_t graph, const std::string& text)
{
    std::string kept;
    for (const std::string& part : split_bucket(text)) {
        const std::string name = part.substr(0, part.rfind('='));
        const bool has_name = part.find('=') != std::string::npos;
        bool is_own = !has_name;
        for (int i = 0; i < tengine_graph_get_input_number(graph); ++i)
            is_own = is_own || name == get_tensor_name(tengine_graph_get_input(graph, i));
        if (is_own) kept += (kept.empty() ? "" : ",") + part;
    }
    return kept;
}

// That of a prepared graph; a graph that was only placed, or nothing, has none.
void read_use(graph_t graph, Buckets* buckets)
{
    const char* reason = tengine_graph_explain_bucket(graph, &buckets->used);
    if (reason)
        buckets->reason = reason;
    else if (get_tengine_errno() != TENGINE_ESTATE)
        fail_api("buckets");
    clr_tengine_errno();
}

}  // namespace

void add_buckets(graph_t graph, const std::vector<std::string>& texts, bool passes_names_over)
{
    for (const std::string& text : texts) {
        const bool is_bare = is_shape(text) && tengine_graph_get_input_number(graph) == 1;
        const char* name = is_bare ? get_tensor_name(tengine_graph_get_input(graph, 0)) : "";
        const std::string named = is_bare             ? std::string(name) + "=" + text
                                  : passes_names_over ? keep_own_inputs(graph, text)
                                                      : text;
        if (named.empty() && !text.empty()) continue;
        if (tengine_graph_add_bucket(graph, named.c_str()) < 0) fail_api("--bucket " + text);
    }
}

Buckets read_buckets(graph_t graph)
{
    Buckets buckets;
    const int number = tengine_graph_get_bucket_number(graph);
    if (number < 0) fail_api("buckets");
    for (int i = 0; i < number; ++i) {
        const char* text = tengine_graph_get_bucket(graph, i);
        if (!text) fail_api("bucket " + std::to_string(i));
        buckets.shapes.emplace_back(text);
    }
    if (number > 0) read_use(graph, &buckets);
    return buckets;
}

std::vector<std::string> split_bucket(const std::string& text)
{
    std::vector<std::string> shapes;
    size_t begin = 0;
    for (size_t end = text.find(','); begin < text.size(); end = text.find(',', end + 1)) {
        const std::string part = text.substr(begin, end == std::string::npos ? end : end - begin);
        const size_t equals = part.rfind('=');
        const bool is_part = is_shape(equals == std::string::npos ? part : part.substr(equals + 1));
        if (!is_part && end != std::string::npos) continue;  // a comma of a name
        shapes.push_back(part);
        if (end == std::string::npos) break;
        begin = end + 1;
    }
    return shapes;
}

std::string buckets_text(const Buckets& buckets, size_t width)
{
    if (buckets.shapes.empty()) return "";
    Rows rows = {{"bucket", ""}};
    for (size_t i = 0; i < buckets.shapes.size(); ++i)
        rows.push_back({buckets.shapes[i], static_cast<int>(i) == buckets.used ? "used" : ""});
    TableStyle style;
    style.width = width;
    return table_text(rows, style) + (buckets.reason.empty() ? "" : buckets.reason + "\n");
}

Json to_json(const Buckets& buckets)
{
    return {{"shapes", buckets.shapes},
            {"used", buckets.used < 0 ? Json() : Json(buckets.used)},
            {"reason", buckets.reason}};
}

}  // namespace tengine::tools
