// SPDX-License-Identifier: Apache-2.0
// Parts of a vendor's device: byte code, compiled here or loaded, that the dispatch runs.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <memory>

#include "adapter/vendor_device.h"
#include "base/guard.hpp"

namespace tengine::adapter {
namespace {

// What save() writes: this, the entry point, and the module at kModuleOffset.
struct SavedHead
{
    char magic[8];
    uint64_t entry_size;
    uint64_t module_size;
};
constexpr char kMagic[8] = {'T', 'V', 'E', 'N', 'D', 'O', 'R', '1'};
constexpr size_t kModuleOffset = 4096;
constexpr size_t kMaxEntry = kModuleOffset - sizeof(SavedHead);

// A tensor at the border of the part.
struct Port
{
    const struct tensor* tensor;
    size_t alignment;
    void* attached = nullptr;
    Vector<uint8_t> copy;  // for tensors that are not aligned
};

void* align(Vector<uint8_t>& bytes, size_t size, size_t alignment)
{
    bytes.resize(size + alignment);
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return bytes.data() + (alignment - address % alignment) % alignment;
}

}  // namespace

void Module::copy(const void* from, size_t number)
{
    void* aligned = align(memory, number, kModuleOffset);
    if (number > 0) std::memcpy(aligned, from, number);
    bytes = aligned;
    size = number;
}

int as_failure(const char* entry, int status)
{
    if (status == 0) return 0;
    if (status < 0 && tengine_error_code() != 0) return status;
    return tengine_error_set(TENGINE_EDEVICE, "%s returned %d", entry, status);
}

namespace {

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

    int save(struct ir_sink* sink) const
    {
        SavedHead head{};
        std::memcpy(head.magic, kMagic, sizeof kMagic);
        head.entry_size = call_.entry_point.size();
        head.module_size = call_.module->size;
        if (call_.entry_point.size() > kMaxEntry)
            return tengine_error_set(TENGINE_ELIMIT, "an entry point's name has %zu bytes",
                                     call_.entry_point.size());
        Vector<uint8_t> front(kModuleOffset);
        std::memcpy(front.data(), &head, sizeof head);
        std::memcpy(front.data() + sizeof head, call_.entry_point.data(), call_.entry_point.size());
        TENGINE_RETURN_IF_ERROR(write_ir_sink(sink, front.data(), front.size()));
        return write_ir_sink(sink, call_.module->bytes, call_.module->size);
    }

    int load(const struct subgraph& subgraph, const void* data, size_t size)
    {
        SavedHead head;
        if (!vendor_.dispatch)
            return tengine_error_set(TENGINE_ENOTSUP, "%s has no dispatch here",
                                     vendor_.name.c_str());
        if (size < kModuleOffset)
            return tengine_error_set(TENGINE_EFORMAT, "%zu bytes are no saved part", size);
        std::memcpy(&head, data, sizeof head);
        if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0 || head.entry_size > kMaxEntry ||
            head.module_size != size - kModuleOffset)
            return tengine_error_set(TENGINE_EFORMAT,
                                     "a saved part says %" PRIu64 " and %" PRIu64 " bytes of %zu",
                                     head.entry_size, head.module_size, size);
        const char* bytes = static_cast<const char*>(data);
        call_.entry_point.assign(bytes + sizeof head, static_cast<size_t>(head.entry_size));
        call_.module = ModulePointer(new Module(vendor_));
        call_.module->bytes = bytes + kModuleOffset;
        call_.module->size = static_cast<size_t>(head.module_size);
        return open(subgraph);
    }

