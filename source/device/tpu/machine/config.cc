// SPDX-License-Identifier: Apache-2.0
// Configurations: presets, the range of every member, their fingerprint. JSON: config_json.cc.
#include "device/tpu/machine/config.h"

#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/alloc.h"
#include "base/guard.hpp"
#include "base/sha256.h"
#include "base/small_file.h"
#include "device/tpu/machine/config_fields.h"
#include "device/tpu/machine/isa.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
constexpr size_t kMaxNameLength = 64;
constexpr size_t kMaxFileBytes = 1024 * 1024;

// The machine of the paper (section 2 and table 2). Its host link is PCIe Gen3 x16, which reaches
// 12.5 GB/s.
Config tpu_v1()
{
    Config config;
    config.name = "tpu-v1";
    config.rows = 256;
    config.columns = 256;
    config.clock_mhz = 700;
    config.unified_buffer_bytes = 24 * kMiB;
    config.accumulator_rows = 4096;
    config.weight_fifo_tiles = 4;
    config.weight_gbps = 34;
    config.host_gbps = 12.5;
    config.vector_lanes = 256;
    config.dma_latency = 500;
    return config;
}

// A machine beside the processor of a small board, with one DRAM for everything.
Config edge()
{
    Config config;
    config.name = "edge";
    config.rows = 32;
    config.columns = 32;
    config.clock_mhz = 1000;
    config.unified_buffer_bytes = 512 * kKiB;
    config.accumulator_rows = 1024;
    config.weight_fifo_tiles = 4;
    config.weight_gbps = 8;
    config.host_gbps = 8;
    config.shared_memory = true;
    config.vector_lanes = 32;
    config.dma_latency = 100;
    return config;
}

// The array and buffers of SCALE-Sim's configs/scale.cfg (3 x 64 KiB), with more bandwidth than the
// array can use, as in its CALC mode.
Config scale32()
{
    Config config;
    config.name = "scale32";
    config.rows = 32;
    config.columns = 32;
    config.clock_mhz = 1000;
    config.unified_buffer_bytes = 192 * kKiB;
    config.accumulator_rows = 1024;
    config.weight_fifo_tiles = 4;
    config.weight_gbps = 1024;
    config.host_gbps = 1024;
    config.vector_lanes = 32;
    return config;
}

int read_file(const std::string& path, std::string* out_text)
{
    if (access(path.c_str(), F_OK) != 0 && errno == ENOENT)
        return tengine_error_set(TENGINE_ENOENT,
                                 "unknown configuration '%s': expected one of %s, or a file",
                                 path.c_str(), preset_names().c_str());
    char* bytes = nullptr;
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(
        read_small_file(path.c_str(), "the configuration", kMaxFileBytes, &bytes, &size));
    const std::unique_ptr<char, void (*)(void*)> freed(bytes, free_memory);
    out_text->assign(bytes, size);
    return TENGINE_OK;
}

int check_name(const std::string& name, const std::string& where)
{
    bool plain = !name.empty() && name.size() <= kMaxNameLength;
    for (const unsigned char letter : name)
        plain = plain && letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\';
    if (plain) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "%s: invalid name '%.80s': expected 1 to %zu plain ASCII characters",
                             where.c_str(), name.c_str(), kMaxNameLength);
}

double number_of(const Config& config, const ConfigField& field)
{
    return std::visit([&](auto member) { return static_cast<double>(config.*member); },
                      field.member);
}

}  // namespace

// The limits keep all sizes and cycle counts of a program within 64 bits, and the machine within
// the memory of the computer that simulates it.
const std::vector<ConfigField>& config_fields()
{
    static const std::vector<ConfigField> fields = {
        {"rows", &Config::rows, 1, 1024},
        {"columns", &Config::columns, 1, 1024},
        {"clock_mhz", &Config::clock_mhz, 1, 100000},
        {"unified_buffer_bytes", &Config::unified_buffer_bytes, 1024, 1024.0 * kMiB},
        {"accumulator_rows", &Config::accumulator_rows, 1, 65536},
        {"weight_fifo_tiles", &Config::weight_fifo_tiles, 1, 64},
        {"weight_gbps", &Config::weight_gbps, 0.001, 1e6},
        {"host_gbps", &Config::host_gbps, 0.001, 1e6},
        {"shared_memory", &Config::shared_memory, 0, 1},
        {"vector_lanes", &Config::vector_lanes, 1, 65536},
        {"dma_latency", &Config::dma_latency, 0, 1e6},
        {"double_buffer", &Config::double_buffer, 0, 1},
    };
    return fields;
}

const std::vector<Config>& all_presets()
{
    static const std::vector<Config> presets = {tpu_v1(), edge(), scale32()};
    return presets;
}

const Config* find_preset(const std::string& name)
{
    for (const Config& preset : all_presets()) {
        if (preset.name == name) return &preset;
    }
    return nullptr;
}

std::string preset_names()
{
    std::string names;
    for (const Config& preset : all_presets())
        names += (names.empty() ? "" : ", ") + preset.name;
    return names;
}

int load_config(const std::string& name_or_path, Config* out_config)
{
    return guarded(
        [&]() -> int {
            const Config* preset = find_preset(name_or_path.empty() ? "edge" : name_or_path);
            if (preset) {
                *out_config = *preset;
                return TENGINE_OK;
            }
            std::string text;
            TENGINE_RETURN_IF_ERROR(read_file(name_or_path, &text));
            return parse_config(text, "'" + name_or_path + "'", out_config);
        },
        "out of memory for a configuration");
}

int check_config(const Config& config, const std::string& where)
{
    TENGINE_RETURN_IF_ERROR(check_name(config.name, where));
    for (const ConfigField& field : config_fields()) {
        const double value = number_of(config, field);
        // The comparison is negated so that a NaN is refused.
        if (!(value >= field.low && value <= field.high))
            return tengine_error_set(TENGINE_ERANGE, "%s: '%s' is %.17g, expected %.17g to %.17g",
                                     where.c_str(), field.name, value, field.low, field.high);
    }
    return TENGINE_OK;
}

uint64_t fingerprint_of(const Config& config)
{
    const uint64_t visible[] = {kIsaVersion,
                                static_cast<uint64_t>(config.rows),
                                static_cast<uint64_t>(config.columns),
                                static_cast<uint64_t>(config.unified_buffer_bytes),
                                static_cast<uint64_t>(config.accumulator_rows),
                                static_cast<uint64_t>(config.weight_fifo_tiles)};
    sha256_t hash;
    start_sha256(&hash);
    for (const uint64_t number : visible) {
        for (int shift = 0; shift < 64; shift += 8) {
            const auto byte = static_cast<uint8_t>(number >> shift);
            update_sha256(&hash, &byte, 1);
        }
    }
    uint8_t digest[SHA256_BYTES];
    finish_sha256(&hash, digest);
    uint64_t fingerprint = 0;
    for (int i = 0; i < 8; ++i)
        fingerprint |= static_cast<uint64_t>(digest[i]) << (8 * i);
    return fingerprint;
}

}  // namespace tengine::tpu
