// SPDX-License-Identifier: Apache-2.0
// Reading the tree and stripping comments; see source_tree.h.
#include "rules/source_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace tengine::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 5> kCodeExtensions = {".c", ".cc", ".cpp", ".h", ".hpp"};
constexpr std::array<const char*, 3> kScriptExtensions = {".cmake", ".py", ".sh"};
constexpr std::array<const char*, 12> kFolders = {".ci",      "benchmark", "cmake",      "docs",
                                                  "examples", "include",   "python",     "source",
                                                  "scripts",  "tests",     "toolchains", "tools"};

template <typename Container>
bool contains(const Container& container, const std::string& text)
{
    return std::find(container.begin(), container.end(), text) != container.end();
}

fs::path root()
{
    return fs::path(TENGINE_SOURCE_DIR);
}

bool has_shebang(const fs::path& path)
{
    std::ifstream stream(path);
    return stream.get() == '#' && stream.get() == '!';
}

bool is_source(const fs::path& path)
{
    const std::string extension = path.extension().string();
    return contains(kCodeExtensions, extension) || contains(kScriptExtensions, extension) ||
           path.filename() == "CMakeLists.txt" || (extension.empty() && has_shebang(path));
}

SourceFile read_file(const fs::path& path)
{
    const std::string relative = fs::relative(path, root()).generic_string();
    return {relative, read_lines(relative)};
}

std::vector<SourceFile> read_tree()
{
    std::vector<SourceFile> files{read_file(root() / "CMakeLists.txt")};
    for (const char* folder : kFolders) {
        if (!fs::exists(root() / folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
            if (entry.is_regular_file() && is_source(entry.path()))
                files.push_back(read_file(entry.path()));
        }
    }
    std::sort(files.begin(), files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

// Returns the index of the quote that closes the literal opened at `open`, or of the end.
size_t literal_end(const std::string& text, size_t open)
{
    size_t i = open + 1;
    while (i < text.size() && text[i] != text[open] && text[i] != '\n')
        i += text[i] == '\\' ? 2 : 1;
    return std::min(i, text.size());
}

// A quote between two letters or digits separates the digits of a number.
bool opens_literal(const std::string& text, size_t i)
{
    if (text[i] == '"') return true;
    return text[i] == '\'' && (i == 0 || !isalnum(static_cast<unsigned char>(text[i - 1])));
}

enum class Kind
{
    kCode,
    kComment,
    kLiteral
};

struct Piece
{
    Kind kind;
    size_t end;
};

// Returns the comment, the literal or the character of code at `i`.
Piece find_piece(const std::string& text, size_t i)
{
    if (text.compare(i, 2, "//") == 0)
        return {Kind::kComment, std::min(text.find('\n', i), text.size())};
    if (text.compare(i, 2, "/*") == 0) {
        const size_t close = text.find("*/", i + 2);
        return {Kind::kComment, close == std::string::npos ? text.size() : close + 2};
    }
    if (opens_literal(text, i))
        return {Kind::kLiteral, std::min(literal_end(text, i) + 1, text.size())};
    return {Kind::kCode, i + 1};
}

// Does the same for a script.
Piece find_script_piece(const std::string& text, size_t i)
{
    if (text[i] == '#' && (i == 0 || std::isspace(static_cast<unsigned char>(text[i - 1]))))
        return {Kind::kComment, std::min(text.find('\n', i), text.size())};
    if (text[i] == '"') return {Kind::kLiteral, std::min(literal_end(text, i) + 1, text.size())};
    return {Kind::kCode, i + 1};
}

void blank(std::string* text, size_t begin, size_t end, char blank)
{
    for (size_t i = begin; i < end; ++i)
        if ((*text)[i] != '\n') (*text)[i] = blank;
}

}  // namespace

std::string SourceFile::extension() const
{
    return fs::path(path).extension().string();
}

const std::vector<SourceFile>& source_tree()
{
    static const std::vector<SourceFile> files = read_tree();
    return files;
}

std::vector<SourceFile> code_below(const std::string& folder)
{
    std::vector<SourceFile> files;
    for (const SourceFile& file : source_tree()) {
        if (starts_with(file.path, folder + "/") && contains(kCodeExtensions, file.extension()))
            files.push_back(file);
    }
    return files;
}

std::set<std::string> pages()
{
    std::set<std::string> found;
    for (const fs::path& folder : {root(), root() / "docs"}) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().extension() == ".md")
                found.insert(fs::relative(entry.path(), root()).generic_string());
        }
    }
    return found;
}

std::vector<std::string> read_lines(const std::string& path)
{
    std::vector<std::string> lines;
    std::ifstream stream(root() / path);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::vector<std::string> folders_below(const std::string& folder)
{
    std::vector<std::string> names;
    if (!fs::exists(root() / folder)) return names;
    for (const auto& entry : fs::directory_iterator(root() / folder)) {
        if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string strip_comments(const std::string& text)
{
    std::string result = text;
    for (size_t i = 0; i < text.size();) {
        const Piece piece = find_piece(text, i);
        if (piece.kind == Kind::kComment) blank(&result, i, piece.end, ' ');
        i = piece.end;
    }
    return result;
}

std::string comments_and_messages(const SourceFile& file)
{
    const std::string text = join_lines(file.lines);
    std::string result = text;
    const bool is_script = !contains(kCodeExtensions, file.extension());
    for (size_t i = 0; i < text.size();) {
        const Piece piece = is_script ? find_script_piece(text, i) : find_piece(text, i);
        const bool is_message = piece.kind == Kind::kLiteral &&
                                text.substr(i, piece.end - i).find(' ') != std::string::npos;
        if (piece.kind == Kind::kComment)
            blank(&result, i, std::min(text.find_first_not_of("/*#", i), piece.end), ' ');
        else if (is_message)
            result[i] = result[piece.end - 1] = '\0';
        else
            blank(&result, i, piece.end, '\0');
        i = piece.end;
    }
    return result;
}

std::string join_lines(const std::vector<std::string>& lines)
{
    std::string text;
    for (const std::string& line : lines)
        text += line + '\n';
    return text;
}

bool starts_with(const std::string& text, const std::string& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace tengine::rules
