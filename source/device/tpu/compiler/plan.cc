// SPDX-License-Identifier: Apache-2.0
// Values are considered one after the other, those that are kept for the shortest time first. One
// stays in the buffer when there is a place for it during all of its life such that each stage on
// the way keeps the room that it can make good use of. Bounds that networks do not reach keep the
// time in proportion to the number of stages.
#include "device/tpu/compiler/plan.h"

#include <algorithm>
#include <limits>
#include <map>

#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr int64_t kAlignment = 64;
constexpr size_t kDone = SIZE_MAX;
constexpr int kLongestLife = 128;  // of a kept value, in stages
constexpr int kMostRounds = 16;

struct Life
{
    int first = -1, last = -1;  // stages
    bool may_stay = true;
    Frame frame;
    int frame_value = -1;
};

struct Gap
{
    int64_t begin = 0, bytes = 0;
};

class Planner
{
  public:
    Planner(const Network& network, const Config& config, Plan* plan)
        : network_(network), plan_(*plan), buffer_(config.unified_buffer_bytes)
    {
    }

    int run();

  private:
    void trace_lives();
    void note_read(const Layer& layer, size_t input, int stage);
    bool try_to_keep(size_t value);
    int64_t room_beside(int stage, int64_t address, int64_t bytes) const;
    bool find_address(const Life& life, int64_t bytes, int64_t* out_address) const;
    std::vector<Gap> gaps_at(int stage) const;
    Gap largest_gap(int stage) const;
    int64_t wanted(int stage) const;
    void flatten_stage(Stage* stage);
    int cut_stages();

    const Network& network_;
    Plan& plan_;
    const int64_t buffer_;
    std::vector<Life> lives_;
    std::vector<std::vector<size_t>> residents_;  // by stage, sorted by address
};

int64_t resident_bytes(const Value& value, const Frame& frame)
{
    const Shape& shape = value.shape;
    const int64_t pixels =
        int64_t{frame.left + shape.w + frame.right} * (frame.top + shape.h + frame.bottom);
    return (shape.n * pixels * shape.c * value.element_bytes + kAlignment - 1) / kAlignment *
           kAlignment;
}

// A value is kept with a frame if windows of readers reach beyond it. A reader that sees the value
// in another shape, or with another zero, cannot share the frame.
void Planner::note_read(const Layer& layer, size_t input, int stage)
{
    const Ref& ref = layer.inputs[input];
    Life& life = lives_[static_cast<size_t>(ref.value)];
    life.last = stage;
    const Frame frame = layer.frame(static_cast<int>(input));
    if (frame.empty()) return;
    const int zero = layer.frame_value(static_cast<int>(input));
    if (ref.shape != network_.values[static_cast<size_t>(ref.value)].shape ||
        (life.frame_value >= 0 && life.frame_value != zero))
        life.may_stay = false;
    life.frame_value = zero;
    life.frame = {std::max(life.frame.top, frame.top), std::max(life.frame.left, frame.left),
                  std::max(life.frame.bottom, frame.bottom),
                  std::max(life.frame.right, frame.right)};
}

void Planner::trace_lives()
{
    lives_.resize(network_.values.size());
    for (size_t i = 0; i < network_.values.size(); ++i) {
        const Value& value = network_.values[i];
        if (value.is_input || value.is_output || value.is_constant) lives_[i].may_stay = false;
    }
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
        const Stage& stage = plan_.stages[s];
        for (const Source& source : stage.sources)
            note_read(*stage.layers[source.layer], source.input, static_cast<int>(s));
        lives_[static_cast<size_t>(stage.output().value)].first = static_cast<int>(s);
    }
    // All readers of a framed value must see it in its own shape, and by rows.
    for (const Stage& stage : plan_.stages) {
        const auto check = [this](const Layer& layer, const Ref& ref) {
            Life& life = lives_[static_cast<size_t>(ref.value)];
            const Shape& own = network_.values[static_cast<size_t>(ref.value)].shape;
            if (!life.frame.empty() && (ref.shape != own || layer.is_whole()))
                life.may_stay = false;
        };
        for (const Source& source : stage.sources)
            check(*stage.layers[source.layer], stage.input(source));
        check(*stage.layers.back(), stage.output());
    }
}

std::vector<Gap> Planner::gaps_at(int stage) const
{
    std::vector<Gap> gaps;
    int64_t end = 0;
    for (size_t value : residents_[static_cast<size_t>(stage)]) {
        const Home& home = plan_.homes[value];
        if (home.address > end) gaps.push_back({end, home.address - end});
        end = home.address + resident_bytes(network_.values[value], home.frame);
    }
    if (end < buffer_) gaps.push_back({end, buffer_ - end});
    return gaps;
}

Gap Planner::largest_gap(int stage) const
{
    Gap largest;
    for (const Gap& gap : gaps_at(stage))
        if (gap.bytes > largest.bytes) largest = gap;
    return largest;
}

