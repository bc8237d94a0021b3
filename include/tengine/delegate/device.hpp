// SPDX-License-Identifier: Apache-2.0
// A delegate as a device of Tengine: each group of nodes that it replaces becomes a part that one
// of its kernels computes. Part of tengine/delegate.hpp.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tengine/delegate/kernel.hpp"
#include "tengine/device.h"
#include "tengine/inspect.h"
#include "tengine/plugin.h"

namespace tengine::delegate {
namespace detail {

// Calls `function`, whose exceptions become failures: they may not cross C.
template <class Function>
int Guard(const char* name, const Function& function)
{
    try {
        return function();
    } catch (const std::bad_alloc&) {
        return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", name);
    } catch (const std::exception& error) {
        return tengine_error_set(TENGINE_EDEVICE, "%s: exception: %s", name, error.what());
    } catch (...) {
        return tengine_error_set(TENGINE_EDEVICE, "%s: exception", name);
    }
}

// The result of Delegate::Build for a model. Lives as long as a graph that was prepared with it.
struct Plan
{
    const void* context;  // of the graph
    std::vector<std::string> nodes;
    std::unordered_map<std::string, int> group_of;  // nodes that were replaced; from 1
    std::vector<Replacement> groups;                // their kernels, until a part has them
    std::string failure;                            // of Build; "" if it succeeded
};

// A part of the device: a kernel with its tensors, each of which is bound to a tensor of the part
// while the kernel is called.
class Part
{
  public:
    Part(std::shared_ptr<Plan> plan, Replacement replacement)
        : plan_(std::move(plan)), replacement_(std::move(replacement))
    {
    }

    // The part's tensors are found by their names, and in an equal part by their places in it.
    void Enter(const struct graph& graph)
    {
        const std::vector<const struct tensor*> present = ListTensors(graph);
        if (places_.empty())
            for (const auto& tensor : replacement_.tensors)
                places_.push_back(FindPlace(present, tensor->Name()));
        bound_.clear();
        for (const size_t place : places_)
            bound_.push_back(place < present.size() ? present[place] : nullptr);
    }
    void Leave() { bound_.assign(places_.size(), nullptr); }
    kernel::Kernel& Kernel() const { return *replacement_.kernel; }
    // Calls an entry of the kernel.
    int Call(const char* entry, int (kernel::Kernel::*function)()) const
    {
        int result = 0;
        try {
            const Binding binding(*this);
            result = (replacement_.kernel.get()->*function)();
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& error) {
            return tengine_error_set(TENGINE_EDEVICE, "%s of kernel '%s' threw: %s", entry,
                                     replacement_.kernel->name().c_str(), error.what());
        }
        if (result == 0) return 0;
        return tengine_error_set(TENGINE_EDEVICE, "%s of kernel '%s' returned %d", entry,
                                 replacement_.kernel->name().c_str(), result);
    }

  private:
    // The kernel's tensors are bound while it lives, also where the kernel throws.
    struct Binding
    {
        explicit Binding(const Part& part) : tensors(part.replacement_.tensors)
        {
            for (size_t i = 0; i < part.bound_.size(); ++i)
                tensors[i]->Bind(part.bound_[i]);
        }
        ~Binding()
        {
            for (const auto& tensor : tensors)
                tensor->Bind(nullptr);
        }
        Binding(const Binding&) = delete;
        Binding& operator=(const Binding&) = delete;
        const std::vector<std::shared_ptr<GraphTensor>>& tensors;
    };

    // The tensors of the nodes in their order, each once.
    static std::vector<const struct tensor*> ListTensors(const struct graph& graph)
    {
        std::vector<const struct tensor*> list;
        std::vector<bool> listed(static_cast<size_t>(graph.tensor_num));
        const auto add = [&](const struct tensor* tensor) {
            if (!tensor || listed[static_cast<size_t>(tensor->index)]) return;
            listed[static_cast<size_t>(tensor->index)] = true;
            list.push_back(tensor);
        };
        for (int n = 0; n < graph.node_num; ++n) {
            for (int i = 0; i < graph.node_list[n]->input_num; ++i)
                add(get_ir_node_input(graph.node_list[n], i));
            for (int i = 0; i < graph.node_list[n]->output_num; ++i)
                add(get_ir_node_output(graph.node_list[n], i));
        }
        return list;
    }
    static size_t FindPlace(const std::vector<const struct tensor*>& tensors,
                            const std::string& name)
    {
        size_t place = 0;
        while (place < tensors.size() && name != tensors[place]->name)
            ++place;
        return place;
    }

