// SPDX-License-Identifier: Apache-2.0
// The contract is in bench_report.h.
#include "bench_report.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

std::string memory_text(int64_t bytes)
{
    const double mebibytes = static_cast<double>(bytes) / (1024.0 * 1024.0);
    return bytes == 0 ? "?" : decimal_text(mebibytes, 1);
}

// The table has a column for the number of frames if there are several.
std::string measured_table(const std::vector<Measurement>& measurements)
{
    const bool has_frames = std::any_of(measurements.begin(), measurements.end(),
                                        [](const Measurement& m) { return m.frames > 1; });
    Rows rows = {{"model", ">threads", ">runs", ">load ms", ">prepare ms", ">first ms", ">min ms",
                  ">median ms", ">mean ms", ">deviation", ">p90 ms", ">p99 ms", ">runs/s",
                  ">GFLOP/s", ">peak MiB"}};
    if (has_frames) rows[0].insert(rows[0].begin() + 2, ">frames");
    for (const Measurement& m : measurements) {
        if (!m.simulated.empty()) continue;
        rows.push_back({m.model, std::to_string(m.threads), std::to_string(m.runs),
                        time_text(m.load), time_text(m.prepare), time_text(m.first_run),
                        time_text(m.times.min), time_text(m.times.median), time_text(m.times.mean),
                        time_text(m.times.deviation), time_text(m.times.p90),
                        time_text(m.times.p99), decimal_text(m.runs_per_second, 1),
                        decimal_text(m.gflops.value_or(0), 2), memory_text(m.peak_memory)});
        if (has_frames) rows.back().insert(rows.back().begin() + 2, std::to_string(m.frames));
    }
    return rows.size() > 1 ? broken_table_text(rows, terminal_style({"model"})) : "";
}

double simulated_sum(const Measurement& measurement)
{
    double sum = 0;
    for (const auto& [device, ms] : measurement.simulated)
        sum += ms;
    return sum;
}

std::string simulated_table(const std::vector<Measurement>& measurements)
{
    Rows rows = {{"model", "simulated", ">its own ms", ">threads", ">runs", ">load ms",
                  ">prepare ms", ">simulator's median ms", ">peak MiB"}};
    for (const Measurement& m : measurements) {
        if (m.simulated.empty()) continue;
        std::string devices;
        for (const auto& [device, ms] : m.simulated)
            devices += (devices.empty() ? "" : ", ") + device;
        rows.push_back({m.model, devices, time_text(simulated_sum(m)), std::to_string(m.threads),
                        std::to_string(m.runs), time_text(m.load), time_text(m.prepare),
                        time_text(m.times.median), memory_text(m.peak_memory)});
    }
    return rows.size() > 1 ? broken_table_text(rows, terminal_style({"model"})) : "";
}

std::string title(const Measurement& m)
{
    return m.model + ", " + std::to_string(m.threads) + (m.threads == 1 ? " thread" : " threads");
}

void print_profile(const Measurement& m, int top)
{
    std::string times = "median of " + std::to_string(m.profile->runs) + " warm runs";
    for (const auto& [device, ms] : m.simulated)
        times += "; " + device + "'s by its own clock";
    std::printf("\n%s: %s\n\n%s", title(m).c_str(), times.c_str(),
                profile_text(*m.profile, top).c_str());
}

void print_counters(const Measurement& m)
{
    for (const CountedPart& counted : m.counted)
        std::printf("\n%s, part %d on %s:\n%s", m.model.c_str(), counted.part,
                    counted.device.c_str(), counters_text(counted.counters).c_str());
}

Json counted_json(const Measurement& measurement)
{
    Json list = Json::array();
    for (const CountedPart& counted : measurement.counted)
        list.push_back({{"part", counted.part},
                        {"device", counted.device},
                        {"counters", to_json(counted.counters)}});
    return list;
}

Json simulated_json(const Measurement& measurement)
{
    Json list = Json::array();
    for (const auto& [device, ms] : measurement.simulated)
        list.push_back({{"device", device}, {"ms", ms}});
    return list;
}

Json measurement_json(const Measurement& m)
{
    return {{"model", m.model},
            {"threads", m.threads},
            {"frames", m.frames},
            {"runs", m.runs},
            {"load_ms", m.load},
            {"prepare_ms", m.prepare},
            {"first_run_ms", m.first_run},
            {"min_ms", m.times.min},
            {"median_ms", m.times.median},
            {"mean_ms", m.times.mean},
            {"deviation_ms", m.times.deviation},
            {"p90_ms", m.times.p90},
            {"p99_ms", m.times.p99},
            {"runs_per_second", m.runs_per_second},
            {"macs", m.macs},
            {"gflops", m.gflops ? Json(*m.gflops) : Json(nullptr)},
            {"peak_memory", m.peak_memory},
            {"simulated", simulated_json(m)},
            {"counted", counted_json(m)},
            {"profile", m.profile ? to_json(*m.profile) : Json(nullptr)},
            {"report", m.report ? to_json(*m.report) : Json(nullptr)}};
}

}  // namespace

void print_measurements(const std::vector<Measurement>& measurements, int top)
{
    const std::string simulated = simulated_table(measurements);
    const std::string measured = measured_table(measurements);
    const bool both = !simulated.empty() && !measured.empty();
    std::printf("%s%s%s", simulated.c_str(), both ? "\n" : "", measured.c_str());
    for (const Measurement& m : measurements) {
        if (m.profile) print_profile(m, top);
        print_counters(m);
    }
}

Json to_json(const std::vector<Measurement>& measurements)
{
    Json results = Json::array();
    for (const Measurement& m : measurements)
        results.push_back(measurement_json(m));
    return results;
}

}  // namespace tengine::tools
