// SPDX-License-Identifier: Apache-2.0
// Compiled parts in a model: kept if the program requests it, looked up before the folder; if
// anything is wrong with them, the device compiles.
#include "graph/model_part.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "scheduler/fixture.h"
#include "scheduler/temporary_folder.h"
#include "tengine/inspect.h"

namespace {

using namespace tengine::test;

// The state for entries of a TestDevice, which do not get their test as an argument.
struct Calls
{
    int loads = 0, compilations = 0, load_status = 0, compile_status = 0;
    bool refuses_first = false;    // of the two loads of a part
    const void* loaded = nullptr;  // the bytes of the last load
    std::string target = "compiler 1";
    int (*pre_run)(device*, subgraph*, void*) = nullptr;
} calls;

int pre_run(device* device, subgraph* part, void* options)
{
    ++calls.compilations;
    if (calls.compile_status != 0)
        return tengine_error_set(calls.compile_status, "there is no compiler");
    return calls.pre_run(device, part, options);
}

int save(device*, subgraph*, ir_sink* sink)
{
    return write_ir_sink(sink, "compiled", 8);
}

int load(device* device, subgraph* part, const void* data, size_t size)
{
    ++calls.loads;
    if (calls.load_status != 0) return tengine_error_set(calls.load_status, "told not to load");
    if (calls.refuses_first && calls.loads % 2 == 1)
        return tengine_error_set(TENGINE_EVERSION, "told not to load what comes first");
    EXPECT_EQ(std::string(static_cast<const char*>(data), size), "compiled");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);
    calls.loaded = data;
    return calls.pre_run(device, part, nullptr);
}

int compatibility(device*, const subgraph*, char* text)
{
    snprintf(text, IR_COMPATIBILITY_SIZE, "%s", calls.target.c_str());
    return 0;
}

class ModelPartTest : public testing::Test
{
  protected:
    ModelPartTest()
    {
        calls = {};
        wrap_entries(device_);
        add_three_steps(session_);
        session_.set("model.keep_parts", "1");
        session_.set("run.shape_cache", "0");
    }

    static void wrap_entries(TestDevice& device)
    {
        struct interface& table = *device.get()->interface;
        calls.pre_run = table.pre_run;
        table.pre_run = pre_run;
        table.save = save;
        table.load = load;
        table.compatibility = compatibility;
    }

    // Prepares, runs and drops a graph; returns the numbers of parts that the device compiled and
    // loaded.
    std::pair<int, int> use(int size = 4)
    {
        calls.compilations = calls.loads = 0;
        EXPECT_EQ(set_ir_tensor_shape(session_.at("x"), &size, 1), TENGINE_OK);
        EXPECT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
        for (int i = 0; i < get_vector_num(session_.execution()->subgraph_list) && i < 3; ++i)
            origins_[i] = session_.part(i)->core->origin;
        session_.feed("x", Floats(static_cast<size_t>(size), 0.5f));
        EXPECT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_FLOAT_EQ(session_.read("y")[0], three_steps_of(0.5f));
        EXPECT_EQ(session_.postrun(), TENGINE_OK);
        return {calls.compilations, calls.loads};
    }

    // Alters a byte of the model's first part.
    static void alter(Session& session, size_t place, int bits)
    {
        const ir_model_bytes_t* bytes = get_ir_model_part(session.source(), 0)->bytes;
        static_cast<char*>(const_cast<void*>(bytes->data))[place] ^= static_cast<char>(bits);
    }

    int number() { return count_ir_model_parts(session_.source()); }
    const ir_model_part_t* part(int index) { return get_ir_model_part(session_.source(), index); }

    using Counts = std::pair<int, int>;

    const LogCapture log_;
    TestDevice device_{"A", {"Relu", "Neg"}};
    Session session_{&device_};
    int origins_[3];
};

TEST_F(ModelPartTest, WhatWasCompiledOnceIsLoaded)
{
    EXPECT_EQ(use(), Counts(2, 0));
    EXPECT_EQ(origins_[0], TENGINE_PART_COMPILED);
    ASSERT_EQ(number(), 2);
    EXPECT_STREQ(part(0)->device, "A");
    EXPECT_STREQ(part(0)->bytes->target, "compiler 1");
    EXPECT_EQ(part(0)->bytes->size, 8u);
    EXPECT_EQ(use(), Counts(0, 2));
    EXPECT_EQ(origins_[0], TENGINE_PART_FROM_MODEL);
    EXPECT_EQ(origins_[1], TENGINE_PART_COMPILED) << "the CPU's";
    EXPECT_EQ(origins_[2], TENGINE_PART_FROM_MODEL);
    EXPECT_EQ(calls.loaded, part(1)->bytes->data) << "not a copy";
    EXPECT_EQ(use(5), Counts(2, 0)) << "another shape";
    EXPECT_EQ(number(), 4);
}