    std::shared_ptr<Plan> plan_;
    Replacement replacement_;
    std::vector<size_t> places_;               // of the kernel's tensors in the list of the part's
    std::vector<const struct tensor*> bound_;  // the part's, for each; NULL: none
};

// A delegate with the tables of its device.
class RegisteredDelegate
{
  public:
    explicit RegisteredDelegate(std::shared_ptr<Delegate> delegate) : delegate_(std::move(delegate))
    {
    }
    RegisteredDelegate(const RegisteredDelegate&) = delete;
    RegisteredDelegate& operator=(const RegisteredDelegate&) = delete;

    Status Register()
    {
        if (!delegate_) return {kLiteNullptr, "the delegate is nullptr"};
        name_ = FindName(delegate_->Name());
        FillTables();
        if (register_device(&device_) == 0) {
            registered_ = true;
            return kSuccess;
        }
        if (init_.IsError()) return init_;
        return {kLiteError, tengine_error_message()};
    }
    Status Unregister()
    {
        if (registered_ && unregister_device(&device_) == TENGINE_ESTATE)
            return {kLiteError, tengine_error_message()};
        registered_ = false;
        return kSuccess;
    }
    const std::string& Name() const { return name_; }
    const std::shared_ptr<Delegate>& Of() const { return delegate_; }

  private:
    static RegisteredDelegate& Self(const struct device* device)
    {
        return *static_cast<RegisteredDelegate*>(device->privacy);
    }

    static std::string FindName(const std::string& wanted)
    {
        std::string name = wanted;
        for (int number = 2; find_device_via_name(name.c_str()); ++number)
            name = wanted + std::to_string(number);
        return name;
    }

    template <int (RegisteredDelegate::*entry)(struct subgraph*)>
    static int Call(struct device* device, struct subgraph* subgraph)
    {
        RegisteredDelegate& self = Self(device);
        return Guard(self.name_.c_str(), [&] {
            const std::lock_guard<std::mutex> lock(self.kernel_mutex_);
            return (self.*entry)(subgraph);
        });
    }

    void FillTables()
    {
        init_ir_device(&device_, name_.c_str());
        device_.interface = &interface_;
        device_.allocator = &allocator_;
        device_.optimizer = &optimizer_;
        device_.privacy = this;
        interface_.init = [](struct device* device) {
            RegisteredDelegate& self = Self(device);
            return Guard(self.name_.c_str(), [&] { return self.Init(); });
        };
        interface_.pre_run = [](struct device* device, struct subgraph* subgraph, void*) {
            return Call<&RegisteredDelegate::PreRun>(device, subgraph);
        };
        interface_.run = Call<&RegisteredDelegate::Run>;
        interface_.cancel = [](struct device* device, struct subgraph* subgraph) {
            Self(device).Cancel(subgraph);
        };
        interface_.post_run = Call<&RegisteredDelegate::PostRun>;
        interface_.release_graph = [](struct device*, void* device_graph) {
            delete static_cast<Part*>(device_graph);
            return 0;
        };
        interface_.release_device = [](struct device*) { return 0; };
        allocator_.describe = Describe;
        allocator_.inspect = [](struct device* device, const struct node* node, ir_verdict_t* out) {
            RegisteredDelegate& self = Self(device);
            return Guard(self.name_.c_str(), [&] { return self.Inspect(*node, out); });
        };
        allocator_.survey = [](struct device* device, const struct graph* graph) {
            RegisteredDelegate& self = Self(device);
            return Guard(self.name_.c_str(), [&] { return self.Survey(*graph); });
        };
        // Nodes stay in the types in which the delegate saw them.
        optimizer_.optimize_graph = [](struct graph*, int) { return 0; };
    }

