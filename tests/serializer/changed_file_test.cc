// SPDX-License-Identifier: Apache-2.0
// Model files that another program writes to while a graph exists. Small ones are copies, which
// never change. In mapped ones the values that decide sizes and positions keep their values from
// loading; weights may become wrong numbers, and a change is an error. The address sanitizer
// detects memory faults.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>

#include "serializer/onnx_builder.h"
#include "support/fault_address.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace tengine::test {
namespace {

namespace fs = std::filesystem;
using Proto = onnx::TensorProto;

// A model with its constants in "data.bin" in the same folder, each at a multiple of 64.
class Model
{
  public:
    Model()
    {
        builder_.model.mutable_opset_import(0)->set_version(16);  // GridSample
        builder_.add_input("x", {1, 1, 4, 4});
    }

    template <class T>
    Model& constant(const char* name, int type, const Dims& dims, const std::vector<T>& values)
    {
        auto* made = builder_.graph().add_initializer();
        made->set_name(name);
        made->set_data_type(type);
        for (const int64_t dim : dims)
            made->add_dims(dim);
        made->set_data_location(Proto::EXTERNAL);
        for (const auto& [key, value] : {std::pair{"location", std::string("data.bin")},
                                         {"offset", std::to_string(data_.size())},
                                         {"length", std::to_string(values.size() * sizeof(T))}}) {
            auto* entry = made->add_external_data();
            entry->set_key(key);
            entry->set_value(value);
        }
        data_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
        data_.resize((data_.size() + 63) / 64 * 64);
        return *this;
    }
    Model& ints(const char* name, const std::vector<int64_t>& values)
    {
        return constant(name, Proto::INT64, {static_cast<int64_t>(values.size())}, values);
    }
    Model& number(const char* name, float value)
    {
        return constant(name, Proto::FLOAT, {}, std::vector<float>{value});
    }
    Model& floats(const char* name, const Dims& dims, const std::vector<float>& values)
    {
        return constant(name, Proto::FLOAT, dims, values);
    }
    onnx::NodeProto* node(const char* type, Names inputs, Names outputs = {"y"})
    {
        return builder_.add_node(type, inputs, outputs);
    }

    // Writes the model, which computes `y`, and returns its path.
    fs::path write(const ScratchFolder& folder)
    {
        builder_.graph().clear_output();
        builder_.add_output("y");
        folder.write("data.bin", data_);
        return folder.write("model.onnx", builder_.encode());
    }

  private:
    OnnxBuilder builder_;
    std::string data_;
};

// Overwrites all bytes of a file in place, without a change of its time.
void overwrite(const fs::path& path, char byte)
{
    const auto time = fs::last_write_time(path);
    const std::string bytes(fs::file_size(path), byte);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
    fs::last_write_time(path, time);
}

struct Outcome
{
    std::string failure;  // empty: there was none
    std::vector<char> y;
};

bool feed(graph_t graph)
{
    const tensor_t x = get_graph_input_tensor(graph, 0, 0);
    std::vector<float> values(16);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i) + 1;
    const int bytes = static_cast<int>(values.size() * sizeof(float));
    return x && set_tensor_data(x, values.data(), bytes) == 0;
}

// Calls `loaded` and `prepared` when the model is loaded, and prepared.
Outcome run(const char* format, const fs::path& path, const std::function<void()>& loaded,
            const std::function<void()>& prepared, context_t context = nullptr)
{
    Outcome result;
    const graph_t graph = create_graph(context, format, path.c_str());
    if (graph) loaded();
    bool good = graph && feed(graph) && prerun_graph(graph) == 0;
    if (good) prepared();
    good = good && run_graph(graph, 1) == 0;
    if (good) {
        const tensor_t y = tengine_graph_get_output(graph, 0);
        result.y.resize(static_cast<size_t>(get_tensor_buffer_size(y)));
        good = get_tensor_data(y, result.y.data(), static_cast<int>(result.y.size())) == 0;
    }
    if (!good) result.failure = get_tengine_error();
    if (graph) destroy_graph(graph);
    return result;
}