TEST_F(ModelPartTest, NothingIsKeptUnasked)
{
    session_.set("model.keep_parts", "0");
    EXPECT_EQ(use(), Counts(2, 0));
    EXPECT_EQ(number(), 0);
}

// The model's parts are still found without the option.
TEST_F(ModelPartTest, SeveralTargets)
{
    use();
    calls.target = "compiler 2";
    EXPECT_EQ(use(), Counts(2, 0));
    EXPECT_EQ(number(), 4);
    session_.set("model.keep_parts", "0");
    EXPECT_EQ(use(), Counts(0, 2));
    calls.target = "compiler 1";
    EXPECT_EQ(use(), Counts(0, 2));
    calls.target = "compiler 3";
    EXPECT_EQ(use(), Counts(2, 0));
    EXPECT_EQ(number(), 4);
}

TEST_F(ModelPartTest, AlteredBytesAreCompiledAgain)
{
    use();
    for (size_t i = 0; i < part(0)->bytes->size; ++i) {
        alter(session_, i, 1 << i);
        EXPECT_EQ(use(), Counts(1, 1)) << "byte " << i;
        EXPECT_EQ(origins_[0], TENGINE_PART_COMPILED) << "byte " << i;
        EXPECT_EQ(log_.count("has been altered"), static_cast<int>(i) + 1);
        EXPECT_EQ(number(), 2);
        EXPECT_EQ(use(), Counts(0, 2));
    }
}

// As on a board that has only the driver.
TEST_F(ModelPartTest, WithoutACompilerAlteredBytesAreTheCpus)
{
    use();
    alter(session_, 3, 1);
    calls.compile_status = TENGINE_EDEVICE;
    session_.set("model.keep_parts", "0");
    EXPECT_EQ(use(), Counts(1, 1));
    EXPECT_EQ(log_.count("has been altered"), 1);
}

TEST_F(ModelPartTest, WithoutACompilerAlteredBytesFailWhereFallbackIsForbidden)
{
    TestDevice device{"B", {"Relu", "Exp", "Neg"}};
    wrap_entries(device);
    Session session{&device};
    add_three_steps(session);
    session.set("model.keep_parts", "1");
    session.set("split.fail_on_fallback", "1");
    const int size = 4;
    ASSERT_EQ(set_ir_tensor_shape(session.at("x"), &size, 1), TENGINE_OK);
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(session.postrun(), TENGINE_OK);
    calls.compile_status = TENGINE_EDEVICE;
    ASSERT_EQ(session.prerun(), TENGINE_OK) << "it is loaded";
    ASSERT_EQ(session.postrun(), TENGINE_OK);
    alter(session, 3, 1);
    EXPECT_LT(session.prerun(), 0);
    EXPECT_TRUE(says("there is no compiler")) << tengine_error_message();
    EXPECT_EQ(log_.count("has been altered"), 1);
}

TEST_F(ModelPartTest, WhatTheDeviceRefusesIsCompiledAgain)
{
    use();
    calls.load_status = TENGINE_EVERSION;
    EXPECT_EQ(use(), Counts(2, 2));
    EXPECT_EQ(origins_[0], TENGINE_PART_COMPILED);
    EXPECT_EQ(log_.count("told not to load"), 2);
    EXPECT_EQ(number(), 2);
}

// As on a machine that compiles for another: the model's parts are valid there, and are kept.
TEST_F(ModelPartTest, WhatCannotBeLoadedHereIsKeptWithoutAWarning)
{
    use();
    const void* kept = part(0)->bytes->data;
    calls.load_status = TENGINE_ENOTSUP;
    EXPECT_EQ(use(), Counts(2, 2));
    EXPECT_EQ(origins_[0], TENGINE_PART_COMPILED);
    EXPECT_EQ(log_.count("told not to load"), 0);
    EXPECT_EQ(number(), 2);
    EXPECT_EQ(part(0)->bytes->data, kept);
}

