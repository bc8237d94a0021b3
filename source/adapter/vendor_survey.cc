// SPDX-License-Identifier: Apache-2.0
// The nodes that a vendor's compiler chooses of a graph, once for each preparation.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>

#include "adapter/vendor_device.h"
#include "base/guard.hpp"
#include "base/maps.hpp"

namespace tengine::adapter {
namespace {

// The identity of a node while passes change indices: a node that has become another operator is
// another node. Several nodes may have one name.
String identify(const struct node& node)
{
    String key = node.name;
    key.append(1, '\0').append(get_ir_node_domain(&node)).append(1, '\0');
    key.append(get_ir_node_op(&node));
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        key.append(1, '\0').append(output ? output->name : "");
    }
    return key;
}

// The identity of a part: its nodes.
String identify(const struct subgraph& part)
{
    String key;
    for (int i = 0; i < part.node_num; ++i)
        key.append(identify(*part.graph->node_list[part.node_list[i]])).append(1, '\0');
    return key;
}

}  // namespace

struct Choice
{
    int group = 0;  // 0: refused
    String reason;
};

// The execution graph shares its survey with parts that a watchdog may give up, so that it outlives
// a call that hangs (share_ir_survey()).
class Survey : public Allocated
{
  public:
    explicit Survey(VendorDevice& vendor) : vendor_(vendor) { ++vendor_.use_num; }
    Survey(const Survey&) = delete;
    Survey& operator=(const Survey&) = delete;
    ~Survey()
    {
        if (created_ && vendor_.compiler->destroy) vendor_.compiler->destroy(instance_);
        calls_.clear();
        --vendor_.use_num;
    }

    void create(const struct graph& graph)
    {
        const tengine_compiler_t& compiler = *vendor_.compiler;
        copy_options(graph);
        const char* model = find_soc_model(vendor_, graph);
        soc_ = copy_text(model);
        tengine_error_clear();
        if (model && check_soc_model(compiler, model) < 0) {
            keep_failure("get_soc_model");
            return;
        }
        created_ =
            !compiler.create ||
            compiler.create(options_.data(), static_cast<int>(options_.size()), &instance_) == 0;
        if (!created_) keep_failure("create");
    }

    // Runs when the split judges the first node, since the graph then has the precision of the run.
    void partition_once(const struct graph& graph);

    int choose(const struct graph& graph, const struct node* node, Choice choice)
    {
        if (!node || get_ir_graph_node(&graph, node->index) != node)
            return tengine_error_set(TENGINE_EINVAL, "the node does not belong to the graph");
        if (choice.group == 0) refusals_[node->name] = choice.reason;
        choices_[identify(*node)] = std::move(choice);
        return 0;
    }

    void judge(const struct node& node, ir_verdict_t* out_verdict) const
    {
        const auto found = choices_.find(identify(node));
        if (!failure_.empty())
            refuse_ir_node(out_verdict, IR_REASON_DEVICE, "", "", "%s", failure_.c_str());
        else if (found == choices_.end())
            refuse_ir_node(out_verdict, IR_REASON_OPERATOR, "", get_ir_node_op(&node), "%s",
                           find_reason(node));
        else if (found->second.group == 0)
            refuse_ir_node(out_verdict, IR_REASON_OPERATOR, "", get_ir_node_op(&node), "%s",
                           found->second.reason.c_str());
        else
            out_verdict->group = found->second.group;
    }

    bool has_chosen(const struct node& node) const
    {
        const auto found = choices_.find(identify(node));
        return found != choices_.end() && found->second.group != 0;
    }

    int compile(const struct subgraph* const parts[], int number)
    {
        return alone([&] { return compile_alone(parts, number); });
    }

    int find(const struct subgraph& subgraph, Call* out_call)
    {
        return alone([&]() -> int {
            const struct subgraph* part = &subgraph;
            const String key = identify(subgraph);
            if (calls_.count(key) == 0) TENGINE_RETURN_IF_ERROR(compile_alone(&part, 1));
            *out_call = calls_[key];
            return 0;
        });
    }

  private:
    // The last of the nodes that a refused one has become has its name.
    const char* find_reason(const struct node& node) const
    {
        const auto found = refusals_.find(node.name);
        return found == refusals_.end() ? "not selected by the compiler" : found->second.c_str();
    }

