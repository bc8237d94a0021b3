// SPDX-License-Identifier: Apache-2.0
// Cycles of a program: a scoreboard of units, each of which works in program order; they overlap if
// operands allow it. docs/tpu-simulator.md has the rules and their simplifications; the bytes and
// products of each instruction are in timing_account.cc.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <vector>

#include "base/float_to_index.h"
#include "base/guard.hpp"
#include "device/tpu/simulator/simulator.h"
#include "device/tpu/simulator/timing_account.h"
#include "device/tpu/simulator/timing_hazard.h"
#include "device/tpu/simulator/timing_port.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// Returns the first whole cycle at or after a time; tolerates the rounding of fractions.
int64_t whole_cycle(double time)
{
    return float_to_index(std::ceil(time - 1e-5), 0, INT64_MAX);
}

double bytes_per_cycle(double gbps, const Config& config)
{
    return gbps * 1000 / config.clock_mhz;
}

// Returns the cycles that [begin, end) and [other_begin, other_end) share.
int64_t shared_cycles(int64_t begin, int64_t end, int64_t other_begin, int64_t other_end)
{
    return std::max<int64_t>(0, std::min(end, other_end) - std::max(begin, other_begin));
}

// The conditions of a product's start.
struct ProductStart
{
    int64_t dispatched = 0;
    int64_t arrived = 0;  // of the tile, if the product takes one
    int64_t shift_begin = 0, shift_end = 0;
    Readiness ready;  // of the operands
    int64_t start = 0;
};

constexpr int64_t Counters::*kAmounts[] = {&Counters::active,
                                           &Counters::weight_stall,
                                           &Counters::weight_shift,
                                           &Counters::non_matrix,
                                           &Counters::raw_stall,
                                           &Counters::input_stall,
                                           &Counters::macs,
                                           &Counters::mac_slots,
                                           &Counters::weight_bytes,
                                           &Counters::host_read_bytes,
                                           &Counters::host_write_bytes,
                                           &Counters::buffer_read_bytes,
                                           &Counters::buffer_write_bytes,
                                           &Counters::sum_read_bytes,
                                           &Counters::sum_write_bytes,
                                           &Counters::weight_busy,
                                           &Counters::vector_busy,
                                           &Counters::dma_busy};

// Adds to the counters of a tag what has been counted since `before`.
void add_difference(const Counters& now, const Counters& before, Counters* sum)
{
    for (const auto amount : kAmounts)
        sum->*amount += now.*amount - before.*amount;
    for (size_t i = 0; i < now.instructions.size(); ++i)
        sum->instructions[i] += now.instructions[i] - before.instructions[i];
    sum->energy_pj += now.energy_pj - before.energy_pj;
}

class Scoreboard
{
  public:
    Scoreboard(const Config& config, Counters* counters, std::vector<Interval>* intervals)
        : config_(config),
          counters_(counters),
          intervals_(intervals),
          host_port_(bytes_per_cycle(config.host_gbps, config)),
          weight_port_(bytes_per_cycle(config.weight_gbps, config)),
          account_(config, counters)
    {
    }

    void run(const Program& program);

  private:
    // A tile in transit, from a kReadWeights that was dispatched at that time.
    struct Fetch
    {
        int64_t dispatched;
        int64_t bytes;
    };

    void issue(const Instruction& in);
    void note(const char* unit, const char* cause, int64_t begin, int64_t end);
    void count_busy();
    void end_node(size_t node);
    void read_weights(const Instruction& in);
    void fetch_where_room();
    bool find_room(int64_t* out_since) const;
    void multiply(const Instruction& in);
    ProductStart start_product(const Instruction& in, const Access* accesses, int number);
    void shift_tile(ProductStart* product);
    void count_idle(const ProductStart& product);
    void run_vector(const Instruction& in);
    void run_transfer(const Instruction& in, Unit unit, double* engine_free);
    void reach(int64_t time) { frontier_ = std::max(frontier_, time); }

