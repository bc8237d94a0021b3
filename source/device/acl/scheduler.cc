// SPDX-License-Identifier: Apache-2.0
#include "device/acl/scheduler.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>

namespace tengine::acl {
namespace {

using arm_compute::ICPPKernel;
using arm_compute::IScheduler;
using arm_compute::ITensorPack;
using arm_compute::Scheduler;
using arm_compute::ThreadInfo;
using arm_compute::Window;

struct Binding
{
    bool bound = false;
    thread_pool_t* pool = nullptr;
};

thread_local Binding binding;

// How a window is split: into `x` parts of its first dimension times `y` of its second, or, if one
// of them is 1, along any one dimension.
struct Cut
{
    unsigned dimension;
    unsigned parts;
    bool both;  // the first and the second dimension
    unsigned second_parts;
};

// Parts of nearly equal shape, at most as many as there are threads.
Cut cut_in_two_dimensions(const Window& window, unsigned threads)
{
    const size_t x = window.num_iterations(Window::DimX), y = window.num_iterations(Window::DimY);
    Cut best = {Window::DimX, 1, true, 1};
    for (unsigned columns = 1; columns <= std::min<size_t>(threads, x); ++columns) {
        const auto rows = static_cast<unsigned>(std::min<size_t>(threads / columns, y));
        if (columns * rows > best.parts * best.second_parts) best = {0, columns, true, rows};
    }
    return best;
}

Cut cut_window(const Window& window, const IScheduler::Hints& hints, unsigned threads)
{
    if (hints.split_dimension() == IScheduler::split_dimensions_all)
        return cut_in_two_dimensions(window, threads);
    const size_t rounds = window.num_iterations(hints.split_dimension());
    size_t parts = std::min<size_t>(threads, rounds);
    // Work of uneven cost is split into pieces that threads take as they become free.
    if (hints.strategy() == IScheduler::StrategyHint::DYNAMIC && parts > 1)
        parts = std::min<size_t>(rounds, std::max<size_t>(parts, 4 * size_t{threads}));
    return {hints.split_dimension(), static_cast<unsigned>(parts), false, 1};
}

// Runs body(index, worker) for 0..number-1 on the bound pool. Rethrows the first exception of a
// body.
template <class Body>
void run_on_pool(int64_t number, const Body& body)
{
    struct Call
    {
        const Body* body;
        std::atomic<bool> failed;
        std::exception_ptr failure;
    } call = {&body, {false}, nullptr};
    const auto run_range = [](void* argument, int64_t begin, int64_t end, int worker) {
        Call& shared = *static_cast<Call*>(argument);
        try {
            for (int64_t i = begin; i < end; ++i)
                (*shared.body)(i, worker);
        } catch (...) {
            if (!shared.failed.exchange(true)) shared.failure = std::current_exception();
        }
    };
    run_parallel(binding.pool, number, 1, run_range, &call);
    if (call.failed) std::rethrow_exception(call.failure);
}

class PoolScheduler : public IScheduler
{
  public:
    explicit PoolScheduler(IScheduler& previous) : previous_(previous) {}

    // The number of threads is that of the pool.
    void set_num_threads(unsigned num_threads) override
    {
        if (!binding.bound) previous_.set_num_threads(num_threads);
    }
    unsigned num_threads() const override
    {
        if (!binding.bound) return previous_.num_threads();
        return static_cast<unsigned>(get_thread_pool_size(binding.pool));
    }

    void schedule(ICPPKernel* kernel, const Hints& hints) override
    {
        if (!binding.bound) return previous_.schedule(kernel, hints);
        const auto run = [&](const Window& window, const ThreadInfo& info, const Window* locator) {
            locator ? kernel->run_nd(window, info, *locator) : kernel->run(window, info);
        };
        run_window(kernel->window(), kernel->is_parallelisable(), hints, run);
    }
    void schedule_op(ICPPKernel* kernel, const Hints& hints,
                     ACL_WINDOW_PARAMETER ITensorPack& tensors) override
    {
#if ACL_VERSION >= 2105
        if (!binding.bound) return previous_.schedule_op(kernel, hints, window, tensors);
#else
        if (!binding.bound) return previous_.schedule_op(kernel, hints, tensors);
#endif
        const auto run = [&](const Window& part, const ThreadInfo& info, const Window*) {
            kernel->run_op(tensors, part, info);
        };
        run_window(ACL_WINDOW(kernel), kernel->is_parallelisable(), hints, run);
    }

