// SPDX-License-Identifier: Apache-2.0
// The accepted values of an instruction; see validate_instruction.h. Sums of addresses stay below
// 2^52: counts have 16 bits, pitches 32.
#include "device/tpu/program/validate_instruction.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr uint64_t kMaxAverageElements = uint64_t{1} << 23;  // 9 bits each, so that sums fit int32
constexpr int kMaxShift = 62;
constexpr uint64_t kLookupBytes = 256;

// Returns the bytes from the first of the first vector to the last of the last.
uint64_t span_of(const Spacing& grid)
{
    return (grid.outer - 1) * grid.pitch_outer + (grid.inner - 1) * grid.pitch_inner + grid.bytes;
}

// Whether all steps of the smaller pitch are within one step of the larger. Exact except for grids
// that interleave, which the compiler never makes.
bool vectors_are_apart(const Spacing& grid)
{
    if (grid.outer == 1) return grid.inner == 1 || grid.pitch_inner >= grid.bytes;
    if (grid.inner == 1) return grid.pitch_outer >= grid.bytes;
    const bool outer_steps_far = grid.pitch_outer >= grid.pitch_inner;
    const uint64_t near = outer_steps_far ? grid.pitch_inner : grid.pitch_outer;
    const uint64_t far = outer_steps_far ? grid.pitch_outer : grid.pitch_inner;
    const uint64_t near_num = outer_steps_far ? grid.inner : grid.outer;
    return near >= grid.bytes && far >= (near_num - 1) * near + grid.bytes;
}

}  // namespace

int InstructionValidator::fail(const char* format, ...) const
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const char* name = opcode_name(at_->opcode);
    return tengine_error_set(TENGINE_EINVAL, "TPU program: instruction %zu (%s): %s", index_,
                             name ? name : "invalid opcode", reason);
}

int InstructionValidator::check(size_t index)
{
    index_ = index;
    at_ = &program_.instructions[index];
    const Form* form = find_form(at_->opcode, at_->flags);
    if (!form) return fail("invalid opcode %d", static_cast<int>(at_->opcode));
    if (check_flags(*form, at_->flags) < 0)
        return fail("%s", std::string(tengine_error_message()).c_str());
    TENGINE_RETURN_IF_ERROR(check_fields(*form));
    return check_operation();
}

// Checks the values of members by their names, in every instruction that has them.
int InstructionValidator::check_fields(const Form& form)
{
    const int lowest = has(kSignedD) ? static_cast<int8_t>(at_->lowest) : at_->lowest;
    const int highest = has(kSignedD) ? static_cast<int8_t>(at_->highest) : at_->highest;
    for (int i = 0; i < form.field_num; ++i) {
        const std::string_view name = form.fields[i].name;
        const uint64_t value = get_member(*at_, form.fields[i].members[0]);
        const bool is_count = name == "outer" || name == "inner" || name == "length" ||
                              name == "columns" || name == "tiles";
        if (is_count && value == 0) return fail("%s is 0, expected 1 or more", form.fields[i].name);
        if (name == "shift" && value > kMaxShift)
            return fail("shift is %d, expected 0 to %d", at_->shift, kMaxShift);
        if (name == "highest" && lowest > highest)
            return fail("lowest %d is above highest %d", lowest, highest);
        // The comparison is negated so that a NaN is refused.
        if (name == "high" && !(at_->low_real <= at_->high_real))
            return fail("low %g is above high %g, or one is not a number", at_->low_real,
                        at_->high_real);
        if (name == "scale" && !std::isfinite(at_->low_real))
            return fail("scale is %g, expected a number", at_->low_real);
        if (name == "window" && (at_->window_outer == 0 || at_->window_inner == 0))
            return fail("a window of %d x %d", at_->window_outer, at_->window_inner);
    }
    return TENGINE_OK;
}

