// SPDX-License-Identifier: Apache-2.0
// Writes a folder for each stamp, with the data of the original. The contract is in stamps.h.
#include "conformance/stamps.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <onnx/onnx.pb.h>
#include <set>

#include "conformance/summary.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::conformance {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestStamp = 7;

struct History
{
    int newest = 0;
    std::map<std::string, std::set<int>> changes;  // opsets that change its meaning, by operator

    explicit History(const std::string& path)
    {
        const nlohmann::json file = nlohmann::json::parse(tools::read_file(path));
        newest = file.at("newest_opset").get<int>();
        for (const auto& [op, entries] : file.at("operators").items())
            for (const auto& entry : entries)
                if (entry.at("change") != "types") changes[op].insert(entry.at("opset").get<int>());
    }

    // Whether the operator has the same meaning in both opsets.
    bool is_same(const std::string& op, int one, int other) const
    {
        const auto known = changes.find(op);
        if (known == changes.end()) return true;  // of another domain
        const auto changed = known->second.upper_bound(std::min(one, other));
        return changed == known->second.end() || *changed > std::max(one, other);
    }
};

class TemporaryFolder
{
  public:
    TemporaryFolder()
        : path(fs::temp_directory_path() / ("tengine_stamps_" + std::to_string(getpid())))
    {
        fs::create_directories(path);
    }
    ~TemporaryFolder() { fs::remove_all(path); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const fs::path path;
};

// Returns the import of ONNX's own domain; null if there is none.
::onnx::OperatorSetIdProto* find_import(::onnx::ModelProto& model)
{
    for (auto& import : *model.mutable_opset_import())
        if (import.domain().empty() || import.domain() == "ai.onnx") return &import;
    return nullptr;
}

void write_test(const ::onnx::ModelProto& model, const fs::path& origin, const fs::path& folder)
{
    fs::create_directories(folder);
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::absolute(origin)))
        if (entry.is_directory())
            fs::create_directory_symlink(entry.path(), folder / entry.path().filename());
    std::ofstream file(folder / "model.onnx", std::ios::binary);
    if (!model.SerializeToOstream(&file))
        throw tools::Failure("cannot write '" + folder.string() + "'");
}

// Writes a folder for each stamp except the test's own.
void write_stamps(const History& history, const fs::path& test, const fs::path& root)
{
    ::onnx::ModelProto model;
    if (!model.ParseFromString(tools::read_file((test / "model.onnx").string())))
        throw tools::Failure("'" + test.string() + "' has no readable model");
    auto* import = find_import(model);
    if (!import) return;
    const std::set<std::string> operators = operators_of(test);
    const int own = static_cast<int>(import->version());
    for (int opset = kOldestStamp; opset <= history.newest; ++opset) {
        const bool same = std::all_of(operators.begin(), operators.end(), [&](const auto& op) {
            return history.is_same(op, own, opset);
        });
        if (opset == own || !same) continue;
        import->set_version(opset);
        write_test(model, test,
                   root / (test.filename().string() + ".opset_" + std::to_string(opset)));
    }
}

}  // namespace

int run_stamps(const std::string& history, const std::vector<std::string>& folders,
               const NotSupportedList& list)
{
    const TemporaryFolder root;
    const History read(history);
    for (const fs::path& test : find_tests(folders))
        if (list.find(test_name(test.string())) == list.end()) write_stamps(read, test, root.path);
    return run_all({root.path.string()}, {}, list);
}

}  // namespace tengine::conformance
