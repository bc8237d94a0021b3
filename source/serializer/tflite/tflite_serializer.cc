// SPDX-License-Identifier: Apache-2.0
// The model format "tflite" as the serializer registry sees it: reading starts in reader.cc.
#include "module/module.h"
#include "serializer/image_format.hpp"
#include "serializer/tflite/reading.h"

namespace tengine::tflite {
namespace {

struct Format
{
    static constexpr char kName[] = "tflite";
    static constexpr char kFile[] = ".tflite";
    static constexpr char kEnding[] = ".tflite";
    // The numbers in a flatbuffer are aligned from its start: bytes at an odd address are copied.
    static constexpr size_t kAlignment = alignof(uint64_t);

    static int read_model(struct graph* graph, FileImage* image)
    {
        return tflite::read_model(graph, image);
    }
};

serializer_t tflite_serializer = ImageFormat<Format>::make();

}  // namespace
}  // namespace tengine::tflite

TENGINE_DEFINE_SERIALIZER(tflite, &tengine::tflite::tflite_serializer);
