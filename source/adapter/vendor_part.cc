// SPDX-License-Identifier: Apache-2.0
// Parts of a vendor's device: byte code, compiled here or loaded, that the dispatch runs.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "adapter/vendor_device.h"
#include "base/guard.hpp"

namespace tengine::adapter {
namespace {

constexpr size_t kMostAlignment = size_t{1} << 30;

// A boundary tensor of the part.
struct Port
{
    const struct tensor* tensor;
    size_t alignment;
    void* attached = nullptr;
    Vector<uint8_t> copy;  // for tensors that are not aligned
};

}  // namespace

int as_failure(const char* entry, int status)
{
    if (status == 0) return 0;
    if (status < 0 && tengine_error_code() != 0) return status;
    return tengine_error_set(TENGINE_EDEVICE, "%s returned %d", entry, status);
}

// An element of VendorDevice::runs.
struct Run
{
    const struct subgraph* part;
    void* invocation;
    bool* cancelled;
    Run* next;
};

namespace {

// While an instance lives, cancel_run() finds the invocation by its part. The part's result of
// pre_run cannot serve for that, since pre_run may be late itself.
class RunningInvocation
{
  public:
    RunningInvocation(VendorDevice& vendor, const struct subgraph& part, void* invocation,
                      bool* cancelled)
        : vendor_(vendor), run_{&part, invocation, cancelled, nullptr}
    {
        const std::lock_guard<std::mutex> lock(vendor_.mutex);
        run_.next = vendor_.runs;
        vendor_.runs = &run_;
    }
    RunningInvocation(const RunningInvocation&) = delete;
    RunningInvocation& operator=(const RunningInvocation&) = delete;
    ~RunningInvocation()
    {
        const std::lock_guard<std::mutex> lock(vendor_.mutex);
        Run** link = &vendor_.runs;
        while (*link != &run_)
            link = &(*link)->next;
        *link = run_.next;
    }