int InstructionValidator::check_operation()
{
    switch (at_->opcode) {
        case Opcode::kReadWeights:
            return check_read_weights();
        case Opcode::kMatrixMultiply:
            return check_product();
        case Opcode::kActivate:
            return check_activate();
        case Opcode::kFill:
            return check_written(at_->d, vector_bytes());
        case Opcode::kLookup:
            TENGINE_RETURN_IF_ERROR(check_buffer("table", at_->table, kLookupBytes));
            return check_vectors();
        case Opcode::kAdd:
        case Opcode::kMultiply:
            TENGINE_RETURN_IF_ERROR(check_read("b", at_->b, vector_bytes()));
            return check_vectors();
        case Opcode::kCopy:
            return check_vectors();
        case Opcode::kMaxPool:
        case Opcode::kAveragePool:
            return check_pool();
        case Opcode::kReadHost:
            return check_read_host();
        case Opcode::kWriteHost:
            return check_write_host();
        case Opcode::kSync:
            return check_drained();
        case Opcode::kTag:
            if (at_->value < program_.nodes.size()) return TENGINE_OK;
            return fail("value is %u, the program has %zu nodes", at_->value,
                        program_.nodes.size());
        case Opcode::kHalt:
            if (index_ + 1 == program_.instructions.size()) return check_drained();
            return fail("it is not the last instruction");
        case Opcode::kNop:
            break;
    }
    return TENGINE_OK;
}

int InstructionValidator::check_read_weights()
{
    if (at_->tiles > config_.weight_fifo_tiles)
        return fail("%d tiles; the FIFO holds %d", at_->tiles, config_.weight_fifo_tiles);
    const uint64_t tile_bytes =
        uint64_t{1} * config_.rows * config_.columns * (has(kWideWeights) ? 2 : 1);
    TENGINE_RETURN_IF_ERROR(check_span("weights", "weight memory", at_->host_address,
                                       at_->tiles * tile_bytes, program_.weights.size()));
    fifo_.insert(fifo_.end(), at_->tiles, has(kWideWeights));
    return TENGINE_OK;
}

int InstructionValidator::check_product()
{
    if (at_->length > static_cast<uint32_t>(config_.rows))
        return fail("length is %u, the array has %d rows", at_->length, config_.rows);
    if (at_->columns > config_.columns)
        return fail("columns is %d, the array has %d", at_->columns, config_.columns);
    const int element_bytes = has(kWideA) || has(kFloat) ? 2 : 1;
    TENGINE_RETURN_IF_ERROR(check_read("a", at_->a, uint64_t{at_->length} * element_bytes));
    TENGINE_RETURN_IF_ERROR(check_sums("d", at_->d.address));
    return take_tile();
}

// Takes the tile of a product, which must exist and have the width that the product assumes.
int InstructionValidator::take_tile()
{
    if (has(kNextTile)) {
        if (fifo_first_ == fifo_.size()) return fail("next_tile, but no tile was fetched for it");
        tile_is_wide_ = fifo_[fifo_first_++];
        has_tile_ = true;
    }
    if (!has_tile_) return fail("no tile is in the array; the first product needs next_tile");
    if (tile_is_wide_ != has(kWideWeights))
        return fail("its tile has elements of %d bytes, but it %s wide_weights",
                    tile_is_wide_ ? 2 : 1, has(kWideWeights) ? "has" : "does not have");
    return TENGINE_OK;
}

// Fetches that wait for room in the FIFO would never finish.
int InstructionValidator::check_drained()
{
    const size_t waiting = fifo_.size() - fifo_first_;
    if (waiting <= static_cast<size_t>(config_.weight_fifo_tiles)) return TENGINE_OK;
    return fail("%zu tiles were fetched and not taken, more than the FIFO of %d holds", waiting,
                config_.weight_fifo_tiles);
}

int InstructionValidator::check_activate()
{
    if (at_->length > static_cast<uint32_t>(config_.columns))
        return fail("length is %u, the accumulators have %d columns", at_->length, config_.columns);
    TENGINE_RETURN_IF_ERROR(check_sums("a", at_->a.address));
    TENGINE_RETURN_IF_ERROR(
        check_buffer("parameters", at_->b.address, uint64_t{at_->length} * kParameterBytes));
    if (has(kTable)) TENGINE_RETURN_IF_ERROR(check_buffer("table", at_->table, kLookupBytes));
    return check_written(at_->d, vector_bytes());
}

