// SPDX-License-Identifier: Apache-2.0
// Finds, checks, maps and reads external data files. One file is kept open: tensors of a model
// share a file or have one each.
#include "serializer/onnx/external_data.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sys/stat.h>

#include "serializer/onnx/message.h"

namespace tengine {
namespace {

namespace fs = std::filesystem;

// The entries of TensorProto.external_data that locate the values.
struct Place
{
    std::string location;
    uint64_t offset = 0;
    uint64_t length = 0;
};

int parse_number(const std::string& text, const char* key, const std::string& owner,
                 uint64_t* out_number)
{
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *out_number);
    if (error == std::errc() && stop == end) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT,
                             "%s: %s of its external data is %s, expected a whole number",
                             owner.c_str(), key, quote_name(text).c_str());
}

int read_place(const ::onnx::TensorProto& tensor, size_t bytes, const std::string& owner,
               Place* out_place)
{
    out_place->length = bytes;
    for (const auto& entry : tensor.external_data()) {
        if (entry.key() == "location") out_place->location = entry.value();
        if (entry.key() == "offset")
            TENGINE_RETURN_IF_ERROR(
                parse_number(entry.value(), "offset", owner, &out_place->offset));
        if (entry.key() == "length")
            TENGINE_RETURN_IF_ERROR(
                parse_number(entry.value(), "length", owner, &out_place->length));
    }
    if (out_place->length != bytes)
        return tengine_error_set(
            TENGINE_EFORMAT, "%s: external data of %llu bytes, expected %zu by its shape and type",
            owner.c_str(), static_cast<unsigned long long>(out_place->length), bytes);
    return TENGINE_OK;
}

bool stays_below(const fs::path& location)
{
    return !location.empty() && location.is_relative() &&
           location.native().find('\0') == std::string::npos &&
           std::find(location.begin(), location.end(), "..") == location.end();
}

// The path without symbolic links, which must still be below the folder.
int resolve(const std::string& folder, const std::string& location, const std::string& owner,
            fs::path* out_path)
{
    const int code = TENGINE_EFORMAT;
    if (!stays_below(location))
        return tengine_error_set(code,
                                 "%s: external data location %s is refused: expected a path below "
                                 "the model's folder, without '..'",
                                 owner.c_str(), quote_name(location).c_str());
    std::error_code error;
    const fs::path base = fs::canonical(folder, error);
    if (!error) *out_path = fs::canonical(base / location, error);
    if (error)
        return tengine_error_set(TENGINE_EIO, "%s: cannot open external data %s: %s", owner.c_str(),
                                 quote_name(location).c_str(), error.message().c_str());
    const auto parts = std::mismatch(base.begin(), base.end(), out_path->begin(), out_path->end());
    if (parts.first == base.end()) return TENGINE_OK;
    return tengine_error_set(
        code,
        "%s: external data location %s is refused: a symbolic link leads out of the model's folder",
        owner.c_str(), quote_name(location).c_str());
}

}  // namespace

ExternalData::~ExternalData()
{
    close();
}

void ExternalData::close()
{
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

int ExternalData::open_file(const std::string& location, const std::string& owner)
{
    if (descriptor_ >= 0 && location == location_) return TENGINE_OK;
    close();
    fs::path path;
    TENGINE_RETURN_IF_ERROR(resolve(folder_, location, owner, &path));
    // O_NOFOLLOW: the resolved path has no links, so a link that is there now is an attack.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;
    if (descriptor_ < 0 || fstat(descriptor_, &info) != 0)
        return tengine_error_set(TENGINE_EIO, "%s: cannot open external data %s: %s", owner.c_str(),
                                 quote_name(location).c_str(), strerror(errno));
    if (!S_ISREG(info.st_mode)) {
        close();
        return tengine_error_set(TENGINE_EIO, "%s: external data %s is not a regular file",
                                 owner.c_str(), quote_name(location).c_str());
    }
    if (info.st_nlink > 1 && files_->options().refuse_hard_links) {
        close();
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s: external data %s is refused: the file has %llu names (hard "
                                 "links), and the option model.refuse_hard_links allows one",
                                 owner.c_str(), quote_name(location).c_str(),
                                 static_cast<unsigned long long>(info.st_nlink));
    }
    files_->add_origin(info);
    location_ = location;
    path_ = path.string();
    size_ = static_cast<uint64_t>(info.st_size);
    return TENGINE_OK;
}

int ExternalData::open(const ::onnx::TensorProto& tensor, size_t bytes, const std::string& owner)
{
    if (folder_.empty())
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "%s: its values are external data, which a model in memory cannot "
                                 "have: load the model from its file",
                                 owner.c_str());
    Place place;
    TENGINE_RETURN_IF_ERROR(read_place(tensor, bytes, owner, &place));
    TENGINE_RETURN_IF_ERROR(open_file(place.location, owner));
    if (place.offset > size_ || bytes > size_ - place.offset)
        return tengine_error_set(
            TENGINE_EFORMAT,
            "%s: %zu bytes at offset %llu of external data %s, which has %llu bytes", owner.c_str(),
            bytes, static_cast<unsigned long long>(place.offset),
            quote_name(place.location).c_str(), static_cast<unsigned long long>(size_));
    offset_ = place.offset;
    bytes_ = bytes;
    return TENGINE_OK;
}

char* ExternalData::view(size_t alignment)
{
    // The mapping begins at a page boundary, which every alignment divides.
    if (files_->options().use == FILE_IS_READ || offset_ % alignment != 0 || offset_ >= size_)
        return nullptr;
    ModelFile* file = nullptr;
    if (files_->map(descriptor_, path_, &file) < 0) {
        tengine_error_clear();
        return nullptr;
    }
    // The file may have been truncated since it was opened.
    if (file->bytes.size < size_) return nullptr;
    const auto begin = static_cast<size_t>(offset_);
    return file->add_view(begin, begin + bytes_) ? file->bytes.bytes + begin : nullptr;
}

int ExternalData::read(void* out_values, size_t bytes, const std::string& owner) const
{
    auto* target = static_cast<char*>(out_values);
    for (size_t done = 0; done < bytes;) {
        const ssize_t count =
            pread(descriptor_, target + done, bytes - done, static_cast<off_t>(offset_ + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0)
            return tengine_error_set(TENGINE_EIO, "%s: cannot read external data %s: %s",
                                     owner.c_str(), quote_name(location_).c_str(),
                                     count < 0 ? strerror(errno) : "it was truncated");
        done += static_cast<size_t>(count);
    }
    return TENGINE_OK;
}

}  // namespace tengine
