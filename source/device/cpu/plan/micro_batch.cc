// SPDX-License-Identifier: Apache-2.0
// Divides a batch into micro-batches. A step that reads and writes more than a cache holds fetches
// from memory what the step before it has just written, and each picture of a batch adds to that.
// Consecutive steps that compute every picture by itself therefore run for one micro-batch after
// the other, and tensors between them hold only one. Steps with small tensors compute the whole
// batch at once: their weights are then read once, and more rows fill their tiles.
//
// The division is the one with the least estimated traffic: tensors of a step count with the share
// that exceeds each cache, weights, as they are packed, count for each micro-batch, and tensors
// between steps of different micro-batches count together, with all pictures. All micro-batches of
// a step are equal, since its kernel prepares for one shape.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/cpu.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/plan/part_outputs.h"
#include "device/cpu/plan/pictures.h"
#include "device/cpu/plan/step.h"
#include "device/cpu/shared/constant.h"

namespace tengine::cpu {
namespace {

// The caches in which a step may find what the step before it has written. The last one also has
// the weights, and data of other programs.
class Caches
{
  public:
    Caches()
    {
        const cpu_cache_size_t size = get_cpu_cache_size();
        near_ = static_cast<double>(std::max(size.l2, size.l1d));
        far_ = std::max(static_cast<double>(size.l3) / 4, near_);
    }
    double near() const { return near_; }
    // Returns the bytes of tensors, `all` of which are used in turns, that each cache lacks room
    // for.
    double count_traffic(double bytes, double all) const
    {
        const auto share = [all](double cache) { return all > cache ? 1 - cache / all : 0; };
        return bytes * (share(near_) + share(far_));
    }

  private:
    double near_, far_;
};

struct Work
{
    PictureTensors tensors;
    double bytes = 0;     // of a picture, in the step's tensors
    double weights = 0;   // bytes of constants
    double crossing = 0;  // traffic if the next step has other micro-batches
};

// The steps that use a tensor, or any of those that lie in the same larger tensor.
struct Use
{
    size_t first = SIZE_MAX, last = 0;
    bool is_outside = false;  // another part writes or reads it
    size_t bytes = 0;
};

class Divider
{
  public:
    Divider(const subgraph& part, const Vector<Step>& steps, const Joins& joins)
        : steps_(steps), placements_(joins.placements), border_(part)
    {
    }

    void run(Vector<MicroBatches>* out_batches)
    {
        works_.resize(steps_.size());
        for (size_t i = 0; i < steps_.size(); ++i)
            works_[i].tensors = find_pictures(steps_[i]);
        refuse_contradictions();
        for (size_t i = 0; i < steps_.size(); ++i)
            add_uses(i);
        for (size_t begin = 0, end = 0; begin < steps_.size(); begin = end) {
            const int pictures = pictures_of(begin);
            for (end = begin + 1; end < steps_.size() && pictures_of(end) == pictures;)
                ++end;
            if (pictures > 1 && end - begin > 1) divide(begin, end, out_batches);
        }
    }

  private:
    int pictures_of(size_t step) const { return works_[step].tensors.pictures; }

    const tensor* memory_of(const tensor* value) const
    {
        const Placement* placement = placements_.find(value);
        return placement ? placement->whole : value;
    }

    // No step may need a tensor whole that others divide.
    void refuse_contradictions()
    {
        TensorTable<uint8_t> divided;
        for (const Work& work : works_)
            for (const tensor* value : work.tensors.divided)
                divided[value] = 1;
        for (Work& work : works_)
            for (const tensor* value : work.tensors.whole)
                if (divided.find(value)) work.tensors.pictures = 0;
    }

    void add_uses(size_t index)
    {
        const Step& step = steps_[index];
        for (const tensor* input : step.inputs)
            if (input) add_use(index, *input, true);
        for (const tensor* output : step.outputs)
            if (output) add_use(index, *output, false);
        Work& work = works_[index];
        if (copies_nothing(step)) work.bytes = 0;
        if (step.kernel && step.kernel->count_weights)
            work.weights = static_cast<double>(step.kernel->count_weights(*step.context.node));
    }

    // Whether all inputs lie in the result, where their writers have placed them.
    bool copies_nothing(const Step& step) const
    {
        const auto lies_inside = [&](const tensor* input) {
            return input && memory_of(input) == memory_of(step.outputs[0]);
        };
        return !step.dynamic && !std::strcmp(step.kernel->op, "Concat") &&
               std::all_of(step.inputs.begin(), step.inputs.end(), lies_inside);
    }

    void add_use(size_t index, const tensor& value, bool is_read)
    {
        Work& work = works_[index];
        const auto bytes = static_cast<double>(get_ir_tensor_bytes(&value));
        if (is_constant(&value)) {
            work.weights += bytes;
            return;
        }
        if (work.tensors.pictures > 1) work.bytes += bytes / work.tensors.pictures;
        const tensor* memory = memory_of(&value);
        Use& use = uses_[memory];
        use.first = std::min(use.first, index);
        use.last = std::max(use.last, index);
        const bool is_given = is_read && use.first == index;
        use.is_outside = use.is_outside || is_given || border_.has(value);
        use.bytes = get_ir_tensor_bytes(memory);
    }

