// SPDX-License-Identifier: Apache-2.0
// The classes of a delegate: Delegate, the DelegateModel that it examines, and the Kernel that
// replaces nodes. Part of tengine/delegate.hpp.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tengine/delegate/schema.hpp"
#include "tengine/delegate/types.hpp"

namespace tengine::delegate {

class Delegate;
namespace detail {
class RegisteredDelegate;
}

// A device that a Context always lists: the CPU, which computes the nodes that no delegate has
// taken.
class CPUDeviceInfo
{
  public:
    // Float nodes on the CPU in fp16 (TENGINE_MODE_FP16). Not by default.
    void SetEnableFP16(bool enable) { fp16_ = enable; }
    bool GetEnableFP16() const { return fp16_; }

  private:
    bool fp16_ = false;
};

// The settings of a Model's runs.
class Context
{
  public:
    // Threads of the CPU; 1 by default.
    void SetThreadNum(int32_t number) { thread_num_ = number; }
    int32_t GetThreadNum() const { return thread_num_; }
    // May stay empty: the CPU is always there.
    std::vector<std::shared_ptr<CPUDeviceInfo>>& MutableDeviceInfo() { return device_info_; }
    // Appends a delegate. Delegates choose in the order in which they were set. nullptr removes all
    // of them: Tengine computes all nodes.
    void SetDelegate(std::shared_ptr<Delegate> delegate)
    {
        if (delegate)
            delegates_.push_back(std::move(delegate));
        else
            delegates_.clear();
    }
    // The first, or nullptr.
    std::shared_ptr<Delegate> GetDelegate() const
    {
        return delegates_.empty() ? nullptr : delegates_.front();
    }
    // The same under the names of MindSpore Lite from 2.0 on.
    void set_delegate(std::shared_ptr<Delegate> delegate) { SetDelegate(std::move(delegate)); }
    std::shared_ptr<Delegate> get_delegate() const { return GetDelegate(); }
    const std::vector<std::shared_ptr<Delegate>>& Delegates() const { return delegates_; }

  private:
    int32_t thread_num_ = 1;
    std::vector<std::shared_ptr<CPUDeviceInfo>> device_info_;
    std::vector<std::shared_ptr<Delegate>> delegates_;
};

namespace kernel {

// Computes a part of a model. A delegate derives from it; the kernels that a DelegateModel
// shows, one for each node, only describe. Calls of the kernels of one delegate never overlap, but
// may come from different threads.
class Kernel
{
  public:
    Kernel() = default;
    Kernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
           const schema::Primitive* primitive, const Context* context)
        : inputs_(std::move(inputs)),
          outputs_(std::move(outputs)),
          type_(primitive ? primitive->value_type() : schema::PrimitiveType_NONE),
          primitive_(primitive),
          context_(context)
    {
    }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    virtual ~Kernel() = default;

    // Each returns 0, or a failure. After a failure of Prepare, ReSize or Execute other devices
    // compute the nodes until the model is prepared again, and reports show it. Prepare is called
    // once, before the first Execute; shapes are known, and constants have data, whose addresses
    // are valid until the model is resized.
    virtual int Prepare() = 0;
    // Reads the data of inputs() and writes the data of outputs(). Their addresses may differ in
    // every run.
    virtual int Execute() = 0;
    // Instead of Prepare when the model has been prepared again and nothing but shapes has changed.
    virtual int ReSize() = 0;
    // Wakes an Execute that waits, when the run was cancelled (tengine/run.h): it should return
    // soon, with any result. Called by another thread while Execute is in flight, perhaps several
    // times; it must not wait for Execute, and not throw. An Execute that asks IsCancelled between
    // its steps needs none.
    virtual void Cancel() {}
    // Whether the Execute in flight should return. Any thread.
    bool IsCancelled() const { return cancelled_; }

