// SPDX-License-Identifier: Apache-2.0
#include "context_node.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "attributes.h"
#include "temporary_folder.h"
#include "tengine/inspect.h"

namespace tengine::provider {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "tengine";
constexpr const char* kOperator = "EPContext";
constexpr const char* kDomain = "com.microsoft";

void save(graph_t graph, const std::string& path)
{
    if (save_graph(graph, kFormat, path.c_str()) < 0) fail_library("the compiled part");
}

// Running out of memory must not be hidden, as a stream does.
std::string read_file(const std::string& path)
{
    std::string bytes(static_cast<size_t>(fs::file_size(path)), '\0');
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file || bytes.empty() ||
        std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size())
        throw Failure("cannot read '" + path + "': " + std::strerror(errno));
    return bytes;
}

// No statement between the creation of `graph` and this may throw.
GraphPointer own(graph_t graph, const char* what)
{
    const GraphPointer owned(graph, [](graph_t released) {
        if (released) destroy_graph(released);
    });
    if (!graph) fail_library(what);
    return owned;
}

// The graph owns the block. Compiled parts are used in place, at addresses aligned as in a mapped
// file.
GraphPointer load_bytes(const std::string& bytes, context_t context)
{
    constexpr size_t kPage = 4096;
    void* block = std::aligned_alloc(kPage, (bytes.size() + kPage - 1) / kPage * kPage);
    if (!block) throw std::bad_alloc();
    std::memcpy(block, bytes.data(), bytes.size());
    const graph_t graph = create_graph(context, "tengine:m", static_cast<const char*>(block),
                                       static_cast<int>(bytes.size()));
    if (!graph) std::free(block);
    return own(graph, "the compiled part in the model");
}

// A file beside the model; its name must not contain a path.
std::string find_file(const std::string& name, const std::string& model)
{
    const fs::path path(name);
    if (name.empty() || path.has_parent_path() || name == "." || name == "..")
        throw Failure("EPContext names the file '" + name + "': expected one beside the model");
    return (fs::path(model).parent_path() / path).string();
}

// Attributes, which the node copies.
class Attributes
{
  public:
    ~Attributes()
    {
        for (OrtOpAttr* attribute : list_)
            runtime().api->ReleaseOpAttr(attribute);
    }
    Attributes() = default;
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;

    void add(const char* name, const std::string& text)
    {
        add(name, text.data(), static_cast<int>(text.size()), ORT_OP_ATTR_STRING);
    }
    void add(const char* name, int64_t number) { add(name, &number, 1, ORT_OP_ATTR_INT); }

    std::vector<OrtOpAttr*>& list() { return list_; }

  private:
    void add(const char* name, const void* data, int length, OrtOpAttrType type)
    {
        list_.push_back(nullptr);
        check(runtime().api->CreateOpAttr(name, data, length, type, &list_.back()));
    }

    std::vector<OrtOpAttr*> list_;
};

// The file that the host writes, or the model's, after which the host names a file of its own.
fs::path written_model(const Settings& settings, const std::string& model)
{
    if (!settings.kept_parts.model.empty()) return settings.kept_parts.model;
    if (model.empty())
        throw Failure(
            "the model is not from a file: expected ep.context_file_path, or "
            "ep.context_embed_mode=1");
    return fs::path(model);
}

// The conditions that a part is compiled for. Under others it would run and compute other values.
std::string describe_target(const Settings& settings)
{
    return settings.device_list() + " in " + settings.precision;
}

void check_target(const OrtNode* node, const Settings& settings)
{
    const std::string wanted = read_text(node, "hardware_architecture", "");
    if (wanted != describe_target(settings))
        throw Failure("the compiled part is for '" + wanted + "', the session has '" +
                      describe_target(settings) + "'");
}

std::vector<const char*> pointers(const std::vector<std::string>& texts)
{
    std::vector<const char*> list;
    for (const std::string& text : texts)
        list.push_back(text.c_str());
    return list;
}

}  // namespace

WrittenFiles::~WrittenFiles()
{
    for (const std::string& path : paths_)
        std::remove(path.c_str());
}

void WrittenFiles::move(const std::string& from, std::string to)
{
    paths_.reserve(paths_.size() + 1);
    fs::rename(from, to);
    paths_.push_back(std::move(to));
}