    // ---- the size of each step's micro-batches ----

    // Returns the sizes that divide the batch, the whole first. Smaller ones are left out if they
    // leave most of the cache unused: there would be more steps to run, and nothing to gain.
    Vector<int> list_sizes(size_t begin, size_t end) const
    {
        double most = 0;
        for (size_t i = begin; i < end; ++i)
            most = std::max(most, works_[i].bytes);
        const int pictures = pictures_of(begin);
        Vector<int> sizes = {pictures};
        for (int size = pictures / 2; size > 0 && most * size > caches_.near() / 2; --size)
            if (pictures % size == 0) sizes.push_back(size);
        return sizes;
    }

    double count_traffic(const Work& work, int size) const
    {
        const int pictures = work.tensors.pictures, micro_batches = pictures / size;
        return caches_.count_traffic(work.bytes * pictures, work.bytes * size) +
               work.weights * micro_batches;
    }

    // Tensors between two steps are written and read, with all pictures.
    void count_crossing(size_t begin, size_t end)
    {
        for (const Use& use : uses_)
            for (size_t i = std::max(use.first, begin); i < std::min(use.last, end - 1); ++i)
                works_[i].crossing += static_cast<double>(use.bytes);
        for (size_t i = begin; i < end; ++i)
            works_[i].crossing = 2 * caches_.count_traffic(works_[i].crossing, works_[i].crossing);
    }

    // The traffic of the steps up to one, with some size, and the size of the step before.
    struct Choice
    {
        double traffic;
        size_t before;
    };

    static Choice choose_before(const Choice* choices, size_t size_num, size_t size,
                                double crossing)
    {
        Choice best = {choices[size].traffic, size};
        for (size_t i = 0; i < size_num; ++i) {
            const double traffic = choices[i].traffic + crossing;
            if (i != size && traffic < best.traffic) best = {traffic, i};
        }
        return best;
    }

    Vector<int> choose_sizes(size_t begin, size_t end)
    {
        count_crossing(begin, end);
        const Vector<int> sizes = list_sizes(begin, end);
        Vector<Choice> choices;
        choices.reserve((end - begin) * sizes.size());
        for (size_t step = begin; step < end; ++step)
            for (size_t i = 0; i < sizes.size(); ++i) {
                Choice choice = {0, i};
                if (step > begin)
                    choice = choose_before(&choices[(step - 1 - begin) * sizes.size()],
                                           sizes.size(), i, works_[step - 1].crossing);
                choice.traffic += count_traffic(works_[step], sizes[i]);
                choices.push_back(choice);
            }
        return follow(choices, sizes);
    }

    // Goes back from the least traffic of the last step.
    static Vector<int> follow(const Vector<Choice>& choices, const Vector<int>& sizes)
    {
        const Choice* last = choices.data() + choices.size() - sizes.size();
        const Choice* best = std::min_element(
            last, last + sizes.size(),
            [](const Choice& a, const Choice& b) { return a.traffic < b.traffic; });
        auto size = static_cast<size_t>(best - last);
        Vector<int> chosen(choices.size() / sizes.size());
        for (size_t i = chosen.size(); i-- > 0;) {
            chosen[i] = sizes[size];
            size = choices[i * sizes.size() + size].before;
        }
        return chosen;
    }

    void divide(size_t begin, size_t end, Vector<MicroBatches>* out_batches)
    {
        const Vector<int> sizes = choose_sizes(begin, end);
        const int pictures = pictures_of(begin);
        for (size_t first = 0, last = 0; first < sizes.size(); first = last) {
            for (last = first + 1; last < sizes.size() && sizes[last] == sizes[first];)
                ++last;
            if (sizes[first] < pictures && last - first > 1)
                out_batches->push_back(
                    make_batches(begin + first, begin + last, pictures / sizes[first]));
        }
    }

    MicroBatches make_batches(size_t begin, size_t end, int count) const
    {
        MicroBatches batches = {begin, end, count, {}};
        TensorTable<uint8_t> known;
        for (size_t i = begin; i < end; ++i)
            for (tensor* value : works_[i].tensors.divided) {
                if (known.find(value)) continue;
                known[value] = 1;
                const Use* use = uses_.find(memory_of(value));
                // Tensors that only the nodes have are never in memory.
                const bool is_inside =
                    !use || (!use->is_outside && use->first >= begin && use->last < end);
                const size_t step = is_inside ? 0 : use->bytes / static_cast<size_t>(count);
                batches.parts.push_back({value, step});
            }
        return batches;
    }

    const Vector<Step>& steps_;
    const TensorTable<Placement>& placements_;
    const PartOutputs border_;
    const Caches caches_;
    Vector<Work> works_;
    TensorTable<Use> uses_;
};

}  // namespace

void divide_batch(const subgraph& part, const Vector<Step>& steps, const Joins& joins,
                  MicroBatchList* out_batches)
{
    Divider(part, steps, joins).run(out_batches);
}

}  // namespace tengine::cpu
