// SPDX-License-Identifier: Apache-2.0
// Model files that another program writes to while a graph lives. What decides sizes and positions
// stays what it was when the model was loaded; weights may become wrong numbers. Memory faults show
// under the address sanitizer.
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

#include "serializer/onnx_builder.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace tengine::test {
namespace {

namespace fs = std::filesystem;
using Proto = onnx::TensorProto;

// A model whose constants lie in "data.bin" beside it, each at a multiple of 64.
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

    // The path of the model, which gives `y`.
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

// All bytes of a file, in place.
void overwrite(const fs::path& path, char byte)
{
    const std::string bytes(fs::file_size(path), byte);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
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

// `loaded` and `prepared` are called when the model is.
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
  protected:
    void SetUp() override { ASSERT_EQ(init_tengine(), 0); }
    void TearDown() override { release_tengine(); }

    // The same model as tmfile; `path` becomes its.
    static void convert(fs::path* path)
    {
        const graph_t graph = create_graph(nullptr, "onnx", path->c_str());
        path->replace_extension(".tmfile");
        EXPECT_EQ(save_graph(graph, "tengine", path->c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
    }

    // Runs with the file overwritten after loading and after preparation, as either format.
    // `as_before`: gives what the unchanged file gives.
    static void check(Model& model, bool as_before)
    {
        for (const char* format : {"onnx", "tengine"}) {
            const ScratchFolder folder;
            fs::path path = model.write(folder);
            if (*format == 't') convert(&path);
            const fs::path data = *format == 't' ? path : folder.path / "data.bin";
            const fs::path kept = folder.path / "kept";
            fs::copy_file(data, kept);
            const Outcome expected = run(format, path, nothing, nothing);
            ASSERT_EQ(expected.failure, "") << format;
            for (const char byte : {'\x7f', '\xff', '\x01'}) {
                SCOPED_TRACE(std::string(format) + ", byte " + std::to_string(byte));
                const auto spoil = [&] { overwrite(data, byte); };
                for (const bool early : {true, false}) {
                    const Outcome changed = early ? run(format, path, spoil, nothing)
                                                  : run(format, path, nothing, spoil);
                    if (as_before) {
                        EXPECT_EQ(changed.failure, "");
                        EXPECT_EQ(changed.y, expected.y);
                    }
                    fs::copy_file(kept, data, fs::copy_options::overwrite_existing);
                }
            }
        }
    }
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

// Their values may change: what is chosen by them stays within bounds.
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

// Writes one pattern after the other to a file until it is destroyed.
class Writer
{
  public:
    Writer(fs::path path, std::vector<std::string> patterns)
        : thread_([this, path = std::move(path), patterns = std::move(patterns)] {
              for (size_t i = 0; !stop_; ++i)
                  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
                      << patterns[i % patterns.size()];
          })
    {
    }
    ~Writer()
    {
        stop_ = true;
        thread_.join();
    }

  private:
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
            EXPECT_EQ(run("onnx", path, nothing, nothing).failure, "");
    }
}

// The option for those who cannot keep others from their files: they may even be cut short, which
// would end the process.
TEST_F(ChangedFileTest, AnOptionReadsFilesInsteadOfMappingThem)
{
    for (const char* format : {"onnx", "tengine"}) {
        SCOPED_TRACE(format);
        const ScratchFolder folder;
        Model model;
        model.floats("w", {64, 1, 1, 1}, std::vector<float>(64, 2)).node("Mul", {"x", "w"});
        fs::path path = model.write(folder);
        if (*format == 't') convert(&path);
        const Outcome expected = run(format, path, nothing, nothing);
        ASSERT_EQ(expected.failure, "");
        const context_t context = create_context("reads", 1);
        ASSERT_EQ(tengine_context_set_option(context, "model.map", "0"), 0);
        const Outcome cut = run(
            format, path,
            [&] { fs::resize_file(path, 0), fs::resize_file(folder.path / "data.bin", 0); },
            nothing, context);
        EXPECT_EQ(cut.failure, "");
        EXPECT_EQ(cut.y, expected.y);
        destroy_context(context);
    }
}

}  // namespace
}  // namespace tengine::test