// Checks the operands a to d, vector by vector.
int InstructionValidator::check_vectors()
{
    TENGINE_RETURN_IF_ERROR(check_read("a", at_->a, vector_bytes()));
    return check_written(at_->d, vector_bytes());
}

int InstructionValidator::check_pool()
{
    const uint64_t elements = uint64_t{at_->window_outer} * at_->window_inner;
    if (at_->opcode == Opcode::kAveragePool && elements > kMaxAverageElements)
        return fail("a window of %llu, expected at most %llu",
                    static_cast<unsigned long long>(elements),
                    static_cast<unsigned long long>(kMaxAverageElements));
    const uint64_t window = span_of({at_->window_outer, at_->window_inner, at_->window_pitch_outer,
                                     at_->window_pitch_inner, vector_bytes()});
    TENGINE_RETURN_IF_ERROR(check_read("a", at_->a, window));
    return check_written(at_->d, vector_bytes());
}

int InstructionValidator::check_read_host()
{
    TENGINE_RETURN_IF_ERROR(check_host(at_->a));
    return check_written(at_->d, vector_bytes());
}

// Constants are copied once and used in every run.
int InstructionValidator::check_write_host()
{
    TENGINE_RETURN_IF_ERROR(check_read("a", at_->a, vector_bytes()));
    if (at_->host_address < program_.constants.size())
        return fail("it writes to host address %llu, where constants extend to %zu",
                    static_cast<unsigned long long>(at_->host_address), program_.constants.size());
    TENGINE_RETURN_IF_ERROR(check_apart("host", grid_of(at_->d, vector_bytes())));
    return check_host(at_->d);
}

int InstructionValidator::check_host(const Operand& pitches)
{
    return check_span("host", "host memory", at_->host_address,
                      span_of(grid_of(pitches, vector_bytes())), program_.host_bytes);
}

int InstructionValidator::check_read(const char* name, const Operand& operand, uint64_t bytes)
{
    return check_buffer(name, operand.address, span_of(grid_of(operand, bytes)));
}

int InstructionValidator::check_written(const Operand& operand, uint64_t bytes)
{
    TENGINE_RETURN_IF_ERROR(check_apart("d", grid_of(operand, bytes)));
    return check_buffer("d", operand.address, span_of(grid_of(operand, bytes)));
}

int InstructionValidator::check_apart(const char* name, const Spacing& grid)
{
    if (vectors_are_apart(grid)) return TENGINE_OK;
    return fail("%s: %llu x %llu vectors of %llu bytes with pitches %llu and %llu overlap", name,
                static_cast<unsigned long long>(grid.outer),
                static_cast<unsigned long long>(grid.inner),
                static_cast<unsigned long long>(grid.bytes),
                static_cast<unsigned long long>(grid.pitch_outer),
                static_cast<unsigned long long>(grid.pitch_inner));
}

int InstructionValidator::check_sums(const char* name, uint32_t address)
{
    return check_span(name, "accumulators", address, uint64_t{at_->outer} * at_->inner,
                      config_.accumulator_rows);
}

int InstructionValidator::check_buffer(const char* name, uint32_t address, uint64_t span)
{
    return check_span(name, "unified buffer", address, span, config_.unified_buffer_bytes);
}

int InstructionValidator::check_span(const char* name, const char* memory, uint64_t address,
                                     uint64_t span, uint64_t limit)
{
    if (address <= limit && span <= limit - address) return TENGINE_OK;
    return fail("%s takes %llu from %llu on, the %s end%s at %llu", name,
                static_cast<unsigned long long>(span), static_cast<unsigned long long>(address),
                memory, std::strcmp(memory, "accumulators") == 0 ? "" : "s",
                static_cast<unsigned long long>(limit));
}

}  // namespace tengine::tpu