    // DelegateModel::Replace reads the tensors. Tengine sets none, and does not see tensors that
    // are set afterwards. A kernel that stores them elsewhere overrides these.
    virtual const std::vector<MSTensor>& inputs() { return inputs_; }
    virtual const std::vector<MSTensor>& outputs() { return outputs_; }
    virtual void set_inputs(const std::vector<MSTensor>& inputs) { inputs_ = inputs; }
    virtual void set_outputs(const std::vector<MSTensor>& outputs) { outputs_ = outputs; }
    // Throw std::out_of_range for an index that does not exist.
    virtual void set_input(MSTensor tensor, int index)
    {
        At(inputs_, index, "input") = std::move(tensor);
    }
    virtual void set_output(MSTensor tensor, int index)
    {
        At(outputs_, index, "output") = std::move(tensor);
    }
    // The name for messages.
    virtual std::string name() const { return name_; }
    void set_name(const std::string& name) { name_ = name; }
    virtual schema::PrimitiveType type() const { return type_; }
    // During Delegate::Build only.
    const schema::Primitive* primitive() const { return primitive_; }
    // Threads and precision of the run; during Delegate::Build only.
    const Context* context() const { return context_; }

  protected:
    std::vector<MSTensor> inputs_;
    std::vector<MSTensor> outputs_;
    std::string name_;
    schema::PrimitiveType type_ = schema::PrimitiveType_NONE;
    const schema::Primitive* primitive_ = nullptr;
    const Context* context_ = nullptr;

  private:
    friend class tengine::delegate::detail::RegisteredDelegate;

    static MSTensor& At(std::vector<MSTensor>& tensors, int index, const char* kind)
    {
        if (index < 0 || static_cast<size_t>(index) >= tensors.size())
            throw std::out_of_range(std::string(kind) + " " + std::to_string(index) +
                                    " of a kernel that has " + std::to_string(tensors.size()));
        return tensors[static_cast<size_t>(index)];
    }

    std::atomic<bool> cancelled_{false};
};

}  // namespace kernel

using KernelIter = std::vector<kernel::Kernel*>::iterator;

enum SchemaVersion : int
{
    SCHEMA_INVALID = -1,
    SCHEMA_CUR = 0,
    SCHEMA_V0 = 1,
};

namespace detail {

// The identity of a node in all graphs that are made of one model: its name, its operator's name,
// and the names of the tensors that it reads and writes.
inline std::string Identify(const struct node& node)
{
    std::string key = node.name;
    key.append(1, '\0').append(get_ir_node_domain(&node)).append(1, '\0');
    key.append(get_ir_node_op(&node));
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        key.append(1, '\0').append(output ? output->name : "");
    }
    return key;
}

// Stands for one node.
class NodeKernel final : public kernel::Kernel
{
  public:
    NodeKernel(const struct node& node, std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
               const Context& context)
        : Kernel(std::move(inputs), std::move(outputs), nullptr, &context), operator_(node)
    {
        name_ = node.name;
        primitive_ = &operator_;
        type_ = operator_.value_type();
    }
    int Prepare() override { return -1; }
    int Execute() override { return -1; }
    int ReSize() override { return -1; }

  private:
    schema::Primitive operator_;
};

// The result of one Replace: a kernel, the nodes it computes (Identify), and the tensors they have.
struct Replacement
{
    std::unique_ptr<kernel::Kernel> kernel;
    std::vector<std::string> nodes;
    std::vector<std::shared_ptr<GraphTensor>> tensors;
};

}  // namespace detail

// A model as its nodes in topological order, an entry each. Its pointers are valid during
// Delegate::Build; copies of tensors stay valid as long as a kernel that has nodes which read or
// write them.
class DelegateModel
{
  public:
    // For the device of a delegate: `nodes` of a graph, which these tensors enter and leave.
    DelegateModel(const struct graph& graph, const std::vector<int32_t>& nodes,
                  const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs)
        : graph_(graph), tensors_(static_cast<size_t>(graph.tensor_num))
    {
        context_.SetThreadNum(graph.run_options->num_thread);
        context_.MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
        context_.MutableDeviceInfo()[0]->SetEnableFP16(graph.run_options->precision ==
                                                       TENGINE_MODE_FP16);
        for (const int32_t index : nodes)
            Show(*get_ir_graph_node(&graph, index));
        inputs_ = Share(inputs.data(), static_cast<int32_t>(inputs.size()));
        outputs_ = Share(outputs.data(), static_cast<int32_t>(outputs.size()));
    }

    KernelIter BeginKernelIterator() { return list_.begin(); }
    KernelIter EndKernelIterator() { return list_.end(); }
    // The operator of an entry; nullptr when the entry is not one of the model's nodes.
    const schema::Primitive* GetPrimitive(const kernel::Kernel* entry) const
    {
        return entry ? entry->primitive() : nullptr;
    }