    // Stores a failure as the reason for all nodes.
    void keep_failure(const char* step)
    {
        const char* sentence =
            tengine_error_code() != 0 ? tengine_error_message() : "no reason given";
        failure_ = String(step) + " failed: " + sentence;
        tengine_log(TENGINE_LOG_WARNING, "%s: %s", vendor_.name.c_str(), failure_.c_str());
    }

    // A preparation compiles one part after the other, so a call in flight has been given up.
    template <class Work>
    int alone(const Work& work)
    {
        const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
        if (lock.owns_lock()) return work();
        return tengine_error_set(TENGINE_ESTATE,
                                 "device '%s': the compiler has not returned from an earlier part "
                                 "of the graph (prerun.watchdog_ms)",
                                 vendor_.name.c_str());
    }

    // The copy lives as long as the survey, since a call that is late may outlive the context.
    const char* copy_text(const char* text)
    {
        if (!text) return nullptr;
        texts_.emplace_back(text);
        return texts_.back().c_str();
    }

    void copy_options(const struct graph& graph)
    {
        const tengine_compiler_t& compiler = *vendor_.compiler;
        texts_.reserve(static_cast<size_t>(compiler.option_number) + 1);  // they never move
        for (int i = 0; i < compiler.option_number; ++i) {
            const char* key = compiler.options[i].key;
            const char* value = copy_text(get_ir_device_option(&graph, &vendor_.device, key));
            if (value) options_.push_back({key, value});
        }
    }

    int compile_alone(const struct subgraph* const parts[], int number)
    {
        const tengine_compiler_t& compiler = *vendor_.compiler;
        void* result = nullptr;
        TENGINE_RETURN_IF_ERROR(
            as_failure("compile", compiler.compile(instance_, soc_, parts, number, &result)));
        const auto destroy = [&](void* made) { compiler.destroy_result(made); };
        const std::unique_ptr<void, decltype(destroy)> owned(result, destroy);
        Vector<ModulePointer> modules(
            static_cast<size_t>(std::max(compiler.get_module_number(result), 0)));
        for (int i = 0; i < number; ++i)
            TENGINE_RETURN_IF_ERROR(keep_call(result, i, *parts[i], modules));
        return 0;
    }

    int keep_call(void* result, int index, const struct subgraph& part,
                  Vector<ModulePointer>& modules)
    {
        const tengine_compiler_t& compiler = *vendor_.compiler;
        int module = -1;
        const char* entry = nullptr;
        TENGINE_RETURN_IF_ERROR(
            as_failure("get_call", compiler.get_call(result, index, &module, &entry)));
        if (module < 0 || static_cast<size_t>(module) >= modules.size() || !entry)
            return tengine_error_set(
                TENGINE_EDEVICE,
                "get_call: module %d, or no entry point: expected a module below %zu", module,
                modules.size());
        ModulePointer& place = modules[static_cast<size_t>(module)];
        if (place)
            place->is_shared = true;
        else
            TENGINE_RETURN_IF_ERROR(copy_module(result, module, place));
        calls_[identify(part)] = {place, entry};
        return 0;
    }

    int copy_module(void* result, int index, ModulePointer& out_module)
    {
        const void* bytes = nullptr;
        size_t size = 0;
        TENGINE_RETURN_IF_ERROR(
            as_failure("get_module", vendor_.compiler->get_module(result, index, &bytes, &size)));
        if (size > 0 && !bytes)
            return tengine_error_set(TENGINE_EDEVICE, "get_module: the address is NULL");
        out_module = ModulePointer(new Module(vendor_));
        out_module->copy(bytes, size);
        out_module->sdk_version = vendor_.compiler->sdk_version;
        return 0;
    }

    VendorDevice& vendor_;
    Vector<String> texts_;  // copies of the options and the model
    Vector<tengine_vendor_option_t> options_;
    const char* soc_ = nullptr;
    std::mutex mutex_;  // held while the instance compiles
    void* instance_ = nullptr;
    bool created_ = false;
    bool has_partitioned_ = false;
    String failure_;
    UnorderedMap<String, Choice> choices_;
    UnorderedMap<String, String> refusals_;  // by the names of nodes
    UnorderedMap<String, Call> calls_;       // those already compiled
};

}  // namespace tengine::adapter

struct tengine_op_list
{
    const struct graph& graph;
    tengine::adapter::Survey& survey;
};