    void run_tagged_workloads(std::vector<Workload>& workloads, const char* tag) override
    {
        binding.bound ? run_workloads(workloads) : previous_.run_tagged_workloads(workloads, tag);
    }

  protected:
    void run_workloads(std::vector<Workload>& workloads) override
    {
        const ThreadInfo shared = make_info();
        run_on_pool(static_cast<int64_t>(workloads.size()), [&](int64_t index, int worker) {
            ThreadInfo info = shared;
            info.thread_id = worker;
            workloads[static_cast<size_t>(index)](info);
        });
    }

  private:
    // The information of worker 0, on the thread that binds the pool.
    ThreadInfo make_info()
    {
        ThreadInfo info;
        info.num_threads = get_thread_pool_size(binding.pool);
        info.cpu_info = &cpu_info();
        return info;
    }

    template <class Run>
    void run_window(const Window& window, bool parallel, const Hints& hints, const Run& run)
    {
        const Cut cut = cut_window(window, hints, parallel ? num_threads() : 1);
        if (cut.parts == 0) return;
        const int64_t number = int64_t{cut.parts} * cut.second_parts;
        ThreadInfo shared = make_info();
        // Some kernels find their part by thread_id and num_threads, not by the window; others have
        // memory for each thread_id. So the number of a part is the thread's if there are enough
        // threads.
        const bool is_part_thread = number <= shared.num_threads;
        if (is_part_thread) shared.num_threads = static_cast<int>(number);
        if (number == 1) {
            run(window, shared, nullptr);
            return;
        }
        run_on_pool(number, [&](int64_t index, int worker) {
            ThreadInfo info = shared;
            info.thread_id = is_part_thread ? static_cast<int>(index) : worker;
            const auto first = static_cast<size_t>(index % cut.parts);
            const auto second = static_cast<size_t>(index / cut.parts);
            Window part = window.split_window(cut.dimension, first, cut.parts);
            if (!cut.both) return run(part, info, nullptr);
            part = part.split_window(Window::DimY, second, cut.second_parts);
            Window locator;
            locator.set(Window::DimX, dimension_of(first, cut.parts));
            locator.set(Window::DimY, dimension_of(second, cut.second_parts));
            run(part, info, &locator);
        });
    }

    // The index of a part and the number of parts, in ACL's terms.
    static Window::Dimension dimension_of(size_t index, unsigned parts)
    {
        return Window::Dimension(static_cast<int>(index), static_cast<int>(parts));
    }

    IScheduler& previous_;
};

std::shared_ptr<PoolScheduler>& installed()
{
    static std::shared_ptr<PoolScheduler> scheduler;
    return scheduler;
}

Scheduler::Type& previous_type()
{
    static Scheduler::Type type = Scheduler::Type::CPP;
    return type;
}

}  // namespace

void install_scheduler()
{
    // A scheduler that a program has set cannot be restored later, so it stays.
    if (installed() || Scheduler::get_type() == Scheduler::Type::CUSTOM) return;
    previous_type() = Scheduler::get_type();
    installed() = std::make_shared<PoolScheduler>(Scheduler::get());
    Scheduler::set(installed());
}

void remove_scheduler()
{
    if (!installed()) return;
    Scheduler::set(previous_type());
    installed().reset();
}

UsePool::UsePool(thread_pool_t* pool) : was_bound_(binding.bound), previous_(binding.pool)
{
    binding = {true, pool};
}

UsePool::~UsePool()
{
    binding = {was_bound_, previous_};
}

}  // namespace tengine::acl
