// SPDX-License-Identifier: Apache-2.0
// In a network, a step finds its inputs in the caches, since they have just been written, but not
// its weights, since those of the other steps have passed meanwhile. So before each timed run the
// caches are replaced, and the inputs are written; without that, kernels with large weights seem
// faster than they are: a Winograd's convolution of 512 channels, with filters transformed in
// advance, took 0.6 ms on two threads of a Zen 4 where it takes 1.0 to 1.1 ms in resnet18.
#include "device/cpu/plan/timing.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "device/cpu/estimate.h"
#include "device/cpu/parallel.h"
#include "device/cpu/plan/aligned_constants.h"
#include "graph/late_constant.h"
#include "graph/preparation.h"
#include "operator/param.h"
#include "tengine/device.h"

namespace tengine::cpu {
namespace {

// The maximum of runs of a kernel, fewer when they have taken long enough; the least time counts.
constexpr int kMostRuns = 4;
constexpr uint64_t kLongEnoughNs = 20'000'000;
// A kernel whose first run takes this many times the fastest time has no second run.
constexpr uint64_t kFarSlower = 3;
// Another kernel replaces the first one if its time is at most this share.
constexpr double kFaster = 0.96;
// Steps that are estimated to take longer are not timed.
constexpr double kMostStepMs = 100;
// The limit of time for all steps of a part; the remaining steps are not timed.
constexpr uint64_t kMostPartNs = 3'000'000'000;
constexpr size_t kMostKnown = 4096;
constexpr size_t kMostCacheBytes = size_t{64} << 20;
constexpr size_t kPieceBytes = 4096;

using Memory = std::unique_ptr<void, void (*)(void*)>;

// Tensors of a step in memory of their own; constants are not copied.
class StandIns
{
  public:
    explicit StandIns(const Step& step) : step_(step)
    {
        tensors_.reserve(step.inputs.size() + step.outputs.size());
        memory_.reserve(tensors_.capacity());
    }

    bool allocate()
    {
        int64_t bytes = 0;
        for (const Vector<tensor*>* list : {&step_.inputs, &step_.outputs})
            for (const tensor* each : *list)
                if (each && each->tensor_type != TENSOR_TYPE_CONST)
                    bytes += static_cast<int64_t>(get_ir_tensor_bytes(each));
        if (check_ir_memory(step_.context.node->graph, bytes, "kernels that are timed") < 0)
            return false;
        for (tensor* input : step_.inputs)
            if (!add(input, inputs_)) return false;
        for (tensor* output : step_.outputs)
            if (!add(output, outputs_)) return false;
        const cpu_cache_size_t cache = get_cpu_cache_size();
        cache_bytes_ = std::min(std::max(cache.l3, 4 * cache.l2), kMostCacheBytes);
        cache_bytes_ = cache_bytes_ / kPieceBytes * kPieceBytes;
        cache_.reset(alloc_raw_memory(cache_bytes_));
        return cache_ != nullptr;
    }

    // A step with this kernel on these tensors.
    Step make_step(const Kernel& kernel) const
    {
        Step step;
        step.kernel = &kernel;
        step.context.node = step_.context.node;
        step.context.pool = step_.context.pool;
        step.context.fusion = step_.context.fusion;
        step.layout = step_.layout;
        step.inputs = inputs_;
        step.outputs = outputs_;
        return step;
    }

    // Writes the inputs as a network does. The values are not subnormal, which may take longer.
    void warm()
    {
        // In pieces, since memset() of as many bytes at once bypasses the caches.
        for (size_t i = 0; i < cache_bytes_; i += kPieceBytes)
            std::memset(static_cast<char*>(cache_.get()) + i, 0, kPieceBytes);
        for (tensor* input : inputs_) {
            if (!input || input->tensor_type == TENSOR_TYPE_CONST) continue;
            if (input->data_type == TENGINE_DT_FP32)
                std::fill_n(input->f32, input->elem_num, 0.5f);
            else
                std::memset(input->data, 0, get_ir_tensor_bytes(input));
        }
    }

  private:
    bool add(tensor* original, Vector<tensor*>& list)
    {
        const bool is_constant = original && original->tensor_type == TENSOR_TYPE_CONST;
        if (!original || is_constant) {
            list.push_back(original);
            return !is_constant || find_ir_constant_place(original);
        }
        const size_t bytes = get_ir_tensor_bytes(original);
        memory_.emplace_back(alloc_memory(bytes), free_memory);
        if (!memory_.back()) return false;
        std::memset(memory_.back().get(), 0, bytes);  // so that no run has to create pages
        tensors_.push_back(*original);
        tensors_.back().index = -1;
        tensors_.back().data = memory_.back().get();
        list.push_back(&tensors_.back());
        return true;
    }