    const Config& config_;
    Counters* counters_;
    std::vector<Interval>* intervals_;  // null: not requested
    size_t node_ = 0;                   // the present tag
    Port host_port_, weight_port_;
    Account account_;
    HazardTable hazards_;

    int64_t dispatched_ = 0;  // time of the current instruction
    int64_t frontier_ = 0;    // end of all instructions so far

    std::deque<Fetch> waiting_;      // fetches without room in the FIFO yet
    std::deque<int64_t> arrivals_;   // of the tiles in the FIFO
    size_t fetched_ = 0;             // tiles, including those that have left the FIFO
    std::vector<int64_t> departed_;  // the time at which each tile had left the FIFO
    double weight_free_ = 0;

    bool has_multiplied_ = false;
    int64_t tile_active_ = 0;    // since then the array has used its tile
    int64_t array_free_ = 0;     // the last vector so far has entered
    int64_t array_drained_ = 0;  // the results of the last vector are complete

    int64_t vector_free_ = 0;
    double read_free_ = 0, write_free_ = 0;
    double host_bytes_ = 0;

    Counters counted_;  // the part of the counters that tags already have
};

// Whether the time is known since when the FIFO has had a free place after the tiles fetched so
// far: a place is free after its tile has been shifted into the array.
bool Scoreboard::find_room(int64_t* out_since) const
{
    const auto depth = static_cast<size_t>(config_.weight_fifo_tiles);
    *out_since = 0;
    if (fetched_ < depth) return true;
    if (fetched_ - depth >= departed_.size()) return false;
    *out_since = departed_[fetched_ - depth];
    return true;
}

// Fetches tiles one after the other, as long as the FIFO has room.
void Scoreboard::fetch_where_room()
{
    Port& port = config_.shared_memory ? host_port_ : weight_port_;
    int64_t since = 0;
    while (!waiting_.empty() && find_room(&since)) {
        const Fetch fetch = waiting_.front();
        waiting_.pop_front();
        const double from =
            std::max(weight_free_, static_cast<double>(std::max(fetch.dispatched, since)));
        weight_free_ = port.reserve(from, static_cast<double>(fetch.bytes));
        arrivals_.push_back(whole_cycle(weight_free_));
        note("weight fetch", "", whole_cycle(from), arrivals_.back());
        ++fetched_;
        reach(arrivals_.back());
    }
}

void Scoreboard::read_weights(const Instruction& in)
{
    for (unsigned i = 0; i < in.tiles; ++i)
        waiting_.push_back({dispatched_, tile_bytes(in, config_)});
    fetch_where_room();
}

// Shifts the tile from the FIFO into the array, in `rows` cycles. With a shadow tile this may begin
// as soon as the previous tile is the active one; without, after the array has drained.
void Scoreboard::shift_tile(ProductStart* product)
{
    product->arrived = product->dispatched;
    if (!arrivals_.empty()) {  // as in every valid program
        product->arrived = std::max(product->arrived, arrivals_.front());
        arrivals_.pop_front();
    }
    const int64_t array_ready = config_.double_buffer ? tile_active_ : array_drained_;
    product->shift_begin = std::max(product->arrived, array_ready);
    product->shift_end = product->shift_begin + config_.rows;
    departed_.push_back(product->shift_end);
}

ProductStart Scoreboard::start_product(const Instruction& in, const Access* accesses, int number)
{
    ProductStart product;
    product.dispatched = dispatched_;
    if (in.flags & kNextTile) shift_tile(&product);
    const int64_t earliest = std::max({dispatched_, array_free_, product.shift_end});
    product.ready = hazards_.find(Unit::kArray, accesses, number, array_free_);
    product.start = std::max({earliest, product.ready.computed, product.ready.transferred});
    return product;
}