bool is_our_context_node(const ViewedNode& node)
{
    return node.op == kOperator && node.domain == kDomain &&
           read_text(node.node, "source", "") == kProviderName;
}

GraphPointer load_context_node(const GraphView& view, const Settings& settings)
{
    const OrtNode* node = view.nodes[0].node;
    check_target(node, settings);
    const std::string content = read_text(node, "ep_cache_context", "");
    if (read_number(node, "embed_mode", 1) != 0) {
        if (content.empty() || content.size() > INT32_MAX)
            throw Failure("EPContext holds " + std::to_string(content.size()) + " bytes");
        return load_bytes(content, settings.context.get());
    }
    const std::string path = find_file(content, view.path), quoted = "'" + path + "'";
    return own(create_graph(settings.context.get(), kFormat, path.c_str()), quoted.c_str());
}

GraphPointer compile_for_context_node(const GraphPointer& graph, const Settings& settings,
                                      const std::string& free_input)
{
    if (!free_input.empty())
        throw Failure("a part with the input '" + free_input +
                      "', which has a free dimension, cannot be kept: give it a size, by "
                      "AddFreeDimensionOverrideByName for example");
    const TemporaryFolder folder(fs::temp_directory_path());
    save(graph.get(), folder.file());
    return own(create_graph(settings.context.get(), kFormat, folder.file().c_str()),
               "the part as a tmfile");
}

NodePointer make_context_node(const Part& part, const OrtNode* fused, const Settings& settings,
                              const std::string& model, const std::string& notes,
                              WrittenFiles* files)
{
    Attributes attributes;
    const KeptParts& kept = settings.kept_parts;
    if (kept.is_embedded) {
        const TemporaryFolder folder(fs::temp_directory_path());
        save(part.graph(), folder.file());
        attributes.add("ep_cache_context", read_file(folder.file()));
    } else {
        const fs::path written = written_model(settings, model);
        const std::string name =
            written.stem().string() + "_part_" + std::to_string(files->size()) + ".tmfile";
        // A link with that name, which another user may have created, is replaced and not followed.
        const TemporaryFolder folder(written.parent_path());
        save(part.graph(), folder.file());
        files->move(folder.file(), (written.parent_path() / name).string());
        attributes.add("ep_cache_context", name);
    }
    attributes.add("embed_mode", kept.is_embedded ? 1 : 0);
    attributes.add("main_context", 1);
    attributes.add("source", kProviderName);
    attributes.add("ep_sdk_version", get_tengine_version());
    attributes.add("hardware_architecture", describe_target(settings));
    attributes.add("notes", notes);
    const char* name = nullptr;
    check(runtime().api->Node_GetName(fused, &name));
    attributes.add("partition_name", text_of(name));
    const std::vector<std::string> inputs = input_names(fused), outputs = output_names(fused);
    OrtNode* node = nullptr;
    check(runtime().editor->CreateNode(kOperator, kDomain, name, pointers(inputs).data(),
                                       inputs.size(), pointers(outputs).data(), outputs.size(),
                                       attributes.list().data(), attributes.list().size(), &node));
    return NodePointer(node);
}

std::string describe_compatibility(const Settings& settings)
{
    return std::string("tengine ") + get_tengine_version() + "; precision " + settings.precision +
           "; devices " + settings.device_list();
}

OrtCompiledModelCompatibility judge_compatibility(const std::string& description)
{
    const std::string marker = "; devices ";
    const size_t place = description.find(marker);
    if (description.compare(0, 8, "tengine ") != 0 || place == std::string::npos)
        return OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
    std::string wanted = description.substr(place + marker.size()) + ", ";
    for (int i = 0; i < tengine_device_get_number(); ++i) {
        const std::string name = text_of(tengine_device_get_name(i)) + ", ";
        const size_t found = (", " + wanted).find(", " + name);
        if (found != std::string::npos) wanted.erase(found, name.size());
    }
    if (!wanted.empty()) return OrtCompiledModelCompatibility_EP_UNSUPPORTED;
    const std::string version = std::string("tengine ") + get_tengine_version() + ";";
    return description.compare(0, version.size(), version) == 0
               ? OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL
               : OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION;
}

}  // namespace tengine::provider
