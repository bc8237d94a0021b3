// SPDX-License-Identifier: Apache-2.0
// The bytes that devices load from a compiled tmfile are in the mapped file, and processes share
// them.
#include <unistd.h>

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>

#include "graph/context.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "graph/option.h"
#include "scheduler/scheduler.h"
#include "scheduler/temporary_folder.h"
#include "serializer/synthetic_graph.h"
#include "serializer/tmfile_model.h"
#include "support/test_device.h"

namespace tengine::test {
namespace {

constexpr size_t kPages = 16, kPageBytes = 4096;

// The state for entries of a TestDevice, which do not get their test as an argument.
struct Calls
{
    const char* loaded = nullptr;
    size_t size = 0;
    unsigned sum = 0;  // of one byte a page, so that all pages are present
    int (*pre_run)(device*, subgraph*, void*) = nullptr;
} calls;

int save(device*, subgraph*, ir_sink* sink)
{
    const std::string bytes(kPages * kPageBytes, 'x');
    return write_ir_sink(sink, bytes.data(), bytes.size());
}

int load(device* device, subgraph* part, const void* data, size_t size)
{
    calls.loaded = static_cast<const char*>(data);
    calls.size = size;
    for (size_t i = 0; i < size; i += kPageBytes)
        calls.sum += static_cast<unsigned char>(calls.loaded[i]);
    return calls.pre_run(device, part, nullptr);
}

// The kernel's entry for the memory around an address: the file, and kilobytes by kind.
struct Mapping
{
    std::string file;
    std::map<std::string, size_t> kilobytes;
};

bool read_range(const std::string& line, uintptr_t address)
{
    uintptr_t begin = 0, end = 0;
    return std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 &&
           begin <= address && address < end;
}

// Returns an empty entry if the kernel has none.
Mapping find_mapping(const void* address)
{
    Mapping found;
    std::ifstream lines("/proc/self/smaps");
    std::string line;
    while (std::getline(lines, line) && !read_range(line, reinterpret_cast<uintptr_t>(address)))
        continue;
    if (const size_t path = line.find('/'); path != std::string::npos)
        found.file = line.substr(path);
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string key;
        size_t number = 0;
        if (!(words >> key >> number)) break;
        found.kilobytes[key] = number;
    }
    return found;
}

class TmfileMappingTest : public TmfileTest
{
  protected:
    TmfileMappingTest() : context_(create_ir_context("mapped"), destroy_ir_context)
    {
        calls = {};
        struct interface& table = *device_.get()->interface;
        calls.pre_run = table.pre_run;
        table.save = save;
        table.load = load;
        EXPECT_EQ(add_ir_context_device(context_.get(), device_.get(), nullptr, 0), 0);
        set("model.keep_parts", "1");
        set("model.map", "1");
        write_file(path("plain"), make_model());
        const LoadedTmfile plain{path("plain")};
        prepare(plain);
        EXPECT_EQ(count_ir_model_parts(plain.graph), 1);
        write_file(path("compiled"), write_graph(plain.graph));
        end(plain);
    }

    static std::string make_model()
    {
        SyntheticGraph made;
        const struct node* input = made.add_input();
        const struct node* last =
            made.add("y", get_op_type("tengine", "ReLU"), {get_ir_node_output(input, 0)});
        made.set_borders(input, last);
        return write_graph(made.graph);
    }

    static void write_file(const std::filesystem::path& file, const std::string& bytes)
    {
        std::ofstream(file, std::ios::binary) << bytes;
    }

    void set(const char* key, const char* value)
    {
        EXPECT_EQ(set_ir_context_option(context_.get(), key, value), 0) << tengine_error_message();
    }

    void prepare(const LoadedTmfile& loaded)
    {
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        loaded.graph->attribute->context = context_.get();
        const ir_run_options_t options = {1, 0, 0, 0, 0, 0, 0};
        ASSERT_EQ(prerun_ir_graph(loaded.graph, &options), 0) << tengine_error_message();
    }

    static void end(const LoadedTmfile& loaded)
    {
        EXPECT_EQ(postrun_ir_graph(loaded.graph), 0);
        loaded.graph->attribute->context = nullptr;
    }

    std::filesystem::path path(const std::string& name) const
    {
        return folder_.path() + "/" + name;
    }

    // Another process, which is killed at any point.
    class OtherProcess
    {
      public:
        template <class Work>
        explicit OtherProcess(const Work& work)
        {
            int ends[2];
            EXPECT_EQ(pipe(ends), 0);
            child_ = fork();
            if (child_ == 0) {
                work([&] {
                    if (write(ends[1], "", 1) == 1) pause();
                });
                _exit(1);
            }
            close(ends[1]);
            char ready = 1;
            EXPECT_EQ(::read(ends[0], &ready, 1), 1);
            close(ends[0]);
        }
        ~OtherProcess()
        {
            kill(child_, SIGKILL);
            waitpid(child_, nullptr, 0);
        }
        OtherProcess(const OtherProcess&) = delete;
        OtherProcess& operator=(const OtherProcess&) = delete;

      private:
        pid_t child_;
    };

    const TemporaryFolder folder_;
    TestDevice device_{"MAPPER", {"Relu"}};
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
};

TEST_F(TmfileMappingTest, ProcessesShareWhatDevicesLoad)
{
    const LoadedTmfile loaded{path("compiled"), context_.get()};
    ASSERT_EQ(count_ir_model_parts(loaded.graph), 1);
    const OtherProcess other([&](const auto& stay) {
        const LoadedTmfile theirs{path("compiled"), context_.get()};
        prepare(theirs);
        stay();
    });
    prepare(loaded);
    ASSERT_EQ(calls.size, kPages * kPageBytes);
    EXPECT_EQ(calls.loaded, get_ir_model_part(loaded.graph, 0)->bytes->data);
    Mapping mapping = find_mapping(calls.loaded);
    end(loaded);
    if (mapping.kilobytes.empty()) GTEST_SKIP() << "/proc/self/smaps says nothing here";
    EXPECT_EQ(mapping.file, std::filesystem::canonical(path("compiled")));
    // Whether the kernel counts pages of the file as dirty depends on the file system.
    const size_t shared = mapping.kilobytes["Shared_Clean:"] + mapping.kilobytes["Shared_Dirty:"];
    EXPECT_GE(shared * 1024, calls.size);
    ASSERT_EQ(mapping.kilobytes.count("Anonymous:"), 1u);
    EXPECT_EQ(mapping.kilobytes["Anonymous:"], 0u) << "pages of this process alone";
}

// A part that may be abandoned must not use memory that ends with the model.
TEST_F(TmfileMappingTest, WatchedPartsHaveACopy)
{
    const LoadedTmfile loaded{path("compiled"), context_.get()};
    set("prerun.watchdog_ms", "60000");
    prepare(loaded);
    ASSERT_EQ(calls.size, kPages * kPageBytes);
    EXPECT_EQ(calls.sum, kPages * 'x');
    Mapping mapping = find_mapping(calls.loaded);
    end(loaded);
    if (mapping.kilobytes.empty()) GTEST_SKIP() << "/proc/self/smaps says nothing here";
    EXPECT_EQ(mapping.file, "");
}

}  // namespace
}  // namespace tengine::test