    int start()
    {
        if (!invocation_)
            return tengine_error_set(TENGINE_ENOTSUP, "%s has no dispatch here",
                                     vendor_.name.c_str());
        copies_ = 0;
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

    int run()
    {
        TENGINE_RETURN_IF_ERROR(start());
        TENGINE_RETURN_IF_ERROR(as_failure("invoke", vendor_.dispatch->invoke(invocation_)));
        return finish();
    }

    int run_async()
    {
        if (!vendor_.dispatch || !vendor_.dispatch->invoke_async) return run();
        TENGINE_RETURN_IF_ERROR(start());
        return as_failure("invoke_async", vendor_.dispatch->invoke_async(invocation_));
    }

    int wait(int try_wait)
    {
        if (!vendor_.dispatch->invoke_async) return 1;
        const int status = vendor_.dispatch->wait(invocation_, try_wait);
        if (status < 0) return as_failure("wait", status);
        return status == 1 ? (finish(), 1) : status;
    }

    void cancel()
    {
        if (invocation_ && vendor_.dispatch->cancel) vendor_.dispatch->cancel(invocation_);
    }

    int count(struct vector* out_counters)
    {
        ir_counter_t counter = {"copies", "", static_cast<double>(copies_)};
        if (push_vector_data(out_counters, &counter) < 0) return TENGINE_ENOMEM;
        const tengine_dispatch_t* dispatch = vendor_.dispatch;
        for (int i = 0; invocation_ && dispatch->get_metric; ++i) {
            counter = {};
            const int status = dispatch->get_metric(invocation_, i, &counter);
            if (status <= 0) return status;
            counter.name[sizeof counter.name - 1] = counter.unit[sizeof counter.unit - 1] = '\0';
            if (push_vector_data(out_counters, &counter) < 0) return TENGINE_ENOMEM;
        }
        return 0;
    }

    int64_t bytes() const { return static_cast<int64_t>(call_.module->size); }

    // Tensors of the graph that ended are not touched again.
    void leave()
    {
        inputs_.clear();
        outputs_.clear();
    }

  private:
    int open(const struct subgraph& subgraph)
    {
        const tengine_dispatch_t& dispatch = *vendor_.dispatch;
        Module& module = *call_.module;
        if (!module.handle)
            TENGINE_RETURN_IF_ERROR(
                as_failure("load", dispatch.load(module.bytes, module.size, &module.handle)));
        TENGINE_RETURN_IF_ERROR(as_failure(
            "create_invocation",
            dispatch.create_invocation(module.handle, call_.entry_point.c_str(), subgraph.input_num,
                                       subgraph.output_num, &invocation_)));
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
                return tengine_error_set(TENGINE_EDTYPE, "'%s' is %s: the byte code expects %s",
                                         tensor->name, get_data_type_name(tensor->data_type),
                                         get_data_type_name(wanted.data_type));
            if ((wanted.alignment & (wanted.alignment - 1)) != 0)
                return tengine_error_set(TENGINE_EDEVICE,
                                         "'%s': invalid alignment %zu: expected a power of two",
                                         tensor->name, wanted.alignment);
            Port& port = ports.emplace_back();
            port.tensor = tensor;
            port.alignment = std::max<size_t>(wanted.alignment, 1);
        }
        return 0;
    }

    // The tensor's own memory where it is aligned.
    void* buffer_of(Port& port)
    {
        void* data = port.tensor->data;
        if (reinterpret_cast<uintptr_t>(data) % port.alignment == 0) return data;
        ++copies_;
        return align(port.copy, get_ir_tensor_bytes(port.tensor), port.alignment);
    }

    VendorDevice& vendor_;
    void* invocation_ = nullptr;
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
        "no memory for a part of %s", device->name);
}

template <class Work>
int with_part(struct device* device, struct subgraph* subgraph, const Work& work)
{
    return guarded([&] { return work(part_of(subgraph)); }, "no memory for a run of %s",
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
        return with_part(device, subgraph, [&](Part& part) { return part.save(sink); });
    };
    interface.run = [](struct device* device, struct subgraph* subgraph) {
        return with_part(device, subgraph, [](Part& part) { return part.run(); });
    };
    interface.async_run = [](struct device* device, struct subgraph* subgraph) {
        return with_part(device, subgraph, [](Part& part) { return part.run_async(); });
    };
    interface.async_wait = [](struct device* device, struct subgraph* subgraph, int try_wait) {
        return with_part(device, subgraph, [&](Part& part) { return part.wait(try_wait); });
    };
    interface.cancel = [](struct device*, struct subgraph* subgraph) {
        if (subgraph->device_graph) part_of(subgraph).cancel();
    };
    interface.count = [](struct device*, struct subgraph* subgraph, struct vector* out_counters) {
        return part_of(subgraph).count(out_counters);
    };
    interface.memory = [](struct device*, struct subgraph* subgraph, ir_part_memory_t* out_memory) {
        out_memory->compiled = part_of(subgraph).bytes();
        return 0;
    };
    interface.post_run = [](struct device*, struct subgraph* subgraph) {
        part_of(subgraph).leave();
        return 0;
    };
    interface.release_graph = release_graph;
}

}  // namespace tengine::adapter