// Bytes for the preferred cut, at most three quarters of the buffer.
int64_t Planner::wanted(int stage) const
{
    const Stage& of = plan_.stages[static_cast<size_t>(stage)];
    Cut cut;
    const int64_t room = buffer_ / 4 * 3;
    if (choose_cut(plan_.homes, of, room, &cut) != TENGINE_OK &&
        choose_cut(plan_.homes, of, buffer_, &cut) != TENGINE_OK)
        return std::numeric_limits<int64_t>::max();
    return lay_out(plan_.homes, of, cut).bytes;
}

// The largest gap of a stage once `bytes` are taken at `address`; -1 when they are not free.
int64_t Planner::room_beside(int stage, int64_t address, int64_t bytes) const
{
    bool is_free = false;
    int64_t room = 0;
    for (const Gap& gap : gaps_at(stage)) {
        const int64_t end = gap.begin + gap.bytes;
        if (address >= gap.begin && address + bytes <= end) {
            is_free = true;
            room = std::max({room, address - gap.begin, end - address - bytes});
        } else {
            room = std::max(room, gap.bytes);
        }
    }
    return is_free ? room : -1;
}

// An address at either end of a gap, where the rest is enough for every stage; among several the
// one that leaves most.
bool Planner::find_address(const Life& life, int64_t bytes, int64_t* out_address) const
{
    std::vector<int64_t> candidates, needs;
    for (int stage = life.first; stage <= life.last; ++stage) {
        needs.push_back(wanted(stage));
        for (const Gap& gap : gaps_at(stage)) {
            candidates.push_back(gap.begin);
            candidates.push_back((gap.begin + gap.bytes - bytes) / kAlignment * kAlignment);
        }
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    int64_t most = -1;
    for (int64_t address : candidates) {
        if (address < 0 || address + bytes > buffer_) continue;
        int64_t left = 0;
        for (int stage = life.first; left >= 0 && stage <= life.last; ++stage) {
            const int64_t room = room_beside(stage, address, bytes);
            const bool fits = room >= needs[static_cast<size_t>(stage - life.first)];
            left = fits ? left + room : -1;
        }
        if (left <= most) continue;
        most = left;
        *out_address = address;
    }
    return most >= 0;
}

bool Planner::try_to_keep(size_t value)
{
    const Life& life = lives_[value];
    Home& home = plan_.homes[value];
    home.resident = true;
    home.frame = life.frame;
    home.frame_value = static_cast<uint8_t>(std::max(0, life.frame_value));
    int64_t address = 0;
    const int64_t bytes = resident_bytes(network_.values[value], life.frame);
    if (bytes > buffer_ || !find_address(life, bytes, &address)) {
        home = {};
        return false;
    }
    home.address = static_cast<uint32_t>(address);
    for (int stage = life.first; stage <= life.last; ++stage) {
        auto& list = residents_[static_cast<size_t>(stage)];
        list.push_back(value);
        std::sort(list.begin(), list.end(), [this](size_t a, size_t b) {
            return plan_.homes[a].address < plan_.homes[b].address;
        });
    }
    return true;
}

// Flattens a stage whose values are all dense to one column of vectors, which can be cut anywhere.
void Planner::flatten_stage(Stage* stage)
{
    const auto is_framed = [this](const Ref& ref) {
        return !plan_.homes[static_cast<size_t>(ref.value)].frame.empty();
    };
    for (const Layer* layer : stage->layers) {
        if (!layer->can_flatten() || is_framed(layer->output)) return;
        for (const Ref& input : layer->inputs)
            if (is_framed(input)) return;
    }
    for (Layer* layer : stage->layers)
        layer->flatten();
}

int Planner::cut_stages()
{
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
        Stage& stage = plan_.stages[s];
        flatten_stage(&stage);
        const Gap gap = largest_gap(static_cast<int>(s));
        Cut cut;
        int status = choose_cut(plan_.homes, stage, gap.bytes, &cut);
        if (status != TENGINE_OK) {
            for (Layer* layer : stage.layers)
                layer->reduce_blobs();
            status = choose_cut(plan_.homes, stage, gap.bytes, &cut);
        }
        TENGINE_RETURN_IF_ERROR(status);
        plan_.cuts.push_back(cut);
        plan_.scratch_begin.push_back(gap.begin);
        plan_.scratch_bytes.push_back(gap.bytes);
    }
    return TENGINE_OK;
}

int Planner::run()
{
    plan_.stages = make_stages(network_);
    plan_.homes.resize(network_.values.size());
    residents_.resize(plan_.stages.size());
    trace_lives();
    std::vector<size_t> order;
    for (size_t i = 0; i < lives_.size(); ++i)
        if (lives_[i].may_stay && lives_[i].first >= 0 && lives_[i].last > lives_[i].first &&
            lives_[i].last - lives_[i].first <= kLongestLife)
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
        return lives_[a].last - lives_[a].first < lives_[b].last - lives_[b].first;
    });
    // Each kept value reduces the transfers of its stages, so that others may find room.
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
        changed = false;
        for (size_t& value : order) {
            if (value == kDone || !try_to_keep(value)) continue;
            value = kDone;
            changed = true;
        }
    }
    return cut_stages();
}

}  // namespace

int make_plan(const Network& network, const Config& config, Plan* out_plan)
{
    return Planner(network, config, out_plan).run();
}

}  // namespace tengine::tpu
