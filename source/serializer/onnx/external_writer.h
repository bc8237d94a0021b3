// SPDX-License-Identifier: Apache-2.0
// The weights of a model that is written with external data: one file beside the model's.
// external_data.h reads such files.
#pragma once

#include <string>
#include <vector>

#include "base/replace_file.h"
#include "onnx/onnx.pb.h"
#include "tengine/error.h"

struct graph;

namespace tengine {

class ExternalWriter
{
  public:
    // Decides, by the weights of `graph` and its bodies and the option model.external_mb, for a
    // model at `path`.
    ExternalWriter(const struct graph& graph, const char* path);

    // Whether `size` bytes of a tensor are written there. The bytes must not move until write().
    bool takes(size_t size) const;
    void add(const void* data, size_t size, ::onnx::TensorProto* proto);
    // Replaces the file, if any tensor goes there. The name of the file belongs to the library:
    // TENGINE_EIO as put_file().
    TENGINE_MUST_USE int write() const;

  private:
    std::string name() const;
    void append(const void* data, size_t size);

    std::string path_;
    bool is_wanted_;
    size_t end_ = 0;  // end of the added bytes
    std::vector<file_piece_t> pieces_;
};

}  // namespace tengine