// Counts the idle cycles of the array from its last vector to this product's first: weight stall
// until its tile arrives, weight shift while that is shifted in; the rest is neither, and part of
// it waits for operands. Before the first product everything is the rest.
void Scoreboard::count_idle(const ProductStart& product)
{
    const int64_t begin = array_free_, end = product.start;
    int64_t stalled_begin = begin, stalled_end = begin, shift_begin = begin, shift_end = begin;
    if (product.shift_end > 0 && has_multiplied_) {
        stalled_begin = product.dispatched;
        stalled_end = product.arrived;
        shift_begin = product.shift_begin;
        shift_end = product.shift_end;
    }
    note("array", "weight stall", std::max(begin, stalled_begin), std::min(end, stalled_end));
    note("array", "weight shift", std::max(begin, shift_begin), std::min(end, shift_end));
    counters_->weight_stall += shared_cycles(begin, end, stalled_begin, stalled_end);
    counters_->weight_shift += shared_cycles(begin, end, shift_begin, shift_end);

    const int64_t computed = product.ready.computed;
    const int64_t transferred = product.ready.transferred;
    const int64_t pieces[][2] = {{begin, std::min(end, std::max(begin, stalled_begin))},
                                 {std::max(begin, stalled_end), std::min(end, shift_begin)},
                                 {std::max(begin, shift_end), end}};
    for (const auto& piece : pieces) {
        counters_->non_matrix += std::max<int64_t>(0, piece[1] - piece[0]);
        note("array", "raw stall", piece[0], std::min(piece[1], computed));
        note("array", "input stall", std::max(piece[0], computed), std::min(piece[1], transferred));
        counters_->raw_stall += shared_cycles(piece[0], piece[1], 0, computed);
        counters_->input_stall += shared_cycles(piece[0], piece[1], computed, transferred);
    }
}

void Scoreboard::multiply(const Instruction& in)
{
    Access accesses[kMaxAccesses];
    const int number = list_accesses(in, accesses);
    const ProductStart product = start_product(in, accesses, number);
    count_idle(product);
    if (in.flags & kNextTile) tile_active_ = product.start;
    const int64_t active = vector_number(in) * cycles_per_vector(in);
    counters_->active += active;
    has_multiplied_ = true;
    array_free_ = product.start + active;
    note("array", "", product.start, array_free_);
    array_drained_ = array_free_ + config_.rows + config_.columns - 2;
    hazards_.add(Unit::kArray, accesses, number, array_free_, array_drained_);
    reach(array_drained_);
    fetch_where_room();
}

void Scoreboard::run_vector(const Instruction& in)
{
    Access accesses[kMaxAccesses];
    const int number = list_accesses(in, accesses);
    const int64_t earliest = std::max(dispatched_, vector_free_);
    const Readiness ready = hazards_.find(Unit::kVector, accesses, number, earliest);
    const int64_t start = std::max({earliest, ready.computed, ready.transferred});
    const int64_t cycles = vector_cycles(in, config_);
    counters_->vector_busy += cycles;
    vector_free_ = start + cycles;
    note("vector", "", start, vector_free_);
    hazards_.add(Unit::kVector, accesses, number, vector_free_, vector_free_);
    reach(vector_free_);
}

// A transfer is requested as soon as its operands allow; its first byte follows `dma_latency`
// later, after the engine has finished the previous transfer.
void Scoreboard::run_transfer(const Instruction& in, Unit unit, double* engine_free)
{
    Access accesses[kMaxAccesses];
    const int number = list_accesses(in, accesses);
    const int64_t earliest =
        std::max(dispatched_, float_to_index(*engine_free, 0, INT64_MAX) - config_.dma_latency);
    const Readiness ready = hazards_.find(unit, accesses, number, earliest);
    const int64_t requested = std::max({dispatched_, ready.computed, ready.transferred});
    const double from =
        std::max(*engine_free, static_cast<double>(requested + config_.dma_latency));
    const double bytes = static_cast<double>(vector_number(in)) * in.length;
    *engine_free = host_port_.reserve(from, bytes);
    host_bytes_ += bytes;
    const int64_t end = whole_cycle(*engine_free);
    note(unit == Unit::kHostRead ? "DMA read" : "DMA write", "", whole_cycle(from), end);
    hazards_.add(unit, accesses, number, end, end);
    reach(end);
}

