// SPDX-License-Identifier: Apache-2.0
// Feeds, runs, compares, asks ONNX Runtime alone. The contract is in node_model.h.
#include "node_model.h"

#include <algorithm>
#include <vector>

#include "conformance/compare.h"
#include "conformance/test_folder.h"
#include "difference.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::ort_host {
namespace {

namespace fs = std::filesystem;
using tools::Failure;
using tools::Tensor;

// NumPy, with which the suite is written, has no bf16: the suite stores its bits as uint16.
void restore_bf16(int data_type, Tensor* value)
{
    if (data_type == TENGINE_DT_BF16 && value->data_type == TENGINE_DT_UINT16)
        value->data_type = TENGINE_DT_BF16;
}

// Files that name an input are for it, the others are in the order of inputs.
void name_inputs(const std::vector<Input>& inputs, std::vector<Tensor>* values)
{
    for (size_t i = 0; i < values->size(); ++i) {
        Tensor& value = (*values)[i];
        const auto named = std::find_if(inputs.begin(), inputs.end(), [&](const Input& input) {
            return input.name == value.name;
        });
        if (named == inputs.end() && i >= inputs.size())
            throw Failure("there are more files than inputs");
        const Input& input = named == inputs.end() ? inputs[i] : *named;
        value.name = input.name;
        restore_bf16(input.data_type, &value);
    }
}

// Returns "" if all are equal; `numbers`: compares values, not only types and shapes.
std::string compare_all(const std::vector<Tensor>& actual, std::vector<Tensor> expected,
                        bool numbers)
{
    if (actual.size() != expected.size()) return "there are more or fewer results than expected";
    for (size_t i = 0; i < actual.size(); ++i) {
        restore_bf16(actual[i].data_type, &expected[i]);
        if (!numbers && actual[i].data_type == expected[i].data_type &&
            actual[i].shape == expected[i].shape)
            continue;
        const std::string difference = conformance::compare(actual[i], expected[i]);
        if (!difference.empty()) return "'" + actual[i].name + "': " + difference;
    }
    return "";
}

// Returns other tensors of the same shapes, whose elements are equally valid as indices, sizes or
// divisors: in reverse order; truth values inverted.
std::vector<Tensor> change(std::vector<Tensor> tensors)
{
    for (Tensor& tensor : tensors) {
        const size_t count = tensor.element_number();
        if (count == 0) continue;
        const std::vector<std::byte> old = tensor.bytes;
        const size_t size = old.size() / count;
        for (size_t i = 0; i < count; ++i) {
            const size_t from = i == 0 ? 0 : count - 1 - i;
            std::copy_n(&old[from * size], size, &tensor.bytes[i * size]);
            if (tensor.data_type == TENGINE_DT_BOOL) tensor.bytes[i] ^= std::byte{1};
        }
    }
    return tensors;
}

std::string compare_with_alone(const std::vector<Tensor>& results, const std::vector<Tensor>& alone)
{
    for (size_t i = 0; i < results.size(); ++i) {
        const Difference difference = measure(results[i], alone[i]);
        if (difference.largest > default_tolerance(results[i].data_type) * difference.magnitude)
            return "second run, other inputs: '" + results[i].name + "' is up to " +
                   std::to_string(difference.largest) + " from ONNX Runtime alone";
    }
    return "";
}

class NodeModel
{
  public:
    NodeModel(Runtime* runtime, const fs::path& folder, const Request& request, bool is_loose)
        : runtime_(runtime), folder_(folder), request_(request), is_loose_(is_loose)
    {
    }

    Outcome run()
    {
        try {
            const Session session(runtime_, model(), request_);
            Outcome outcome = feed(session);
            outcome.placement = session.placement();
            return outcome;
        } catch (const Failure& failure) {
            return {opens_alone() ? Verdict::kDiffers : Verdict::kNotOpened, failure.what(), {}};
        }
    }

  private:
    std::string model() const { return (folder_ / "model.onnx").string(); }

    Session open_alone() const
    {
        Request request = request_;
        request.devices.clear();
        return Session(runtime_, model(), request);
    }

    bool opens_alone() const
    {
        try {
            open_alone();
            return true;
        } catch (const Failure&) {
            return false;
        }
    }

    Outcome feed(const Session& session)
    {
        try {
            const fs::path set = folder_ / "test_data_set_0";
            inputs_ = conformance::read_tensors(set, "input");
            expected_ = conformance::read_tensors(set, "output");
            name_inputs(session.inputs(), &inputs_);
        } catch (const Failure& failure) {
            return {Verdict::kNotTensors, failure.what(), {}};
        }
        try {
            return compare(session);
        } catch (const NotTensor& failure) {
            return {Verdict::kNotTensors, failure.what(), {}};
        } catch (const Failure& failure) {
            return judge_failure(failure.what());
        }
    }

    Outcome compare(const Session& session) const
    {
        const std::vector<Tensor> results = session.run(inputs_);
        const std::string difference = compare_all(results, expected_, !is_loose_);
        if (!difference.empty()) return judge_difference(results, difference);
        if (is_loose_) return {Verdict::kLoose, "", {}};
        const std::string later = run_again(session);
        return {later.empty() ? Verdict::kAgrees : Verdict::kDiffers, later, {}};
    }

    Outcome judge_difference(const std::vector<Tensor>& results, const std::string& reason) const
    {
        try {
            const std::vector<Tensor> alone = open_alone().run(inputs_);
            const bool same = compare_all(results, alone, !is_loose_).empty();
            return {same ? Verdict::kAgreesOnly : Verdict::kDiffers, reason, {}};
        } catch (const Failure&) {
            return {Verdict::kDiffers, reason, {}};
        }
    }

    Outcome judge_failure(const std::string& reason) const
    {
        try {
            open_alone().run(inputs_);
            return {Verdict::kDiffers, reason, {}};
        } catch (const Failure& failure) {
            return {Verdict::kNotRun, failure.what(), {}};
        }
    }

    // Returns the difference, "" also if ONNX Runtime alone refuses these inputs.
    std::string run_again(const Session& session) const
    {
        const std::vector<Tensor> inputs = change(inputs_);
        std::vector<Tensor> alone;
        try {
            alone = open_alone().run(inputs);
        } catch (const Failure&) {
            return "";
        }
        try {
            return compare_with_alone(session.run(inputs), alone);
        } catch (const Failure& failure) {
            return is_refused(inputs) ? "" : failure.what();
        }
    }

    // Runs in a new session: the inputs are generated, and ONNX Runtime may refuse them.
    bool is_refused(const std::vector<Tensor>& inputs) const
    {
        try {
            Session(runtime_, model(), request_).run(inputs);
            return false;
        } catch (const Failure&) {
            return true;
        }
    }

    Runtime* runtime_;
    const fs::path& folder_;
    const Request& request_;
    bool is_loose_;
    std::vector<Tensor> inputs_;
    std::vector<Tensor> expected_;
};

}  // namespace

Outcome run_node_model(Runtime* runtime, const fs::path& folder, const Request& request,
                       bool is_loose)
{
    return NodeModel(runtime, folder, request, is_loose).run();
}

}  // namespace tengine::ort_host