  private:
    VendorDevice& vendor_;
    Run run_;
};

void cancel_run(struct device* device, struct subgraph* part)
{
    VendorDevice& vendor = vendor_device(device);
    if (!vendor.dispatch->cancel) return;
    const std::lock_guard<std::mutex> lock(vendor.mutex);
    for (const Run* run = vendor.runs; run; run = run->next) {
        if (run->part != part) continue;
        *run->cancelled = true;
        vendor.dispatch->cancel(run->invocation);
    }
}

class Part : public Allocated
{
  public:
    explicit Part(VendorDevice& vendor) : vendor_(vendor) { ++vendor_.use_num; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part()
    {
        if (invocation_) vendor_.dispatch->destroy_invocation(invocation_);
        call_ = Call();
        --vendor_.use_num;
    }

    int compile(const struct subgraph& subgraph)
    {
        TENGINE_RETURN_IF_ERROR(find_call(vendor_, subgraph, &call_));
        return vendor_.dispatch ? open(subgraph) : 0;
    }

    int save(const struct graph& graph, struct ir_sink* sink) const
    {
        return save_call(call_, graph, sink);
    }

    int load(const struct subgraph& subgraph, const void* data, size_t size)
    {
        if (!vendor_.dispatch)
            return tengine_error_set(TENGINE_ENOTSUP, "%s has no dispatch here",
                                     vendor_.name.c_str());
        TENGINE_RETURN_IF_ERROR(load_call(vendor_, data, size, &call_));
        return open(subgraph);
    }

    int start()
    {
        if (!vendor_.dispatch)
            return tengine_error_set(TENGINE_ENOTSUP, "%s has no dispatch here",
                                     vendor_.name.c_str());
        copies_ = 0;
        if (cancelled_) TENGINE_RETURN_IF_ERROR(renew());
        const tengine_dispatch_t& dispatch = *vendor_.dispatch;
        for (size_t i = 0; i < inputs_.size(); ++i) {
            void* buffer = buffer_of(inputs_[i]);
            if (buffer != inputs_[i].tensor->data)
                std::memcpy(buffer, inputs_[i].tensor->data,
                            get_ir_tensor_bytes(inputs_[i].tensor));
            if (inputs_[i].attached == buffer) continue;
            const int port = static_cast<int>(i);
            TENGINE_RETURN_IF_ERROR(as_failure(
                "attach_input", dispatch.attach_input(invocation_, port, buffer,
                                                      get_ir_tensor_bytes(inputs_[i].tensor))));
            inputs_[i].attached = buffer;
        }
        for (size_t i = 0; i < outputs_.size(); ++i) {
            void* buffer = buffer_of(outputs_[i]);
            if (outputs_[i].attached == buffer) continue;
            const int port = static_cast<int>(i);
            TENGINE_RETURN_IF_ERROR(as_failure(
                "attach_output", dispatch.attach_output(invocation_, port, buffer,
                                                        get_ir_tensor_bytes(outputs_[i].tensor))));
            outputs_[i].attached = buffer;
        }
        return 0;
    }

    int finish()
    {
        for (Port& output : outputs_)
            if (output.attached != output.tensor->data)
                std::memcpy(output.tensor->data, output.attached,
                            get_ir_tensor_bytes(output.tensor));
        return 0;
    }

    int run(const struct subgraph& subgraph)
    {
        TENGINE_RETURN_IF_ERROR(start());
        const RunningInvocation running(vendor_, subgraph, invocation_, &cancelled_);
        TENGINE_RETURN_IF_ERROR(as_failure("invoke", vendor_.dispatch->invoke(invocation_)));
        return finish();
    }

    int run_async(const struct subgraph& subgraph)
    {
        if (!vendor_.dispatch->invoke_async) return run(subgraph);
        TENGINE_RETURN_IF_ERROR(start());
        running_.emplace(vendor_, subgraph, invocation_, &cancelled_);
        const int status = vendor_.dispatch->invoke_async(invocation_);
        if (status != 0) running_.reset();
        return as_failure("invoke_async", status);
    }

    int wait(int try_wait)
    {
        if (!vendor_.dispatch->invoke_async) return 1;
        const int status = vendor_.dispatch->wait(invocation_, try_wait);
        if (status != 0) running_.reset();
        if (status < 0) return as_failure("wait", status);
        return status == 1 ? (finish(), 1) : status;
    }

    int count(struct vector* out_counters)
    {
        ir_counter_t counter = {"copies", "", static_cast<double>(copies_)};
        if (push_vector_data(out_counters, &counter) < 0) return TENGINE_ENOMEM;
        for (int i = 0; invocation_ && vendor_.dispatch->get_metric; ++i) {
            counter = {};
            const int status = vendor_.dispatch->get_metric(invocation_, i, &counter);
            if (status <= 0) return status;
            counter.name[sizeof counter.name - 1] = counter.unit[sizeof counter.unit - 1] = '\0';
            if (push_vector_data(out_counters, &counter) < 0) return TENGINE_ENOMEM;
        }
        return 0;
    }

    int64_t bytes() const { return static_cast<int64_t>(call_.module->size); }

    int64_t copy_bytes() const
    {
        size_t bytes = 0;
        for (const Vector<Port>* ports : {&inputs_, &outputs_})
            for (const Port& port : *ports)
                bytes += port.copy.capacity();
        return static_cast<int64_t>(bytes);
    }

    // Forgets the tensors of a graph that has ended.
    void leave()
    {
        inputs_.clear();
        outputs_.clear();
    }

  private:
    int create_invocation(int input_num, int output_num)
    {
        return as_failure("create_invocation", vendor_.dispatch->create_invocation(
                                                   call_.module->handle, call_.entry_point.c_str(),
                                                   input_num, output_num, &invocation_));
    }

    // An invocation that was cancelled gets no other invoke.
    int renew()
    {
        if (invocation_) vendor_.dispatch->destroy_invocation(invocation_);
        invocation_ = nullptr;
        for (Vector<Port>* ports : {&inputs_, &outputs_})
            for (Port& port : *ports)
                port.attached = nullptr;
        TENGINE_RETURN_IF_ERROR(
            create_invocation(static_cast<int>(inputs_.size()), static_cast<int>(outputs_.size())));
        cancelled_ = false;
        return 0;
    }

    int open(const struct subgraph& subgraph)
    {
        const tengine_dispatch_t& dispatch = *vendor_.dispatch;
        TENGINE_RETURN_IF_ERROR(call_.module->load());
        TENGINE_RETURN_IF_ERROR(create_invocation(subgraph.input_num, subgraph.output_num));
        TENGINE_RETURN_IF_ERROR(list_ports(subgraph.graph, subgraph.input_tensor_list,
                                           subgraph.input_num, dispatch.get_input_requirement,
                                           inputs_));
        return list_ports(subgraph.graph, subgraph.output_tensor_list, subgraph.output_num,
                          dispatch.get_output_requirement, outputs_);
    }

    int list_ports(const struct graph* graph, const int32_t* tensors, int number,
                   int (*get_requirement)(void*, int, tengine_buffer_requirement_t*),
                   Vector<Port>& ports) const
    {
        for (int i = 0; i < number; ++i) {
            const struct tensor* tensor = get_ir_graph_tensor(graph, tensors[i]);
            tengine_buffer_requirement_t wanted = {0, tensor->data_type};
            if (get_requirement)
                TENGINE_RETURN_IF_ERROR(
                    as_failure("get_requirement", get_requirement(invocation_, i, &wanted)));
            if (wanted.data_type != tensor->data_type)
                return tengine_error_set(TENGINE_EDTYPE, "'%s' is %s, expected %s by the byte code",
                                         tensor->name, get_data_type_name(tensor->data_type),
                                         get_data_type_name(wanted.data_type));
            if ((wanted.alignment & (wanted.alignment - 1)) != 0 ||
                wanted.alignment > kMostAlignment)
                return tengine_error_set(
                    TENGINE_EDEVICE,
                    "'%s': invalid alignment %zu: expected a power of two, at most %zu",
                    tensor->name, wanted.alignment, kMostAlignment);
            Port& port = ports.emplace_back();
            port.tensor = tensor;
            port.alignment = std::max<size_t>(wanted.alignment, 1);
            // A run allocates nothing, at any address that the program gives a tensor. An unused
            // copy takes no physical memory.
            if (port.alignment > 1 && is_ir_tensor_shape_known(tensor))
                port.copy.reserve(get_ir_tensor_bytes(tensor) + port.alignment);
        }
        return 0;
    }

    // The tensor's own memory if it is aligned, else the copy.
    void* buffer_of(Port& port)
    {
        void* data = port.tensor->data;
        if (reinterpret_cast<uintptr_t>(data) % port.alignment == 0) return data;
        ++copies_;
        return align(port.copy, get_ir_tensor_bytes(port.tensor), port.alignment);
    }

    VendorDevice& vendor_;
    void* invocation_ = nullptr;
    bool cancelled_ = false;  // guarded by the mutex of the device while a run is in flight
    std::optional<RunningInvocation> running_;  // of invoke_async
    Call call_;
    Vector<Port> inputs_;
    Vector<Port> outputs_;
    int copies_ = 0;
};

Part& part_of(struct subgraph* subgraph)
{
    return *static_cast<Part*>(subgraph->device_graph);
}

// Makes a part and keeps it if `work` succeeds.
template <class Work>
int make_part(struct device* device, struct subgraph* subgraph, const Work& work)
{
    return guarded(
        [&] {
            std::unique_ptr<Part> part(new Part(vendor_device(device)));
            TENGINE_RETURN_IF_ERROR(work(*part));
            delete static_cast<Part*>(subgraph->device_graph);
            subgraph->device_graph = part.release();
            return 0;
        },
        "device '%s': out of memory for a part", device->name);
}

template <class Work>
int with_part(struct device* device, struct subgraph* subgraph, const Work& work)
{
    return guarded([&] { return work(part_of(subgraph)); }, "device '%s': out of memory for a run",
                   device->name);
}

int release_graph(struct device*, void* device_graph)
{
    delete static_cast<Part*>(device_graph);
    return 0;
}

}  // namespace

void fill_part_entries(struct interface& interface)
{
    interface.pre_run = [](struct device* device, struct subgraph* subgraph, void*) {
        return make_part(device, subgraph, [&](Part& part) { return part.compile(*subgraph); });
    };
    interface.load = [](struct device* device, struct subgraph* subgraph, const void* data,
                        size_t size) {
        return make_part(device, subgraph,
                         [&](Part& part) { return part.load(*subgraph, data, size); });
    };
    interface.save = [](struct device* device, struct subgraph* subgraph, struct ir_sink* sink) {
        return with_part(device, subgraph,
                         [&](Part& part) { return part.save(*subgraph->graph, sink); });
    };
    interface.run = [](struct device* device, struct subgraph* subgraph) {
        return with_part(device, subgraph, [&](Part& part) { return part.run(*subgraph); });
    };
    interface.async_run = [](struct device* device, struct subgraph* subgraph) {
        return with_part(device, subgraph, [&](Part& part) { return part.run_async(*subgraph); });
    };
    interface.async_wait = [](struct device* device, struct subgraph* subgraph, int try_wait) {
        return with_part(device, subgraph, [&](Part& part) { return part.wait(try_wait); });
    };
    interface.cancel = cancel_run;
    interface.count = [](struct device* device, struct subgraph* subgraph,
                         struct vector* out_counters) {
        return with_part(device, subgraph, [&](Part& part) { return part.count(out_counters); });
    };
    interface.memory = [](struct device*, struct subgraph* subgraph, ir_part_memory_t* out_memory) {
        out_memory->compiled = part_of(subgraph).bytes();
        out_memory->arena = part_of(subgraph).copy_bytes();
        return 0;
    };
    interface.post_run = [](struct device*, struct subgraph* subgraph) {
        part_of(subgraph).leave();
        return 0;
    };
    interface.release_graph = release_graph;
}

}  // namespace tengine::adapter