void Scoreboard::issue(const Instruction& in)
{
    account_.add(in);
    switch (in.opcode) {
        case Opcode::kReadWeights:
            return read_weights(in);
        case Opcode::kMatrixMultiply:
            return multiply(in);
        case Opcode::kReadHost:
            return run_transfer(in, Unit::kHostRead, &read_free_);
        case Opcode::kWriteHost:
            return run_transfer(in, Unit::kHostWrite, &write_free_);
        case Opcode::kNop:
        case Opcode::kSync:
        case Opcode::kTag:
        case Opcode::kHalt:
            return;
        default:
            return run_vector(in);
    }
}

// Joins times of a unit that follow each other.
void Scoreboard::note(const char* unit, const char* cause, int64_t begin, int64_t end)
{
    if (!intervals_ || begin >= end) return;
    const auto is_same = [&](const Interval& last) {
        return std::strcmp(last.unit, unit) == 0 && std::strcmp(last.cause, cause) == 0 &&
               last.node == node_ && last.end == begin;
    };
    if (!intervals_->empty() && is_same(intervals_->back()))
        intervals_->back().end = end;
    else
        intervals_->push_back({unit, cause, node_, begin, end});
}

// The cycles of units that transfer follow from all bytes so far.
void Scoreboard::count_busy()
{
    const double weight_rate =
        bytes_per_cycle(config_.shared_memory ? config_.host_gbps : config_.weight_gbps, config_);
    counters_->weight_busy =
        std::llround(static_cast<double>(counters_->weight_bytes) / weight_rate);
    counters_->dma_busy = std::llround(host_bytes_ / bytes_per_cycle(config_.host_gbps, config_));
}

void Scoreboard::end_node(size_t node)
{
    count_busy();
    add_difference(*counters_, counted_, &counters_->nodes[node]);
    for (const auto amount : kAmounts)
        counted_.*amount = counters_->*amount;
    counted_.instructions = counters_->instructions;
    counted_.energy_pj = counters_->energy_pj;
}

void Scoreboard::run(const Program& program)
{
    std::vector<int64_t>& nodes = counters_->node_cycles;
    nodes.assign(std::max<size_t>(1, program.nodes.size()), 0);
    counters_->nodes.resize(nodes.size());
    int64_t counted = 0;
    for (const Instruction& in : program.instructions) {
        if (in.opcode == Opcode::kTag && in.value < nodes.size() && in.value != node_) {
            end_node(node_);
            node_ = in.value;
        }
        issue(in);
        reach(dispatched_ + 1);
        nodes[node_] += frontier_ - counted;
        counted = frontier_;
        dispatched_ = in.opcode == Opcode::kSync ? frontier_ : dispatched_ + 1;
    }
    counters_->total = frontier_;
    counters_->non_matrix += frontier_ - array_free_;
    end_node(node_);
    for (size_t i = 0; i < nodes.size(); ++i)
        counters_->nodes[i].total = nodes[i];
}

int check_sums(const Counters& counters)
{
    const int64_t cycles =
        counters.active + counters.weight_stall + counters.weight_shift + counters.non_matrix;
    int64_t nodes = 0;
    for (const int64_t node : counters.node_cycles)
        nodes += node;
    if (cycles == counters.total && nodes == counters.total &&
        counters.raw_stall + counters.input_stall <= counters.non_matrix)
        return TENGINE_OK;
    return tengine_error_set(TENGINE_EINTERNAL,
                             "the array's cycles add up to %lld and those of nodes to %lld, of "
                             "%lld in all",
                             static_cast<long long>(cycles), static_cast<long long>(nodes),
                             static_cast<long long>(counters.total));
}

}  // namespace

int count_cycles(const Program& program, const Config& config, Counters* out_counters,
                 std::vector<Interval>* out_intervals)
{
    return guarded(
        [&]() -> int {
            *out_counters = Counters();
            Scoreboard scoreboard(config, out_counters, out_intervals);
            scoreboard.run(program);
            return check_sums(*out_counters);
        },
        "out of memory while counting the cycles of %zu instructions", program.instructions.size());
}

}  // namespace tengine::tpu