void nothing() {}

class ChangedFileTest : public testing::Test
{
  public:
    // Converts the model to a tmfile, whose path replaces `path`.
    static void convert(fs::path* path)
    {
        const graph_t graph = create_graph(nullptr, "onnx", path->c_str());
        path->replace_extension(".tmfile");
        EXPECT_EQ(save_graph(graph, "tengine", path->c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
    }

  protected:
    void SetUp() override
    {
        ASSERT_EQ(init_tengine(), 0);
        mapped_ = create_context("maps", 1);
        ASSERT_EQ(tengine_context_set_option(mapped_, "model.map", "1"), 0);
    }
    void TearDown() override
    {
        destroy_context(mapped_);
        release_tengine();
    }

    // Runs with the file overwritten after loading and after preparation, in either format.
    // `as_before`: expects the results of the unchanged file.
    void check(Model& model, bool as_before)
    {
        for (const context_t context : {context_t{nullptr}, mapped_})
            check_in(context, model, as_before || !context);
    }

    static void check_in(context_t context, Model& model, bool as_before)
    {
        for (const char* format : {"onnx", "tengine"}) {
            const ScratchFolder folder;
            fs::path path = model.write(folder);
            if (*format == 't') convert(&path);
            const fs::path data = *format == 't' ? path : folder.path / "data.bin";
            const fs::path kept = folder.path / "kept";
            fs::copy_file(data, kept);
            const Outcome expected = run(format, path, nothing, nothing, context);
            ASSERT_EQ(expected.failure, "") << format;
            for (const char byte : {'\x7f', '\xff', '\x01'}) {
                SCOPED_TRACE(std::string(format) + ", byte " + std::to_string(byte));
                const auto spoil = [&] { overwrite(data, byte); };
                for (const bool early : {true, false}) {
                    const Outcome changed = early ? run(format, path, spoil, nothing, context)
                                                  : run(format, path, nothing, spoil, context);
                    if (as_before) {
                        EXPECT_EQ(changed.failure, "");
                        EXPECT_EQ(changed.y, expected.y);
                    }
                    fs::copy_file(kept, data, fs::copy_options::overwrite_existing);
                }
            }
        }
    }

    context_t mapped_ = nullptr;
};

TEST_F(ChangedFileTest, SizesStayWhatTheyWere)
{
    const std::vector<std::function<void(Model&)>> models = {
        [](Model& m) {
            m.ints("pads", {0, 0, 1, 2, 0, 0, 3, 4}).node("Pad", {"x", "pads"});
        },
        [](Model& m) {
            m.ints("starts", {1, 0}).ints("ends", {3, 4}).ints("axes", {2, 3});
            m.ints("steps", {1, 2}).node("Slice", {"x", "starts", "ends", "axes", "steps"});
        },
        [](Model& m) {
            m.ints("repeats", {1, 2, 3, 1}).node("Tile", {"x", "repeats"});
        },
        [](Model& m) {
            m.ints("shape", {2, 3, 4, 4}).node("Expand", {"x", "shape"});
        },
        [](Model& m) {
            m.ints("shape", {2, 8}).node("Reshape", {"x", "shape"});
        },
        [](Model& m) {
            m.ints("k", {3}).node("TopK", {"x", "k"}, {"y", "i"});
        },
        [](Model& m) {
            m.ints("sizes", {1, 1, 7, 5}).node("Resize", {"x", "", "", "sizes"});
        },
        [](Model& m) {
            m.floats("scales", {4}, {1, 1, 2, 0.5f}).node("Resize", {"x", "", "scales"});
        },
        [](Model& m) {
            add_int(m.ints("parts", {1, 3}).node("Split", {"x", "parts"}, {"y", "z"}), "axis", 2);
        },
    };
    for (size_t i = 0; i < models.size(); ++i) {
        SCOPED_TRACE("model " + std::to_string(i));
        Model model;
        models[i](model);
        check(model, true);
    }
}

TEST_F(ChangedFileTest, PositionsStayWhatTheyWere)
{
    std::vector<int64_t> rows(100);
    for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = static_cast<int64_t>(i % 4);
    Model gather;
    gather.ints("rows", rows);
    add_int(gather.node("Gather", {"x", "rows"}), "axis", 2);
    check(gather, true);

    Model scatter;
    scatter.constant("at", Proto::INT64, {1, 1, 4, 4},
                     std::vector<int64_t>(rows.data(), &rows[16]));
    scatter.floats("new", {1, 1, 4, 4}, std::vector<float>(16, 5));
    add_int(scatter.node("ScatterElements", {"x", "at", "new"}), "axis", 2);
    check(scatter, true);

    Model compress;
    compress.constant("kept", Proto::BOOL, {4}, std::vector<char>{1, 0, 1, 1});
    add_int(compress.node("Compress", {"x", "kept"}), "axis", 3);
    check(compress, true);
}

// Their values may change: decisions that depend on them stay within bounds.
TEST_F(ChangedFileTest, ChoicesByValue)
{
    std::vector<float> regions;
    for (int i = 0; i < 8; ++i)
        regions.insert(regions.end(), {0, 0, 0, 3, 3});
    Model pool;
    pool.floats("regions", {8, 5}, regions);
    add_ints(pool.node("MaxRoiPool", {"x", "regions"}), "pooled_shape", {2, 2});
    check(pool, false);

    std::vector<float> places(2 * 40, 0.25f);
    Model grid;
    grid.floats("grid", {1, 4, 10, 2}, places).node("GridSample", {"x", "grid"});
    check(grid, false);

    Model add;
    add.floats("w", {32, 1, 1, 1}, std::vector<float>(32, 1)).node("Add", {"x", "w"});
    check(add, false);
}

// Writes one pattern after the other to a file for its lifetime, through a mapping, which gives the
// file a new time once.
class Writer
{
  public:
    Writer(const fs::path& path, std::vector<std::string> patterns) : size_(patterns[0].size())
    {
        const int file = ::open(path.c_str(), O_RDWR);
        bytes_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        EXPECT_NE(bytes_, MAP_FAILED);
        std::memcpy(bytes_, patterns[0].data(), size_);
        thread_ = std::thread([this, patterns = std::move(patterns)] {
            for (size_t i = 0; !stop_; ++i)
                std::memcpy(bytes_, patterns[i % patterns.size()].data(), size_);
        });
    }
    ~Writer()
    {
        stop_ = true;
        thread_.join();
        munmap(bytes_, size_);
    }

  private:
    const size_t size_;
    void* bytes_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

std::string as_bytes(const std::vector<float>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST_F(ChangedFileTest, ValuesThatChangeWhileTheyAreLookedAt)
{
    constexpr int kNumber = 1 << 14;
    std::vector<float> rising(kNumber), falling(kNumber), few(kNumber, 0);
    for (size_t i = 0; i < rising.size(); ++i) {
        rising[i] = static_cast<float>(i + 1);
        falling[i] = -rising[i];
    }
    few[0] = 1;
    for (const char* op : {"NonZero", "Unique", "TopK"}) {
        SCOPED_TRACE(op);
        Model model;
        model.floats("values", {kNumber}, few).ints("k", {kNumber / 2});
        if (std::strcmp(op, "TopK") == 0)
            model.node(op, {"values", "k"}, {"best", "y"});
        else
            model.node(op, {"values"});
        const ScratchFolder folder;
        const fs::path path = model.write(folder);
        const Writer writer(folder.path / "data.bin",
                            {as_bytes(rising), as_bytes(few), as_bytes(falling)});
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ(run("onnx", path, nothing, nothing, mapped_).failure, "");
    }
}

// Writes a model of either format with weights that a kernel reads in place.
fs::path write_weights(const ScratchFolder& folder, const char* format, size_t bytes)
{
    const auto number = static_cast<int64_t>(bytes / sizeof(float) / 16);
    Model model;
    model.floats("w", {number, 1, 4, 4}, std::vector<float>(static_cast<size_t>(16 * number), 2));
    model.node("Mul", {"x", "w"});
    fs::path path = model.write(folder);
    if (*format == 't') ChangedFileTest::convert(&path);
    return path;
}

fs::path data_of(const fs::path& model)
{
    return model.extension() == ".tmfile" ? model : model.parent_path() / "data.bin";
}

// The ways in which programs replace a file without a rename.
struct Replacement
{
    const char* name;
    void (*act)(const fs::path& from, const fs::path& to);
};

void copy_over(const fs::path& from, const fs::path& to)
{
    std::ifstream source(from, std::ios::binary);
    std::ofstream(to, std::ios::binary | std::ios::trunc) << source.rdbuf();
}

void cut(const fs::path&, const fs::path& to)
{
    fs::resize_file(to, 0);
}

// Writes blocks in place, then the length.
void write_inside(const fs::path& from, const fs::path& to)
{
    std::ifstream source(from, std::ios::binary);
    std::fstream(to, std::ios::in | std::ios::out | std::ios::binary) << source.rdbuf();
    fs::resize_file(to, fs::file_size(from));
}

constexpr Replacement kReplacements[] = {
    {"cp", copy_over}, {"truncation", cut}, {"rsync --inplace", write_inside}};

// Files of 64 KiB are copied, those of 20 MiB mapped. The graph of a copy still has its numbers; of
// a mapping it has an error, and the process survives.
TEST_F(ChangedFileTest, AReplacementInPlaceNeverEndsTheProcess)
{
    if (!faults_have_addresses()) GTEST_SKIP() << "the emulator gives the address of a fault wrong";
    constexpr size_t kLarge = size_t{20} << 20;
    for (const char* format : {"onnx", "tengine"}) {
        for (const size_t size : {size_t{64} << 10, kLarge}) {
            const ScratchFolder folder;
            const fs::path path = write_weights(folder, format, size), data = data_of(path);
            const fs::path kept = folder.path / "kept", other = folder.path / "other";
            fs::copy_file(data, kept);
            folder.write("other", std::string(size / 2, 'x'));
            const Outcome expected = run(format, path, nothing, nothing);
            ASSERT_EQ(expected.failure, "");
            for (const Replacement& replacement : kReplacements) {
                SCOPED_TRACE(std::string(format) + " of " + std::to_string(size) + ", " +
                             replacement.name);
                const auto act = [&] { replacement.act(other, data); };
                for (const bool early : {true, false}) {
                    const Outcome changed =
                        early ? run(format, path, act, nothing) : run(format, path, nothing, act);
                    if (size == kLarge) {
                        EXPECT_NE(changed.failure.find("was changed in place"), std::string::npos)
                            << changed.failure;
                    } else {
                        EXPECT_EQ(changed.failure, "");
                        EXPECT_EQ(changed.y, expected.y);
                    }
                    fs::copy_file(kept, data, fs::copy_options::overwrite_existing);
                }
            }
        }
    }
}

// The thread of a pool, which reads the other half of the weights, may access a missing page, too.
TEST_F(ChangedFileTest, AnyThreadMayMissAPage)
{
    if (!faults_have_addresses()) GTEST_SKIP() << "the emulator gives the address of a fault wrong";
    const ScratchFolder folder;
    const fs::path path = write_weights(folder, "tengine", size_t{20} << 20);
    const graph_t graph = create_graph(nullptr, "tengine", path.c_str());
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    ASSERT_TRUE(feed(graph));
    const options_t options = {4, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
    ASSERT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
    fs::resize_file(path, 0);
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EIO);
    EXPECT_EQ(run_graph(graph, 1), -1) << "it stays so";
    EXPECT_EQ(save_graph(graph, "onnx", (folder.path / "saved").c_str()), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EIO);
    destroy_graph(graph);
}

TEST_F(ChangedFileTest, ARenameOrRemovalIsNoChange)
{
    const ScratchFolder folder;
    const fs::path path = write_weights(folder, "tengine", size_t{20} << 20);
    const Outcome expected = run("tengine", path, nothing, nothing);
    const fs::path other = folder.write("other", "other");
    const Outcome renamed = run(
        "tengine", path, [&] { fs::rename(other, path); }, nothing);
    EXPECT_EQ(renamed.failure, "");
    EXPECT_EQ(renamed.y, expected.y);
    const ScratchFolder second;
    const fs::path removed = write_weights(second, "tengine", size_t{20} << 20);
    EXPECT_EQ(run(
                  "tengine", removed, [&] { fs::remove(removed); }, nothing)
                  .y,
              expected.y);
}

// A complete file replaces it, so that the mapped one stays.
TEST_F(ChangedFileTest, AGraphMayBeSavedToItsOwnFile)
{
    for (const char* format : {"onnx", "tengine"}) {
        SCOPED_TRACE(format);
        const ScratchFolder folder;
        const fs::path path = write_weights(folder, format, size_t{20} << 20);
        const graph_t graph = create_graph(nullptr, format, path.c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        const Outcome expected = run(format, path, nothing, nothing);
        for (int time = 0; time < 2; ++time)
            EXPECT_EQ(save_graph(graph, format, path.c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
        const Outcome changed = run(
            format, path,
            [&] {
                const graph_t other = create_graph(nullptr, format, path.c_str());
                EXPECT_EQ(save_graph(other, format, path.c_str()), 0) << get_tengine_error();
                destroy_graph(other);
            },
            nothing);
        EXPECT_EQ(changed.failure, "");
        EXPECT_EQ(changed.y, expected.y);
    }
}

// The files of one model are copied up to a common limit.
TEST_F(ChangedFileTest, ManySmallFilesAreNotAllCopied)
{
    const ScratchFolder folder;
    OnnxBuilder builder;
    builder.add_input("x", {1});
    constexpr int kFiles = 6, kElements = 1 << 20;
    for (int i = 0; i < kFiles; ++i) {
        const std::string name = "w" + std::to_string(i);
        folder.write(name, std::string(kElements * sizeof(float), '\1'));
        auto* made = builder.graph().add_initializer();
        made->set_name(name);
        made->set_data_type(Proto::FLOAT);
        made->add_dims(kElements);
        made->set_data_location(Proto::EXTERNAL);
        auto* entry = made->add_external_data();
        entry->set_key("location");
        entry->set_value(name);
        builder.add_output(name);
    }
    const fs::path path = folder.write("model.onnx", builder.encode());
    const graph_t graph = create_graph(nullptr, "onnx", path.c_str());
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    tengine_graph_memory memory;
    ASSERT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0);
    EXPECT_EQ(memory.owned_bytes, int64_t{3} * kElements * 4) << "the model has some bytes, too";
    EXPECT_EQ(memory.mapped_bytes, int64_t{3} * kElements * 4);
    destroy_graph(graph);
}

// The option for programs whose large files other programs may write.
TEST_F(ChangedFileTest, AnOptionReadsFilesInsteadOfMappingThem)
{
    for (const char* format : {"onnx", "tengine"}) {
        SCOPED_TRACE(format);
        const ScratchFolder folder;
        const fs::path path = write_weights(folder, format, size_t{20} << 20);
        const Outcome expected = run(format, path, nothing, nothing);
        ASSERT_EQ(expected.failure, "");
        const context_t context = create_context("reads", 1);
        ASSERT_EQ(tengine_context_set_option(context, "model.map", "0"), 0);
        const Outcome cut = run(
            format, path, [&] { fs::resize_file(path, 0), fs::resize_file(data_of(path), 0); },
            nothing, context);
        EXPECT_EQ(cut.failure, "");
        EXPECT_EQ(cut.y, expected.y);
        destroy_context(context);
    }
}

}  // namespace
}  // namespace tengine::test
