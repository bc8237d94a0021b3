// SPDX-License-Identifier: Apache-2.0
// Compiled parts that outlive the graph: found by the next one; if anything is wrong with them, the
// device compiles.
#include <fstream>
#include <gtest/gtest.h>

#include "scheduler/fixture.h"
#include "scheduler/temporary_folder.h"

namespace {

using namespace tengine::test;

// The state for entries of a TestDevice, which do not get their test as an argument.
struct Calls
{
    int saves = 0, loads = 0, compilations = 0;
    int save_status = 0, load_status = 0;
    std::map<void*, const char*> loaded;  // the bytes of a loaded part
    std::string released;                 // the bytes of the part that was released last
    bool found_device_graph = false;
    int (*pre_run)(device*, subgraph*, void*) = nullptr;
    int (*release_graph)(device*, void*) = nullptr;
} calls;

std::string describe(const subgraph* part)
{
    return std::to_string(part->node_num) + " nodes";
}

int pre_run(device* device, subgraph* part, void* options)
{
    ++calls.compilations;
    return calls.pre_run(device, part, options);
}

int save(device*, subgraph* part, ir_sink* sink)
{
    ++calls.saves;
    if (calls.save_status != 0) return tengine_error_set(calls.save_status, "told not to save");
    const std::string text = describe(part);
    const int status = write_ir_sink(sink, text.data(), 2);
    return status < 0 ? status : write_ir_sink(sink, text.data() + 2, text.size() - 2);
}

int load(device* device, subgraph* part, const void* data, size_t size)
{
    ++calls.loads;
    calls.found_device_graph |= part->device_graph != nullptr;
    if (calls.load_status != 0) return tengine_error_set(calls.load_status, "told not to load");
    const auto* bytes = static_cast<const char*>(data);
    EXPECT_EQ(std::string(bytes, size), describe(part));
    const int status = calls.pre_run(device, part, nullptr);
    calls.loaded[part->device_graph] = bytes;
    return status;
}

int release_graph(device* device, void* device_graph)
{
    const auto loaded = calls.loaded.find(device_graph);
    if (loaded != calls.loaded.end()) calls.released = std::string(loaded->second, 7);
    calls.loaded.erase(device_graph);
    return calls.release_graph(device, device_graph);
}

class StoredPartTest : public testing::Test
{
  protected:
    StoredPartTest()
    {
        struct interface& table = *device_.get()->interface;
        calls = {};
        calls.pre_run = table.pre_run;
        calls.release_graph = table.release_graph;
        table.pre_run = pre_run;
        table.release_graph = release_graph;
        table.save = save;
        table.load = load;
    }

    // Makes, prepares, runs and drops a graph.
    void use(const std::vector<std::pair<const char*, const char*>>& options = {}, int size = 4)
    {
        Session session{&device_};
        add_three_steps(session);
        session.set("cache.dir", folder_.path().c_str());
        for (const auto& [key, value] : options)
            session.set(key, value);
        prepare_and_run(session, size);
        EXPECT_EQ(session.postrun(), TENGINE_OK);
    }