    int Init()
    {
        init_ = delegate_->Init();
        if (init_.IsOk()) {
            ListOperators();
            return 0;
        }
        const bool unsupported = init_ == kLiteNotSupport;
        return tengine_error_set(unsupported ? TENGINE_ENOTSUP : TENGINE_EDEVICE,
                                 "Init of delegate '%s' failed: %s", name_.c_str(),
                                 !init_.GetErrDescription().empty()
                                     ? init_.GetErrDescription().c_str()
                                 : unsupported ? "not supported"
                                               : "no reason given");
    }

    static int Describe(struct device* device, struct vector* allowed, struct vector*,
                        struct vector* types)
    {
        for (const int type : Self(device).operators_)
            if (push_vector_data(allowed, &type) < 0) return TENGINE_ENOMEM;
        for (int type = TENGINE_DT_FP32; type <= TENGINE_DT_UINT64; ++type)
            if (push_vector_data(types, &type) < 0) return TENGINE_ENOMEM;
        return 0;
    }

    // Ids of operators. Without a list all are taken: Build chooses among the nodes.
    void ListOperators()
    {
        operators_.clear();
        const std::vector<std::string> names = delegate_->Operators();
        for (const std::string& name : names)
            AddOperator(name);
        for (int i = 0; names.empty() && i < tengine_operator_get_number(); ++i)
            operators_.push_back(
                get_op_type(tengine_operator_get_domain(i), tengine_operator_get_name(i)));
    }

    // The domain ends at the last dot; ONNX's may be spelled out.
    void AddOperator(const std::string& name)
    {
        const size_t dot = name.rfind('.');
        std::string domain = dot == std::string::npos ? "" : name.substr(0, dot);
        if (domain == "ai.onnx") domain.clear();
        const int type =
            get_op_type(domain.c_str(), name.c_str() + (dot == std::string::npos ? 0 : dot + 1));
        if (type >= 0)
            operators_.push_back(type);
        else
            TLOG_WARNING("%s: unknown operator '%s'", name_.c_str(), name.c_str());
    }

    // ---- the model ----

    int Survey(const struct graph& graph)
    {
        const std::lock_guard<std::mutex> lock(build_mutex_);
        std::vector<std::string> nodes;
        for (int i = 0; i < graph.node_num; ++i)
            nodes.push_back(Identify(*graph.node_list[i]));
        std::shared_ptr<Plan> plan = FindPlan(graph.attribute->context, nodes);
        if (plan) {
            // A kernel that no part has taken belongs to an earlier preparation.
            for (Replacement& group : plan->groups)
                group.kernel.reset();
        } else {
            plan = std::make_shared<Plan>();
            plan->context = graph.attribute->context;
            plan->nodes = std::move(nodes);
            MakePlan(graph, *plan);
            plans_.push_back(plan);
        }
        auto found = std::make_unique<std::shared_ptr<Plan>>(plan);
        const int status = set_ir_device_survey(&graph, &device_, found.get(), [](void* kept) {
            delete static_cast<std::shared_ptr<Plan>*>(kept);
        });
        if (status == 0) static_cast<void>(found.release());
        return status;
    }

    // The plan of the same model, prepared with other shapes; plans without users are removed.
    std::shared_ptr<Plan> FindPlan(const void* context, const std::vector<std::string>& nodes)
    {
        std::shared_ptr<Plan> result;
        std::vector<std::weak_ptr<Plan>> alive;
        for (const auto& entry : plans_) {
            const std::shared_ptr<Plan> plan = entry.lock();
            if (!plan) continue;
            alive.push_back(entry);
            if (plan->context == context && plan->nodes == nodes) result = plan;
        }
        plans_ = std::move(alive);
        return result;
    }

