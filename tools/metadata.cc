// SPDX-License-Identifier: Apache-2.0
#include "metadata.h"

#include "tengine/metadata.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr size_t kRoleWidth = 12;

std::string first_line(const std::string& text)
{
    return text.substr(0, text.find_first_of("\r\n"));
}

// Appends a line: the role, then the words that are not empty.
void add_line(const std::string& role, const std::vector<std::string>& words, size_t width,
              std::string* text)
{
    std::string rest;
    for (const std::string& word : words)
        if (!word.empty()) rest += (rest.empty() ? "" : " ") + first_line(word);
    if (rest.empty()) return;
    rest = visible_text(rest);
    if (width > kRoleWidth) rest = shortened_text(rest, width - kRoleWidth);
    *text += role + std::string(kRoleWidth - role.size(), ' ') + rest + '\n';
}

std::string version_text(int64_t version)
{
    return version == 0 ? "" : std::to_string(version);
}

std::string opsets_text(const Metadata& metadata)
{
    std::string text;
    for (const auto& [domain, version] : metadata.opsets)
        text += (text.empty() ? "" : ", ") + (domain.empty() ? "ai.onnx" : domain) + " " +
                std::to_string(version);
    return text;
}

}  // namespace

Metadata read_metadata(graph_t graph)
{
    tengine_metadata read;
    if (tengine_graph_get_metadata(graph, &read, sizeof read) < 0) fail_api("the model");
    Metadata metadata;
    metadata.graph_name = read.graph_name;
    metadata.producer_name = read.producer_name;
    metadata.producer_version = read.producer_version;
    metadata.domain = read.domain;
    metadata.doc_string = read.doc_string;
    metadata.graph_doc_string = read.graph_doc_string;
    metadata.model_version = read.model_version;
    metadata.ir_version = read.ir_version;
    for (int i = 0; i < read.opset_number; ++i) {
        const char* domain;
        int64_t version;
        if (tengine_graph_get_opset(graph, i, &domain, &version) < 0) fail_api("the model");
        metadata.opsets.emplace_back(domain, version);
    }
    for (int i = 0; i < read.property_number; ++i) {
        const char *key, *value;
        if (tengine_graph_get_property(graph, i, &key, &value) < 0) fail_api("the model");
        metadata.properties.emplace_back(key, value);
    }
    return metadata;
}

std::string metadata_text(const Metadata& metadata, size_t width)
{
    std::string text;
    add_line("graph", {metadata.graph_name}, width, &text);
    add_line("producer", {metadata.producer_name, metadata.producer_version}, width, &text);
    add_line("domain", {metadata.domain}, width, &text);
    add_line("version", {version_text(metadata.model_version)}, width, &text);
    add_line("opsets", {opsets_text(metadata)}, width, &text);
    add_line("IR version", {version_text(metadata.ir_version)}, width, &text);
    add_line("about", {metadata.doc_string}, width, &text);
    add_line("about graph", {metadata.graph_doc_string}, width, &text);
    for (const auto& [key, value] : metadata.properties)
        add_line("property", {key + ":", value}, width, &text);
    return text;
}

Json to_json(const Metadata& metadata)
{
    Json opsets = Json::array();
    for (const auto& [domain, version] : metadata.opsets)
        opsets.push_back({{"domain", domain}, {"version", version}});
    Json properties = Json::array();
    for (const auto& [key, value] : metadata.properties)
        properties.push_back({{"key", key}, {"value", value}});
    return {{"graph_name", metadata.graph_name},
            {"producer_name", metadata.producer_name},
            {"producer_version", metadata.producer_version},
            {"domain", metadata.domain},
            {"doc_string", metadata.doc_string},
            {"graph_doc_string", metadata.graph_doc_string},
            {"model_version", metadata.model_version},
            {"ir_version", metadata.ir_version},
            {"opsets", opsets},
            {"properties", properties}};
}

}  // namespace tengine::tools