    const Step& step_;
    Vector<tensor> tensors_;
    Vector<Memory> memory_;
    Vector<tensor*> inputs_, outputs_;
    Memory cache_{nullptr, free_memory};
    size_t cache_bytes_ = 0;
};

// Least time of a run. `best` is that of the previous kernels.
int time_runs(Step& step, StandIns& tensors, uint64_t best, uint64_t* out_ns)
{
    const ParallelRun awake(step.context.pool);
    uint64_t sum = 0, least = UINT64_MAX;
    for (int run = 0; run < kMostRuns && sum < kLongEnoughNs; ++run) {
        tensors.warm();
        const uint64_t start = get_time_ns();
        TENGINE_RETURN_IF_ERROR(step.kernel->run(step.context));
        const uint64_t ns = std::max<uint64_t>(get_time_ns() - start, 1);
        least = std::min(least, ns);
        sum += ns;
        if (ns / kFarSlower > best) break;
    }
    *out_ns = least;
    return TENGINE_OK;
}

int time_kernel(const Kernel& kernel, StandIns& tensors, uint64_t best, uint64_t* out_ns)
{
    AlignedConstants constants;
    Step step = tensors.make_step(kernel);
    TENGINE_RETURN_IF_ERROR(constants.align(step));
    step.bind();
    step.refresh_views();
    // Not pack_weights(), since the next kernel reads the constants again.
    if (kernel.prepare) TENGINE_RETURN_IF_ERROR(kernel.prepare(step.context));
    const Memory scratch(alloc_memory64(step.context.scratch_size), free_memory);
    if (!scratch) return TENGINE_ENOMEM;
    step.context.scratch = scratch.get();
    return time_runs(step, tensors, best, out_ns);
}

void add_tensors(sha256_t* hash, const Vector<tensor*>& list)
{
    update_sha256_number(hash, static_cast<int64_t>(list.size()));
    for (const tensor* each : list) {
        update_sha256_number(hash, each ? each->data_type : -1);
        if (!each) continue;
        update_sha256_number(hash, each->tensor_type == TENSOR_TYPE_CONST);
        update_sha256_number(hash, each->dim_num);
        update_sha256(hash, each->dims, sizeof *each->dims * static_cast<size_t>(each->dim_num));
    }
}

}  // namespace

bool is_timing_wanted(const graph& graph)
{
    const char* value = get_ir_device_option(&graph, find_default_device(), "timing");
    return value && std::strcmp(value, "on") == 0;
}

const Kernel* find_fastest(const Step& step, const Vector<const Kernel*>& kernels,
                           KernelTimes* out_times)
{
    StandIns tensors(step);
    if (!tensors.allocate()) {
        tengine_error_clear();
        return nullptr;
    }
    const Kernel* fastest = nullptr;
    uint64_t best = UINT64_MAX;
    for (const Kernel* kernel : kernels) {
        uint64_t ns = 0;
        if (time_kernel(*kernel, tensors, best, &ns) != TENGINE_OK) {
            tengine_error_clear();
            if (!fastest) return nullptr;
            continue;
        }
        out_times->push_back({kernel, ns});
        const double first = static_cast<double>(out_times->front().ns);
        if (fastest && (ns >= best || static_cast<double>(ns) > kFaster * first)) continue;
        fastest = kernel;
        best = ns;
    }
    return fastest;
}

namespace {

// Gives the step its fastest kernel.
void time_step(const KernelList& kernels, const Vector<const Kernel*>& alternatives, Step& step)
{
    if (estimate_ms(kernels, *step.context.node) > kMostStepMs) {
        step.untimed = "not timed: it takes more than 100 ms";
        return;
    }
    if (const Kernel* fastest = find_fastest(step, alternatives, &step.times))
        step.kernel = fastest;
    else
        step.untimed = "not timed: it could not be run";
}

}  // namespace

TimedKernels::Key TimedKernels::find_key(const Step& step, const Vector<const Kernel*>& kernels)
{
    const Fusion& fusion = step.context.fusion;
    Key key;
    sha256_t hash;
    start_sha256(&hash);
    digest_op(&hash, &step.context.node->op);
    add_tensors(&hash, step.inputs);
    add_tensors(&hash, step.outputs);
    for (const Kernel* kernel : kernels)
        update_sha256_text(&hash, kernel->name);
    for (const int number : {static_cast<int>(step.layout), fusion.addend, fusion.scale,
                             fusion.table, static_cast<int>(fusion.activation)})
        update_sha256_number(&hash, number);
    finish_sha256(&hash, key.data());
    return key;
}

bool TimedKernels::find(const Key& key, Step& step)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(key);
    // When the table is full, new steps keep their kernels.
    if (found == known_.end()) return known_.size() >= kMostKnown;
    step.kernel = found->second.kernel;
    step.times = found->second.times;
    step.untimed = found->second.untimed;
    return true;
}

void TimedKernels::add(const Key& key, const Step& step)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    known_.try_emplace(key, Choice{step.kernel, step.times, step.untimed});
}

void TimedKernels::choose(const KernelList& kernels, Vector<Step>& steps)
{
    const uint64_t start = get_time_ns();
    for (Step& step : steps) {
        const Vector<const Kernel*> alternatives = list_alternatives(kernels, step);
        if (alternatives.size() < 2) continue;
        const Key key = find_key(step, alternatives);
        if (find(key, step)) continue;
        if (get_time_ns() - start > kMostPartNs)
            step.untimed = "not timed: those before it took 3 s";
        else
            time_step(kernels, alternatives, step);
        add(key, step);
        find(key, step);  // another thread may have been faster
    }
}

void TimedKernels::take(const KernelList& kernels, const char* name, Step& step)
{
    const Vector<const Kernel*> alternatives = list_alternatives(kernels, step);
    if (alternatives.size() < 2) return;
    const auto same = [name](const Kernel* kernel) { return !std::strcmp(kernel->name, name); };
    const auto found = std::find_if(alternatives.begin(), alternatives.end(), same);
    if (found == alternatives.end()) return;
    const Key key = find_key(step, alternatives);
    const bool is_new = !find(key, step);
    step.kernel = *found;
    step.times.clear();
    step.untimed = "as saved";
    if (is_new) add(key, step);
}

}  // namespace tengine::cpu