    void MakePlan(const struct graph& graph, Plan& plan)
    {
        std::vector<int32_t> nodes(static_cast<size_t>(graph.node_num));
        for (int32_t i = 0; i < graph.node_num; ++i)
            nodes[static_cast<size_t>(i)] = i;
        DelegateModel model(graph, nodes,
                            {graph.input_tensors, graph.input_tensors + graph.input_tensor_num},
                            {graph.output_tensors, graph.output_tensors + graph.output_tensor_num});
        plan.failure = Build(model);
        if (plan.failure.empty()) {
            plan.groups = model.TakeReplacements();
            for (size_t i = 0; i < plan.groups.size(); ++i)
                for (const std::string& node : plan.groups[i].nodes)
                    plan.group_of[node] = static_cast<int>(i) + 1;
        } else {
            TLOG_WARNING("%s: %s", name_.c_str(), plan.failure.c_str());
        }
        model.Unbind();
    }

    // The reason of the failure; "" if there was none.
    std::string Build(DelegateModel& model)
    {
        Status status;
        try {
            status = delegate_->Build(&model);
        } catch (const std::exception& error) {
            return std::string("Build threw: ") + error.what();
        } catch (...) {
            return "Build threw what is not a std::exception";
        }
        if (model.status().IsError()) return "Build: " + model.status().GetErrDescription();
        if (status.IsOk()) return {};
        const std::string& reason = status.GetErrDescription();
        return reason.empty() ? "Build failed" : "Build failed: " + reason;
    }

    int Inspect(const struct node& node, ir_verdict_t* out_verdict)
    {
        const auto* found =
            static_cast<std::shared_ptr<Plan>*>(get_ir_device_survey(node.graph, &device_));
        if (!found) return tengine_error_set(TENGINE_ESTATE, "%s saw no model", name_.c_str());
        const Plan& plan = **found;
        const auto group = plan.group_of.find(Identify(node));
        if (group != plan.group_of.end())
            out_verdict->group = group->second;
        else if (!plan.failure.empty())
            refuse_ir_node(out_verdict, IR_REASON_DEVICE, "", "", "%s", plan.failure.c_str());
        else
            refuse_ir_node(out_verdict, IR_REASON_OPERATOR, "", get_ir_node_op(&node),
                           "the delegate did not replace it");
        return 0;
    }

    // ---- a part ----

    static Part* PartOf(const struct subgraph* subgraph)
    {
        return static_cast<Part*>(subgraph->device_graph);
    }

    int PreRun(struct subgraph* subgraph)
    {
        const bool again = subgraph->device_graph != nullptr;
        if (!again) {
            const auto* found = static_cast<std::shared_ptr<Plan>*>(
                get_ir_device_survey(subgraph->graph, &device_));
            if (!found) return tengine_error_set(TENGINE_ESTATE, "%s saw no model", name_.c_str());
            Replacement replacement;
            const int status = TakeKernel(*subgraph, **found, &replacement);
            if (status < 0) return status;
            subgraph->device_graph =
                std::make_unique<Part>(*found, std::move(replacement)).release();
        }
        PartOf(subgraph)->Enter(*subgraph->graph);
        return again ? PartOf(subgraph)->Call("ReSize", &kernel::Kernel::ReSize)
                     : PartOf(subgraph)->Call("Prepare", &kernel::Kernel::Prepare);
    }

    // The kernel that Build made for the part. Where that has gone to another preparation of the
    // model, or an earlier device has taken some of its nodes, Build is asked about the part alone.
    int TakeKernel(const struct subgraph& subgraph, Plan& plan, Replacement* out_kernel)
    {
        const struct node* first = subgraph.graph->node_list[subgraph.node_list[0]];
        const auto group = plan.group_of.find(Identify(*first));
        if (group == plan.group_of.end()) return BuildAlone(subgraph, out_kernel);
        Replacement& planned = plan.groups[static_cast<size_t>(group->second) - 1];
        const bool whole = planned.nodes.size() == static_cast<size_t>(subgraph.node_num);
        if (!whole || !planned.kernel) return BuildAlone(subgraph, out_kernel);
        out_kernel->kernel = std::move(planned.kernel);
        out_kernel->tensors = planned.tensors;
        return 0;
    }