    // The tensors that a kernel for the entries [from, end) reads and writes: tensors that none of
    // them writes, without constants; and those that others read or that leave the model. Each
    // once. Iterators of another model are an error as in Replace.
    std::vector<MSTensor> InputsOf(KernelIter from, KernelIter end)
    {
        std::vector<MSTensor> result;
        ForSpan(from, end, [&](const struct node& node, const Span& span) {
            for (int i = 0; i < node.input_num; ++i) {
                const struct tensor* input = get_ir_node_input(&node, i);
                if (input && input->tensor_type != TENSOR_TYPE_CONST && !IsIn(span, *input))
                    AddOnce(result, MSTensor(Core(input->index)));
            }
        });
        return result;
    }
    std::vector<MSTensor> OutputsOf(KernelIter from, KernelIter end)
    {
        std::vector<MSTensor> result;
        ForSpan(from, end, [&](const struct node& node, const Span& span) {
            for (int i = 0; i < node.output_num; ++i) {
                const struct tensor* output = get_ir_node_output(&node, i);
                if (output && IsReadOutside(*output, span))
                    AddOnce(result, MSTensor(Core(output->index)));
            }
        });
        return result;
    }

    // Replaces the entries [from, end), one, several or all, by `kernel`; they may be replacements
    // themselves. The model owns it from then on, and Tengine deletes it when the preparation
    // of the model ends. It reads only tensors that exist before the entries, constants included,
    // and writes all tensors that others read or that leave the model. Returns the iterator after
    // the new entry; all others become invalid. A call that breaks one of these rules deletes
    // `kernel`, changes nothing, returns the begin iterator, and makes Build a failure; status()
    // has the reason.
    KernelIter Replace(KernelIter from, KernelIter end, kernel::Kernel* kernel)
    {
        if (spans_.count(kernel) != 0) {
            Refuse("kernel '" + kernel->name() + "' is in the model already");
            return list_.begin();
        }
        std::unique_ptr<kernel::Kernel> owned(kernel);
        Span span{};
        if (!FindSpan(from - list_.begin(), end - list_.begin(), &span) || !Accept(kernel, span))
            return list_.begin();
        for (auto entry = from; entry != end; ++entry) {
            spans_.erase(*entry);
            replaced_.erase(*entry);
        }
        spans_[kernel] = span;
        replaced_[kernel] = std::move(owned);
        const KernelIter place = list_.erase(from, end);
        return list_.insert(place, kernel) + 1;
    }

    const std::vector<MSTensor>& inputs() const { return inputs_; }
    const std::vector<MSTensor>& outputs() const { return outputs_; }
    SchemaVersion GetVersion() const { return SCHEMA_CUR; }
    // kSuccess, or the first call of Replace that was refused.
    const Status& status() const { return status_; }

    // For the device of a delegate, once: the replacements, in the order of execution.
    std::vector<detail::Replacement> TakeReplacements()
    {
        std::vector<detail::Replacement> result;
        for (kernel::Kernel* entry : list_) {
            const auto found = replaced_.find(entry);
            if (found == replaced_.end()) continue;
            const Span& span = spans_[entry];
            detail::Replacement replacement;
            replacement.kernel = std::move(found->second);
            std::map<int32_t, std::shared_ptr<detail::GraphTensor>> tensors;
            for (size_t rank = span.first; rank < span.last; ++rank) {
                replacement.nodes.push_back(detail::Identify(*nodes_[rank]));
                ForTensors(*nodes_[rank], [&](int32_t index) { tensors[index] = Core(index); });
            }
            for (auto& tensor : tensors)
                replacement.tensors.push_back(std::move(tensor.second));
            result.push_back(std::move(replacement));
        }
        replaced_.clear();
        return result;
    }
    // For the device of a delegate: unbinds the tensors.
    void Unbind()
    {
        for (const auto& tensor : tensors_)
            if (tensor) tensor->Bind(nullptr);
    }

  private:
    // Nodes by their ranks in the order of execution.
    struct Span
    {
        size_t first;
        size_t last;  // one past it
    };

    template <class Function>
    static void ForTensors(const struct node& node, const Function& function)
    {
        for (int i = 0; i < node.input_num; ++i)
            if (node.input_tensors[i] >= 0) function(node.input_tensors[i]);
        for (int i = 0; i < node.output_num; ++i)
            if (node.output_tensors[i] >= 0) function(node.output_tensors[i]);
    }