// A part that is watched may outlive the model.
TEST_F(ModelPartTest, WatchedPartsHaveBytesOfTheirOwn)
{
    session_.set("prerun.watchdog_ms", "60000");
    use();
    EXPECT_EQ(use(), Counts(0, 2));
    EXPECT_NE(calls.loaded, part(1)->bytes->data);
}

// On a processor for which the device seems slow, its parts would go to the CPU.
TEST_F(ModelPartTest, WhatIsCompiledAheadStaysOnItsDevice)
{
    device_.use_estimate();
    device_.script.estimate_ms = 1000;
    EXPECT_EQ(use(), Counts(0, 0));
    session_.set("split.prune", "0");
    EXPECT_EQ(use(), Counts(2, 0));
    session_.set("split.prune", "1");
    EXPECT_EQ(use(), Counts(0, 2));
    EXPECT_EQ(use(5), Counts(2, 0)) << "also in other shapes";
}

TEST_F(ModelPartTest, TheModelIsAskedBeforeTheFolder)
{
    const TemporaryFolder folder;
    session_.set("cache.dir", folder.path().c_str());
    session_.set("model.keep_parts", "0");
    use();
    EXPECT_EQ(use(), Counts(0, 2));
    EXPECT_EQ(origins_[0], TENGINE_PART_FROM_CACHE);
    session_.set("model.keep_parts", "1");
    EXPECT_EQ(use(), Counts(0, 2));
    EXPECT_EQ(number(), 2) << "what was found in the folder is kept with the model too";
    EXPECT_EQ(use(), Counts(0, 2));
    EXPECT_EQ(origins_[0], TENGINE_PART_FROM_MODEL);
    EXPECT_EQ(folder.list().size(), 2u);
}

// Like a device whose driver is newer than the model's file, on a board without a compiler: parts
// compiled since are in the folder, and stay unchanged.
TEST_F(ModelPartTest, WhatTheDeviceRefusesOfTheModelIsLoadedFromTheFolder)
{
    const TemporaryFolder folder;
    session_.set("cache.dir", folder.path().c_str());
    use();
    session_.set("model.keep_parts", "0");
    const auto find_numbers = [&] {
        std::map<std::filesystem::path, ino_t> numbers;
        for (const auto& file : folder.list()) {
            struct stat info = {};
            EXPECT_EQ(stat(file.c_str(), &info), 0);
            numbers[file] = info.st_ino;
        }
        return numbers;
    };
    const auto before = find_numbers();
    ASSERT_EQ(before.size(), 2u);
    calls.refuses_first = true;
    calls.compile_status = TENGINE_EDEVICE;
    for (const char* timeout : {"0", "60000"}) {
        session_.set("prerun.watchdog_ms", timeout);
        EXPECT_EQ(use(), Counts(0, 4)) << timeout;
        EXPECT_EQ(origins_[0], TENGINE_PART_FROM_CACHE);
        EXPECT_EQ(origins_[2], TENGINE_PART_FROM_CACHE);
        EXPECT_NE(calls.loaded, part(1)->bytes->data);
    }
    EXPECT_EQ(find_numbers(), before) << "not written again";
    EXPECT_EQ(log_.count("told not to load what comes first; the part is looked up in the folder"),
              4);
    EXPECT_EQ(log_.count("compiled again"), 0);
    session_.set("prerun.watchdog_ms", "0");
    session_.set("model.keep_parts", "1");
    const void* refused = part(1)->bytes->data;
    EXPECT_EQ(use(), Counts(0, 4));
    EXPECT_EQ(number(), 2);
    EXPECT_NE(part(1)->bytes->data, refused) << "the model has what the device takes";
}

// The first start compiles and fills the folder, for the next ones.
TEST_F(ModelPartTest, WhatTheDeviceRefusesOfTheModelIsKeptInTheFolder)
{
    use();
    const TemporaryFolder folder;
    session_.set("model.keep_parts", "0");
    session_.set("cache.dir", folder.path().c_str());
    calls.load_status = TENGINE_EVERSION;
    EXPECT_EQ(use(), Counts(2, 2)) << "the folder is empty";
    EXPECT_EQ(folder.list().size(), 2u);
    EXPECT_EQ(use(), Counts(2, 4)) << "the device refuses these, too";
    calls.load_status = 0;
    calls.refuses_first = true;
    EXPECT_EQ(use(), Counts(0, 4));
    EXPECT_EQ(origins_[0], TENGINE_PART_FROM_CACHE);
}

}  // namespace
