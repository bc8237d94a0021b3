// SPDX-License-Identifier: Apache-2.0
// The format of saved bytes: a head, a record for each step of the plan, then the constants that
// the steps have packed, each aligned to ALLOC_ALIGNMENT. They have the layout of this processor,
// which compatibility() describes. Their contents are not trusted: the plan chooses kernels again
// (timed ones among those that accept the step), and kernels know the size of their packs.
#include "device/cpu/keeping.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/alloc.h"
#include "base/guard.hpp"
#include "base/minimal.h"
#include "device/cpu/device_state.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/plan/memories.h"
#include "device/cpu/plan/plan.h"
#include "device/cpu/shared/rounding.h"
#include "tengine/version.h"

namespace tengine::cpu {
namespace {

struct Head
{
    char mark[16];
    uint64_t step_num;
    uint64_t size;  // of all saved bytes
};

struct Record
{
    char kernel[36];   // its name; "" for a step that chooses in each run
    int32_t position;  // of its node in the part: nodes between two positions are fused
    int8_t addend;     // of Fusion
    uint8_t activation;
    uint8_t layout;
    int8_t scale;
    int8_t table;
    uint8_t zeroes[3];
    uint64_t offset, size;  // the packed constants; size 0: none
};

static_assert(sizeof(Head) == 32 && sizeof(Record) == 64, "no gaps");

// Changes when the layout of any packed constant changes within a version.
constexpr char kMark[16] = "tengine cpu 4\n";

Record describe(const Step& step)
{
    Record record = {};
    if (!step.dynamic) std::snprintf(record.kernel, sizeof record.kernel, "%s", step.kernel->name);
    record.position = step.position;
    record.addend = static_cast<int8_t>(step.context.fusion.addend);
    record.scale = static_cast<int8_t>(step.context.fusion.scale);
    record.table = static_cast<int8_t>(step.context.fusion.table);
    record.activation = static_cast<uint8_t>(step.context.fusion.activation);
    record.layout = static_cast<uint8_t>(step.layout);
    return record;
}

// ---- saving ----

int write_packed(const Vector<Record>& records, Vector<Step>& steps, uint64_t written,
                 ir_sink* sink)
{
    constexpr char zeroes[ALLOC_ALIGNMENT] = {};
    for (size_t i = 0; i < records.size(); ++i) {
        if (records[i].size == 0) continue;
        const Packed& packed = steps[i].context.packed;
        TENGINE_RETURN_IF_ERROR(
            write_ir_sink(sink, zeroes, static_cast<size_t>(records[i].offset - written)));
        TENGINE_RETURN_IF_ERROR(write_ir_sink(sink, packed.data, static_cast<size_t>(packed.size)));
        written = records[i].offset + records[i].size;
    }
    return TENGINE_OK;
}

// Whether another process might choose other kernels.
bool has_choice(struct device* device, const Vector<Step>& steps)
{
#ifndef TENGINE_MINIMAL
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        return !step.dynamic && is_timing_wanted(*step.context.node->graph) &&
               list_alternatives(kernels_of(device), step).size() > 1;
    });
#else
    (void)device, (void)steps;
    return false;
#endif
}

int write(struct device* device, Vector<Step>& steps, ir_sink* sink)
{
    const uint64_t begin = sizeof(Head) + sizeof(Record) * steps.size();
    uint64_t end = begin;
    Vector<Record> records;
    for (const Step& step : steps) {
        Record& record = records.emplace_back(describe(step));
        record.size = step.context.packed.size;
        if (record.size == 0) continue;
        record.offset = round_up<uint64_t>(end, ALLOC_ALIGNMENT);
        end = record.offset + record.size;
    }
    if (end == begin && !has_choice(device, steps))
        return tengine_error_set(TENGINE_ENOENT, "no kernel of the part packs constants");
    Head head = {};
    std::memcpy(head.mark, kMark, sizeof kMark);
    head.step_num = steps.size();
    head.size = end;
    TENGINE_RETURN_IF_ERROR(write_ir_sink(sink, &head, sizeof head));
    TENGINE_RETURN_IF_ERROR(write_ir_sink(sink, records.data(), sizeof(Record) * records.size()));
    return write_packed(records, steps, begin, sink);
}

// ---- loading ----

int fail(const char* what)
{
    return tengine_error_set(TENGINE_EFORMAT, "CPU: the saved part %s", what);
}

int check_head(const Head& head, size_t step_num, size_t size)
{
    if (std::memcmp(head.mark, kMark, sizeof kMark) != 0)
        return fail("was saved by another version");
    if (head.size != size) return fail("has another size than its head states");
    if (head.step_num != step_num) return fail("has another number of steps");
    return TENGINE_OK;
}