namespace tengine::adapter {

void Survey::partition_once(const struct graph& graph)
{
    if (!created_ || has_partitioned_) return;
    has_partitioned_ = true;
    tengine_op_list list{graph, *this};
    tengine_error_clear();
    if (vendor_.compiler->partition(instance_, soc_, &graph, &list) != 0) keep_failure("partition");
}

namespace {

int add_survey(VendorDevice& vendor, const struct graph& graph)
{
    std::unique_ptr<Survey> survey(new Survey(vendor));
    survey->create(graph);
    const int status = set_ir_device_survey(&graph, &vendor.device, survey.get(), [](void* found) {
        delete static_cast<Survey*>(found);
    });
    if (status == 0) static_cast<void>(survey.release());
    return status;
}

}  // namespace

int survey_graph(struct device* device, const struct graph* graph)
{
    VendorDevice& vendor = vendor_device(device);
    if (!vendor.compiler || get_ir_device_survey(graph, device)) return 0;
    return guarded([&] { return add_survey(vendor, *graph); },
                   "device '%s': out of memory for its choice of nodes", vendor.name.c_str());
}

// The compiler chooses among the nodes of the file, once.
int keep_nodes(struct device* device, const struct graph* graph, struct vector* nodes)
{
    VendorDevice& vendor = vendor_device(device);
    if (!vendor.compiler || !vendor.compiler->knows_tflite) return 0;
    return guarded(
        [&] {
            TENGINE_RETURN_IF_ERROR(add_survey(vendor, *graph));
            auto& survey = *static_cast<Survey*>(get_ir_device_survey(graph, device));
            survey.partition_once(*graph);
            for (int i = 0; i < graph->node_num; ++i)
                if (survey.has_chosen(*get_ir_graph_node(graph, i)))
                    if (push_vector_data(nodes, &i) < 0) throw std::bad_alloc();
            return 0;
        },
        "device '%s': out of memory for its choice of nodes", vendor.name.c_str());
}

int inspect_node(struct device* device, const struct node* node, ir_verdict_t* out_verdict)
{
    VendorDevice& vendor = vendor_device(device);
    return guarded(
        [&] {
            auto* survey = static_cast<Survey*>(get_ir_device_survey(node->graph, device));
            const int compiled = get_ir_node_compiled_part(node, device);
            if (is_dispatch(*node)) {
                judge_dispatch(vendor, *node, out_verdict);
            } else if (survey) {
                survey->partition_once(*node->graph);
                survey->judge(*node, out_verdict);
            } else if (compiled != 0) {
                out_verdict->group = compiled;
            } else {
                refuse_ir_node(out_verdict, IR_REASON_COMPILER, "", "",
                               "no compiler: %s runs what was compiled ahead", device->name);
            }
            return 0;
        },
        "device '%s': out of memory while inspecting a node", vendor.name.c_str());
}

int compile_parts(struct device* device, const struct subgraph* const parts[], int number)
{
    return guarded(
        [&] {
            auto* survey = static_cast<Survey*>(get_ir_device_survey(parts[0]->graph, device));
            Vector<const struct subgraph*> compiled;
            for (int i = 0; i < number; ++i)
                if (!find_dispatch(*parts[i])) compiled.push_back(parts[i]);
            return survey && !compiled.empty()
                       ? survey->compile(compiled.data(), static_cast<int>(compiled.size()))
                       : 0;
        },
        "device '%s': out of memory for its parts", device->name);
}

int find_call(VendorDevice& vendor, const struct subgraph& subgraph, Call* out_call)
{
    if (const struct node* node = find_dispatch(subgraph))
        return take_dispatch(vendor, *node, out_call);
    auto* survey = static_cast<Survey*>(get_ir_device_survey(subgraph.graph, &vendor.device));
    if (!survey)
        return tengine_error_set(TENGINE_ENOTSUP, "%s has no compiler here", vendor.name.c_str());
    return survey->find(subgraph, out_call);
}

}  // namespace tengine::adapter

int tengine_op_list_push(tengine_op_list_t* list, const struct node* node, int index)
{
    if (index < 0)
        return tengine_error_set(TENGINE_EINVAL, "node index %d: expected 0 or more", index);
    return tengine::guarded(
        [&] {
            return list->survey.choose(list->graph, node, {index + 1, {}});
        },
        "out of memory for a list of nodes");
}

int tengine_op_list_refuse(tengine_op_list_t* list, const struct node* node, const char* format,
                           ...)
{
    va_list values;
    va_start(values, format);
    const tengine::Sentence sentence = tengine::print_sentence(format, values);
    va_end(values);
    return tengine::guarded(
        [&] {
            return list->survey.choose(list->graph, node, {0, sentence.data()});
        },
        "out of memory for a list of nodes");
}
