// SPDX-License-Identifier: Apache-2.0
// Modules come from untrusted files: damaged ones are refused, or are other programs, which do no
// harm.
#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <utility>

#include "vendor.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

constexpr double kMaxCycles = 1 << 20;

// The module that the compiler has made in a test.
Bytes recorded;

int record_module(void* result, int index, const void** out_bytes, size_t* out_size)
{
    const int status = plugin_compiler()->get_module(result, index, out_bytes, out_size);
    const auto* bytes = static_cast<const uint8_t*>(*out_bytes);
    if (index == 0) recorded.assign(bytes, bytes + *out_size);
    return status;
}

class ModuleTest : public VendorTest
{
  protected:
    // Compiles the first part of the model, for the machine with the smallest tiles.
    void SetUp() override
    {
        VendorTest::SetUp();
        compiler_.get_module = record_module;
        register_both();
        destroy_graph(prepare(save_model("onnx"), kPluginDevice, {{"TPU_PLUGIN.soc", "scale32"}}));
        ASSERT_GT(recorded.size(), kModuleHead);
    }

    static int read(const Bytes& module)
    {
        // A block of exactly this size, so that a sanitizer detects reads beyond it.
        const std::unique_ptr<uint8_t[]> exact(new uint8_t[module.size()]);
        std::copy(module.begin(), module.end(), exact.get());
        Config config;
        Program program;
        return read_module(exact.get(), module.size(), &config, &program);
    }

    // Uses kept bytes as the device does. Returns whether it ran to its end.
    bool use(const Bytes& bytes) const
    {
        void* module = nullptr;
        if (dispatch_.load(bytes.data(), bytes.size(), &module) != 0) return false;
        const std::unique_ptr<void, void (*)(void*)> loaded(module, dispatch_.unload);
        void* invocation = nullptr;
        if (dispatch_.create_invocation(module, "program", 1, 1, &invocation) != 0) return false;
        const std::unique_ptr<void, void (*)(void*)> made(invocation, dispatch_.destroy_invocation);
        Bytes x(4 * 8 * 8, 1), y(8 * 6 * 6);
        tengine_buffer_requirement_t needed;
        ir_counter_t metric{};
        if (dispatch_.get_input_requirement(invocation, 0, &needed) != 0 ||
            dispatch_.get_output_requirement(invocation, 0, &needed) != 0 ||
            dispatch_.attach_input(invocation, 0, x.data(), x.size()) != 0 ||
            dispatch_.attach_output(invocation, 0, y.data(), y.size()) != 0 ||
            dispatch_.get_metric(invocation, 0, &metric) != 1)
            return false;
        if (metric.value > kMaxCycles) dispatch_.cancel(invocation);
        return dispatch_.invoke(invocation) == 0;
    }
};

TEST_F(ModuleTest, AWholeOneRuns)
{
    EXPECT_EQ(read(recorded), TENGINE_OK) << tengine_error_message();
    EXPECT_TRUE(use(recorded)) << tengine_error_message();
}

TEST_F(ModuleTest, EveryTruncationIsRefused)
{
    for (size_t size = 0; size < recorded.size(); ++size)
        ASSERT_EQ(read(Bytes(recorded.begin(), recorded.begin() + static_cast<int>(size))),
                  TENGINE_EFORMAT)
            << size << ": " << tengine_error_message();
    Bytes longer = recorded;
    longer.push_back(0);
    EXPECT_EQ(read(longer), TENGINE_EFORMAT);
}

TEST_F(ModuleTest, OtherHeadsAreRefused)
{
    const auto with_head = [&](const char* text) {
        Bytes module = recorded;
        std::fill_n(module.begin(), kModuleHead, uint8_t{0});
        std::memcpy(module.data(), text, std::min(std::strlen(text), kModuleHead));
        return module;
    };
    EXPECT_EQ(read(with_head("TPU scale32")), TENGINE_OK) << tengine_error_message();
    const std::string endless(kModuleHead, 'a');
    for (const char* text : {"", "TPU ", "TPU", "tpu scale32", "TPU scale3", "TPU scale320",
                             "TPU /etc/passwd", "TPU scale32\n", endless.c_str()}) {
        EXPECT_EQ(read(with_head(text)), TENGINE_EFORMAT) << text;
        EXPECT_THAT(tengine_error_message(), HasSubstr("not a module of the TPU")) << text;
    }
    // This machine exists, but is not that of the program.
    EXPECT_EQ(read(with_head("TPU edge")), TENGINE_EINVAL);
    EXPECT_THAT(tengine_error_message(), HasSubstr("another configuration than 'edge'"));
}

TEST_F(ModuleTest, AFlippedByteDoesNoHarm)
{
    int valid = 0, refused = 0;
    for (size_t i = 0; i < recorded.size(); ++i) {
        for (const int mask : {0x01, 0x80, 0xff}) {
            Bytes altered = recorded;
            altered[i] ^= static_cast<uint8_t>(mask);
            ++(use(altered) ? valid : refused);
        }
    }
    // Weights may be altered, and many numbers; magic, sizes and most of an instruction may not.
    EXPECT_GT(valid, 100);
    EXPECT_GT(refused, 100);
}

// The file has the size of host memory, and any that is large enough is valid.
TEST_F(ModuleTest, ClaimedMemoryIsNotTakenUp)
{
    const auto resident = [] {
        rusage usage{};
        EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
        return usage.ru_maxrss;  // KB
    };
    constexpr size_t kHostBytes = kModuleHead + 48;
    Bytes altered = recorded;
    altered[kHostBytes + 3] = 0x20;  // 512 MB
    const long before = resident();
    EXPECT_TRUE(use(altered)) << tengine_error_message();
    EXPECT_LT(resident() - before, 100 << 10);
    altered[kHostBytes + 5] = 1;  // more than any program has
    EXPECT_FALSE(use(altered));
    EXPECT_EQ(tengine_error_code(), TENGINE_EINVAL) << tengine_error_message();
}

TEST_F(ModuleTest, OnlyTheEntryPointWithItsPortsIsThere)
{
    void *module = nullptr, *invocation = nullptr;
    ASSERT_EQ(dispatch_.load(recorded.data(), recorded.size(), &module), 0);
    EXPECT_EQ(dispatch_.create_invocation(module, "other", 1, 1, &invocation), TENGINE_EFORMAT);
    EXPECT_STREQ(tengine_error_message(), "no entry point 'other' with 1 inputs, 1 outputs");
    for (const auto& [inputs, outputs] : {std::pair{0, 1}, {1, 0}, {2, 1}, {1, 2}, {2, 0}})
        EXPECT_EQ(dispatch_.create_invocation(module, "program", inputs, outputs, &invocation),
                  TENGINE_EFORMAT)
            << inputs << " " << outputs;
    ASSERT_EQ(dispatch_.create_invocation(module, "program", 1, 1, &invocation), 0);
    Bytes x(4 * 8 * 8 - 1);
    EXPECT_EQ(dispatch_.attach_input(invocation, 0, x.data(), x.size()), TENGINE_EINVAL);
    EXPECT_THAT(tengine_error_message(), HasSubstr("has 255 bytes, expected 256"));
    dispatch_.destroy_invocation(invocation);
    dispatch_.unload(module);
}

}  // namespace
}  // namespace tengine::tpu