// The plan has to be the same, since the packed constants are for its kernels.
int give(const Record& record, const char* bytes, uint64_t size, Step& step)
{
    Record same = describe(step);
    same.offset = record.offset;
    same.size = record.size;
    if (std::memcmp(&same, &record, sizeof record) != 0)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "CPU: node '%s' has the kernel '%s', but was saved with '%.36s'",
                                 step.context.node->name, same.kernel, record.kernel);
    if (record.size == 0) return TENGINE_OK;
    if (record.offset % ALLOC_ALIGNMENT != 0 || record.offset > size ||
        record.size > size - record.offset)
        return fail("has packed weights beyond its end");
    step.context.saved = {bytes + record.offset, record.size};
    return TENGINE_OK;
}

// Gives a timed step the kernel that was saved.
void choose(struct device& device, const Record& record, Step& step)
{
#ifndef TENGINE_MINIMAL
    if (step.dynamic || !is_timing_wanted(*step.context.node->graph)) return;
    char name[sizeof record.kernel + 1] = {};
    std::memcpy(name, record.kernel, sizeof record.kernel);
    state_of(&device).timed.take(kernels_of(&device), name, step);
#else
    (void)device, (void)record, (void)step;
#endif
}

int give(struct device& device, const void* data, size_t size, Vector<Step>& steps)
{
    const auto* bytes = static_cast<const char*>(data);
    Head head;
    if (size < sizeof head || (size - sizeof head) / sizeof(Record) < steps.size())
        return fail("is too short");
    std::memcpy(&head, bytes, sizeof head);
    TENGINE_RETURN_IF_ERROR(check_head(head, steps.size(), size));
    for (size_t i = 0; i < steps.size(); ++i) {
        Record record;
        std::memcpy(&record, bytes + sizeof head + sizeof record * i, sizeof record);
        choose(device, record, steps[i]);
        TENGINE_RETURN_IF_ERROR(give(record, bytes, size, steps[i]));
    }
    return TENGINE_OK;
}

// Checks that each kernel has taken its saved constants and packed nothing itself.
int check_taken(const Vector<Step>& steps)
{
    for (const Step& step : steps)
        if (step.context.packed.data != step.context.saved.data)
            return fail("is packed for other kernels");
    return TENGINE_OK;
}

// ---- the device's entries ----

int save(struct device* device, subgraph* part, ir_sink* sink)
{
    return guarded(
        [&] { return write(device, static_cast<Plan*>(part->device_graph)->steps(), sink); },
        "part %d: out of memory while saving it", part->index);
}

int load(struct device* device, subgraph* part, const void* data, size_t size)
{
    return guarded(
        [&]() -> int {
            std::unique_ptr<Plan> plan;
            TENGINE_RETURN_IF_ERROR(Plan::choose(kernels_of(device, *part->graph), *part, &plan));
            TENGINE_RETURN_IF_ERROR(give(*device, data, size, plan->steps()));
            TENGINE_RETURN_IF_ERROR(plan->prepare(*part, list_tiers(*part, device)));
            TENGINE_RETURN_IF_ERROR(check_taken(plan->steps()));
            part->device_graph = plan.release();
            return TENGINE_OK;
        },
        "part %d: out of memory for its plan", part->index);
}

// The length of vectors decides that of panels; the name "SVE" does not contain it.
int64_t count_panel_lanes()
{
#ifdef TENGINE_HAVE_HIGHWAY
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    return 2 * lanes;
#else
    return 0;
#endif
}

// A minimal build packs constants differently for kernels of the same names: the last panel has its
// full width, and a depthwise convolution takes one vector at a time.
int compatibility(struct device* device, const subgraph*, char* text)
{
    std::snprintf(text, IR_COMPATIBILITY_SIZE, "kernels %s%s, panels of %lld, %s",
                  TENGINE_VERSION_STRING, IS_MINIMAL ? " of a minimal build" : "",
                  static_cast<long long>(count_panel_lanes()), device->interface->features(device));
    return TENGINE_OK;
}

// The chip is the first word of its features, the instruction set of the kernels.
int identify(struct device* device, const struct graph*, ir_identity_t* out_identity)
{
    const char* features = device->interface->features(device);
    std::snprintf(out_identity->chip, sizeof out_identity->chip, "%.*s",
                  static_cast<int>(std::strcspn(features, " ;")), features);
    std::snprintf(out_identity->driver, sizeof out_identity->driver, "%s", TENGINE_VERSION_STRING);
    std::snprintf(out_identity->model_options, sizeof out_identity->model_options,
                  "winograd timing");
    return TENGINE_OK;
}

}  // namespace

void add_keeping(struct interface& table)
{
    if (!IS_RUNTIME_ONLY) table.save = save;
    table.load = load;
    table.compatibility = guarded_entry<compatibility>;
    table.identify = guarded_entry<identify>;
}

}  // namespace tengine::cpu