    static void prepare_and_run(Session& session, int size)
    {
        ASSERT_EQ(set_ir_tensor_shape(session.at("x"), &size, 1), TENGINE_OK);
        ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
        session.feed("x", Floats(static_cast<size_t>(size), 0.5f));
        ASSERT_EQ(session.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_FLOAT_EQ(session.read("y")[0], three_steps_of(0.5f));
    }

    // Compilations and loads since the last call.
    std::pair<int, int> count()
    {
        const std::pair<int, int> counted = {calls.compilations, calls.loads};
        calls.compilations = calls.loads = 0;
        return counted;
    }

    using Counts = std::pair<int, int>;

    const LogCapture log_;
    const TemporaryFolder folder_;
    TestDevice device_{"A", {"Relu", "Neg"}};
};

TEST_F(StoredPartTest, TheNextGraphLoadsWhatOneHasCompiled)
{
    use();
    EXPECT_EQ(count(), Counts(2, 0));
    EXPECT_EQ(folder_.list().size(), 2u);
    use();
    EXPECT_EQ(count(), Counts(0, 2));
    use({}, 5);
    EXPECT_EQ(count(), Counts(2, 0)) << "another shape";
    use({{"split.report", "none"}});
    EXPECT_EQ(count(), Counts(0, 2)) << "an option that devices do not see";
    EXPECT_EQ(folder_.list().size(), 4u);
}

TEST_F(StoredPartTest, TheBytesStayUntilTheDeviceLetsGo)
{
    use();
    use();
    EXPECT_EQ(calls.released, "1 nodes");
}

// Nothing is compiled for the earlier shape. A loaded part is not passed to the next compilation.
TEST_F(StoredPartTest, NewShapesOfALoadedGraph)
{
    use();
    use({}, 5);
    count();
    Session session{&device_};
    add_three_steps(session);
    session.set("cache.dir", folder_.path().c_str());
    session.set("run.shape_cache", "0");
    for (const int size : {4, 5, 4}) {
        prepare_and_run(session, size);
        EXPECT_EQ(count(), Counts(0, 2));
    }
    prepare_and_run(session, 6);
    EXPECT_EQ(count(), Counts(2, 0));
    prepare_and_run(session, 4);
    EXPECT_EQ(count(), Counts(0, 2));
    EXPECT_FALSE(calls.found_device_graph);
    EXPECT_EQ(session.postrun(), TENGINE_OK);
}

TEST_F(StoredPartTest, ADeviceThatCannotLoadCompiles)
{
    use();
    count();
    calls.load_status = TENGINE_EVERSION;
    use();
    EXPECT_EQ(count(), Counts(2, 2));
    EXPECT_EQ(log_.count("told not to load"), 2);
    EXPECT_EQ(calls.saves, 4) << "what it can load is kept instead";
}

TEST_F(StoredPartTest, ADeviceThatCannotSaveIsUsed)
{
    calls.save_status = TENGINE_ENOMEM;
    use();
    EXPECT_EQ(count(), Counts(2, 0));
    EXPECT_EQ(log_.count("told not to save"), 2);
    EXPECT_TRUE(folder_.list().empty());
}

TEST_F(StoredPartTest, AlteredPartsAreCompiledAgain)
{
    use();
    count();
    for (const auto& path : folder_.list()) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4097);
        file.put('x');
    }
    use();
    EXPECT_EQ(count(), Counts(2, 0));
    EXPECT_EQ(log_.count("has been altered"), 2);
    use();
    EXPECT_EQ(count(), Counts(0, 2));
}

TEST_F(StoredPartTest, WithoutAFolderNothingIsKept)
{
    use({{"cache.dir", ""}});
    EXPECT_EQ(calls.saves, 0);
    device_.get()->interface->load = nullptr;
    use();
    EXPECT_EQ(calls.saves, 0) << "the device could not load it";
    EXPECT_TRUE(folder_.list().empty());
}

TEST_F(StoredPartTest, TheEnvironmentNamesAFolder)
{
    ASSERT_EQ(setenv("TENGINE_CACHE_DIR", folder_.path().c_str(), 1), 0);
    use({{"cache.dir", ""}});
    ASSERT_EQ(unsetenv("TENGINE_CACHE_DIR"), 0);
    EXPECT_EQ(folder_.list().size(), 2u);
}

TEST_F(StoredPartTest, AFolderThatCannotBeWrittenIsOneWarningAPart)
{
    use({{"cache.dir", "/dev/null/cache"}});
    EXPECT_EQ(count(), Counts(2, 0));
    EXPECT_EQ(log_.count("is not kept"), 2);
}

TEST_F(StoredPartTest, PartsBeyondTheLimitAreNotKept)
{
    use({{"cache.limit_mb", "0.001"}});
    EXPECT_EQ(log_.count("expected at most 1048"), 2);
    EXPECT_TRUE(folder_.list().empty());
}

TEST_F(StoredPartTest, WatchedPartsAreLoadedAndKept)
{
    use({{"prerun.watchdog_ms", "60000"}});
    EXPECT_EQ(count(), Counts(2, 0));
    use({{"prerun.watchdog_ms", "60000"}});
    EXPECT_EQ(count(), Counts(0, 2));
    use();
    EXPECT_EQ(count(), Counts(0, 2));
}

}  // namespace