    const std::shared_ptr<detail::GraphTensor>& Core(int32_t index)
    {
        auto& core = tensors_[static_cast<size_t>(index)];
        if (!core)
            core =
                std::make_shared<detail::GraphTensor>(*get_ir_graph_tensor(&graph_, index), index);
        return core;
    }

    std::vector<MSTensor> Share(const int32_t* indices, int32_t number)
    {
        std::vector<MSTensor> result;
        for (int32_t i = 0; i < number; ++i)
            result.push_back(indices[i] < 0 ? MSTensor() : MSTensor(Core(indices[i])));
        return result;
    }

    void Show(const struct node& node)
    {
        auto shown = std::make_unique<detail::NodeKernel>(
            node, Share(node.input_tensors, node.input_num),
            Share(node.output_tensors, node.output_num), context_);
        spans_[shown.get()] = {nodes_.size(), nodes_.size() + 1};
        rank_of_[&node] = nodes_.size();
        nodes_.push_back(&node);
        list_.push_back(shown.get());
        shown_.push_back(std::move(shown));
    }

    bool Refuse(const std::string& reason)
    {
        if (status_.IsOk()) status_ = {kLiteParamInvalid, "Replace: " + reason};
        return false;
    }

    bool RefuseTensor(const char* verb, const MSTensor& tensor)
    {
        return Refuse(std::string("the kernel ") + verb +
                      (tensor.core() ? " '" + tensor.Name() + "'" : " an empty MSTensor") +
                      ", not a tensor of the model");
    }

    bool FindSpan(std::ptrdiff_t first, std::ptrdiff_t last, Span* out_span)
    {
        const auto number = static_cast<std::ptrdiff_t>(list_.size());
        if (first < 0 || last > number || first >= last)
            return Refuse("entries " + std::to_string(first) + " to " + std::to_string(last) +
                          " are not some of the model's " + std::to_string(number));
        for (std::ptrdiff_t i = first; i < last; ++i) {
            const auto found = spans_.find(list_[static_cast<size_t>(i)]);
            if (found == spans_.end())
                return Refuse("entry " + std::to_string(i) + " is not one of the model's");
            if (i > first && found->second.first != out_span->last)
                return Refuse("entry " + std::to_string(i) + ", '" +
                              list_[static_cast<size_t>(i)]->name() + "', is not where it was");
            if (i == first) *out_span = found->second;
            out_span->last = found->second.last;
        }
        return true;
    }

    template <class Function>
    void ForSpan(KernelIter from, KernelIter end, const Function& function)
    {
        Span span{};
        if (!FindSpan(from - list_.begin(), end - list_.begin(), &span)) return;
        for (size_t rank = span.first; rank < span.last; ++rank)
            function(*nodes_[rank], span);
    }

    static void AddOnce(std::vector<MSTensor>& list, const MSTensor& tensor)
    {
        for (const MSTensor& listed : list)
            if (listed == tensor) return;
        list.push_back(tensor);
    }

    bool IsIn(const Span& span, const struct tensor& tensor) const
    {
        const std::ptrdiff_t writer = Writer(tensor.index);
        return writer >= static_cast<std::ptrdiff_t>(span.first) &&
               writer < static_cast<std::ptrdiff_t>(span.last);
    }

    // The rank of the node that writes a tensor; -1: no node writes it.
    std::ptrdiff_t Writer(int32_t tensor) const
    {
        const struct node* node =
            get_ir_graph_node(&graph_, get_ir_graph_tensor(&graph_, tensor)->producer);
        const auto found = node ? rank_of_.find(node) : rank_of_.end();
        return found == rank_of_.end() ? -1 : static_cast<std::ptrdiff_t>(found->second);
    }

    // The tensor of a handle, -1 for a handle of another model.
    int32_t Find(const MSTensor& tensor) const
    {
        const auto* core = dynamic_cast<const detail::GraphTensor*>(tensor.core().get());
        const bool ours = core && core->Place() < static_cast<int>(tensors_.size()) &&
                          tensors_[static_cast<size_t>(core->Place())] == tensor.core();
        return ours ? core->Place() : -1;
    }

