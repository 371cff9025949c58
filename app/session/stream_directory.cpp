#include "app/session/stream_directory.hpp"

#include "base/file/output_file.hpp"
#include "base/file/unfinished.hpp"
#include "isa/assembler.hpp"
#include "trace/command_label.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace gradweave::cli {
namespace {

namespace fs = std::filesystem;
using compiler::Compiled;

[[noreturn]] void fail(const fs::path &path, const char *what, const std::string &reason) {
  throw OutputError(fmt::format("{}: cannot be {}: {}; choose another --out directory", path.string(), what, reason));
}

/// The topmost of the directory and those above it that does not exist; empty: all do.
fs::path first_missing(const fs::path &directory) {
  fs::path missing;
  std::error_code ignored;
  for (fs::path at = fs::absolute(directory); !fs::exists(at, ignored) && at.has_relative_path(); at = at.parent_path())
    missing = at;
  return missing;
}

std::string file_stem(const Compiled &compiled) {
  return fmt::format("{}-{}", compiled.layer().index, file_name_part(compiled.layer().name));
}

/// Commands as text that can be assembled again, each with its index and what it is for.
void write_listing(const fs::path &file, const Compiled &compiled) {
  constexpr std::size_t kChunk = 1U << 20U;
  OutputFile out(file);
  std::string text = fmt::format("# {} ({}), {}\n", compiled.layer().name, compiler::to_string(compiled.chosen),
                                 compiled.tilings.front());
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const std::string tile = runtime::tile_label(compiled.info[i]);
    text += fmt::format("{}  # {}{}{}\n", isa::disassemble(compiled.stream[i]), i, tile.empty() ? "" : ": ", tile);
    if (text.size() < kChunk) continue;
    out.append(text);
    text.clear();
  }
  out.commit(text);
}

} // namespace

std::string stream_file_name(const Compiled &compiled) { return file_stem(compiled) + ".gws"; }

StreamDirectory::StreamDirectory(const std::string &directory)
    : directory_(directory), made_(first_missing(directory)) {
  Unfinished unfinished;
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) fail(directory_, "created", error.message());
  std::string pattern = (directory_ / ".streams.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail(directory_, "written to", std::strerror(errno));
  staging_ = pattern;
  unfinished.add(begun());
}

StreamDirectory::~StreamDirectory() {
  if (staging_.empty()) return;
  std::error_code ignored;
  fs::remove_all(begun(), ignored);
  Unfinished().forget(begun());
}

void StreamDirectory::add(const Compiled &compiled, bool listing) {
  files_.push_back(stream_file_name(compiled));
  try {
    isa::write_stream_file(staging_ / files_.back(), compiled.stream);
  } catch (const isa::AssemblyError &error) {
    throw OutputError(error.what());
  }
  if (!listing) return;
  files_.push_back(file_stem(compiled) + ".lst");
  write_listing(staging_ / files_.back(), compiled);
}

void StreamDirectory::commit() {
  Unfinished unfinished;
  std::error_code error;
  for (const std::string &file : files_)
    if (fs::is_directory(directory_ / file, error)) fail(directory_ / file, "written", "it is a directory");
  for (const std::string &file : files_) {
    fs::rename(staging_ / file, directory_ / file, error);
    if (error) fail(directory_ / file, "written", error.message());
  }
  fs::remove_all(staging_, error);
  unfinished.forget(begun());
  staging_.clear();
}

} // namespace gradweave::cli