    int BuildAlone(const struct subgraph& subgraph, Replacement* out_kernel)
    {
        DelegateModel model(
            *subgraph.graph, {subgraph.node_list, subgraph.node_list + subgraph.node_num},
            {subgraph.input_tensor_list, subgraph.input_tensor_list + subgraph.input_num},
            {subgraph.output_tensor_list, subgraph.output_tensor_list + subgraph.output_num});
        const std::lock_guard<std::mutex> lock(build_mutex_);
        const std::string failure = Build(model);
        auto made = model.TakeReplacements();
        model.Unbind();
        if (!failure.empty()) return tengine_error_set(TENGINE_EDEVICE, "%s", failure.c_str());
        if (made.size() != 1 || made[0].nodes.size() != static_cast<size_t>(subgraph.node_num))
            return tengine_error_set(TENGINE_EDEVICE,
                                     "Build does not replace the %d nodes when it sees them alone",
                                     subgraph.node_num);
        *out_kernel = std::move(made[0]);
        return 0;
    }

    int Run(struct subgraph* subgraph)
    {
        const Running running(*this, subgraph);
        return PartOf(subgraph)->Call("Execute", &kernel::Kernel::Execute);
    }

    // Cancel() finds the kernel of a part while an object lives.
    class Running
    {
      public:
        Running(RegisteredDelegate& device, struct subgraph* part) : device_(device)
        {
            const std::lock_guard<std::mutex> lock(device_.running_mutex_);
            device_.running_part_ = part;
            PartOf(part)->Kernel().cancelled_ = is_ir_part_cancelled(part) != 0;
        }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;
        ~Running()
        {
            const std::lock_guard<std::mutex> lock(device_.running_mutex_);
            device_.running_part_ = nullptr;
        }

      private:
        RegisteredDelegate& device_;
    };

    void Cancel(struct subgraph* subgraph)
    {
        const std::lock_guard<std::mutex> lock(running_mutex_);
        if (subgraph != running_part_) return;
        kernel::Kernel& kernel = PartOf(subgraph)->Kernel();
        kernel.cancelled_ = true;
        kernel.Cancel();
    }

    int PostRun(struct subgraph* subgraph)
    {
        PartOf(subgraph)->Leave();
        return 0;
    }

    std::shared_ptr<Delegate> delegate_;
    std::string name_;
    Status init_;
    std::vector<int> operators_;  // ids of the operators that it may take
    bool registered_ = false;
    std::mutex kernel_mutex_;  // entries of kernels
    std::mutex build_mutex_;   // Build, and the plans
    std::mutex running_mutex_;
    struct subgraph* running_part_ = nullptr;  // whose kernel executes; guarded by running_mutex_
    std::vector<std::weak_ptr<Plan>> plans_;
    struct interface interface_
    {
    };
    struct allocator allocator_
    {
    };
    struct optimizer optimizer_
    {
    };
    struct device device_
    {
    };
};

}  // namespace detail

// Registers a delegate as a device of its name, which contexts list as any other
// (add_context_device), at most as long as this object lives. Registries may not change while
// graphs run on other threads.
class DelegateDevice
{
  public:
    explicit DelegateDevice(std::shared_ptr<Delegate> delegate)
        : device_(std::make_unique<detail::RegisteredDelegate>(std::move(delegate)))
    {
    }
    DelegateDevice(const DelegateDevice&) = delete;
    DelegateDevice& operator=(const DelegateDevice&) = delete;
    // A device that is still in use stays registered until the process ends; a warning in the log
    // names the user.
    ~DelegateDevice()
    {
        const Status status = Unregister();
        if (status.IsOk()) return;
        TLOG_WARNING("%s", status.GetErrDescription().c_str());
        static_cast<void>(device_.release());
    }

    // Registers the device, once. Calls Init. Fails as Init, and with kLiteError when Tengine
    // refuses.
    Status Register() { return device_->Register(); }
    // Unregisters the device, if it is registered. Fails with kLiteError, and leaves it registered,
    // while a context lists it, a graph uses it or a call of it has not returned.
    Status Unregister() { return device_->Unregister(); }
    // The device's.
    const std::string& Name() const { return device_->Name(); }
    const std::shared_ptr<Delegate>& Of() const { return device_->Of(); }

  private:
    std::unique_ptr<detail::RegisteredDelegate> device_;
};

}  // namespace tengine::delegate