    bool Accept(kernel::Kernel* kernel, const Span& span)
    {
        if (!kernel) return Refuse("the kernel is nullptr");
        const auto first = static_cast<std::ptrdiff_t>(span.first);
        const auto last = static_cast<std::ptrdiff_t>(span.last);
        for (const MSTensor& input : kernel->inputs()) {
            const int32_t tensor = Find(input);
            if (tensor < 0) return RefuseTensor("reads", input);
            if (Writer(tensor) >= first && Writer(tensor) < last)
                return Refuse("the kernel reads '" + input.Name() + "', which it computes");
            if (Writer(tensor) >= last)
                return Refuse("the kernel reads '" + input.Name() +
                              "', which is computed after it: a cycle");
        }
        std::unordered_map<int32_t, bool> written;
        for (const MSTensor& output : kernel->outputs()) {
            const int32_t tensor = Find(output);
            if (tensor < 0) return RefuseTensor("writes", output);
            if (Writer(tensor) < first || Writer(tensor) >= last)
                return Refuse("the kernel writes '" + output.Name() +
                              "', which none of its nodes does");
            written[tensor] = true;
        }
        return AcceptOutputs(span, written);
    }

    bool AcceptOutputs(const Span& span, const std::unordered_map<int32_t, bool>& written)
    {
        for (size_t rank = span.first; rank < span.last; ++rank) {
            for (int i = 0; i < nodes_[rank]->output_num; ++i) {
                const struct tensor* tensor = get_ir_node_output(nodes_[rank], i);
                if (tensor && IsReadOutside(*tensor, span) && written.count(tensor->index) == 0)
                    return Refuse(std::string("the kernel does not write '") + tensor->name +
                                  "', which others read");
            }
        }
        return true;
    }

    bool IsReadOutside(const struct tensor& tensor, const Span& span) const
    {
        for (const MSTensor& output : outputs_)
            if (Find(output) == tensor.index) return true;
        for (int i = 0; i < tensor.consumer_num; ++i) {
            const auto reader = rank_of_.find(get_ir_graph_node(&graph_, tensor.consumer[i]));
            if (reader == rank_of_.end() || reader->second < span.first ||
                reader->second >= span.last)
                return true;
        }
        return false;
    }

    const struct graph& graph_;
    Context context_;
    std::vector<const struct node*> nodes_;
    std::unordered_map<const struct node*, size_t> rank_of_;
    std::vector<std::shared_ptr<detail::GraphTensor>> tensors_;  // by index; null: not used yet
    std::vector<std::unique_ptr<kernel::Kernel>> shown_;
    std::vector<kernel::Kernel*> list_;
    std::unordered_map<const kernel::Kernel*, Span> spans_;
    std::unordered_map<const kernel::Kernel*, std::unique_ptr<kernel::Kernel>> replaced_;
    std::vector<MSTensor> inputs_;
    std::vector<MSTensor> outputs_;
    Status status_;
};

// Code that computes nodes of a model in place of Tengine.
class Delegate
{
  public:
    Delegate() = default;
    // Tensors of the delegate, which Tengine does not read: a model's tensors belong to the
    // DelegateModel.
    Delegate(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs)
        : inputs_(std::move(inputs)), outputs_(std::move(outputs))
    {
    }
    virtual ~Delegate() = default;
    // Called before the first model, and again for a model that is loaded when no other exists.
    // kLiteNotSupport: the delegate does not work here, and models are built without it.
    virtual Status Init() = 0;
    // Reads a model, and replaces the nodes that it computes. Called once for a whole model, not
    // when it is resized. Called once more for a part alone, which it had replaced, if another
    // delegate has taken some of the nodes, or if several preparations of a graph are kept (option
    // run.shape_cache). A failure leaves the nodes to other devices, and reports show it.
    virtual Status Build(DelegateModel* model) = 0;
    // The name of its device in reports and options. A number is appended if another device has the
    // name.
    virtual std::string Name() const { return "DELEGATE"; }
    // The operators that Build may replace, by ONNX's names as push_op_names() (tengine/device.h)
    // takes them: reports list them, and the device is asked about no others. Called once, after
    // Init; names that the library does not know are skipped with a warning. Empty: any.
    virtual std::vector<std::string> Operators() const { return {}; }
    const std::vector<MSTensor>& inputs() const { return inputs_; }
    const std::vector<MSTensor>& outputs() const { return outputs_; }

  protected:
    std::vector<MSTensor> inputs_;
    std::vector<MSTensor> outputs_;
};

}  // namespace tengine::delegate
