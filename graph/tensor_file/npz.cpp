#include "graph/tensor_file/npz.hpp"

#include "graph/tensor_file/npy.hpp"
#include "graph/tensor_file/refuse.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace gradweave::graph {
namespace {

constexpr std::string_view kEnding = ".npy";

struct Discard {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
struct Close {
  void operator()(zip_file_t *entry) const { zip_fclose(entry); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Entry = std::unique_ptr<zip_file_t, Close>;

Archive open_archive(const std::filesystem::path &file) {
  int code = 0;
  Archive archive(zip_open(file.c_str(), ZIP_RDONLY, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  refuse_file(file.string(), fmt::format("not an .npz file (a ZIP archive): {}", text));
}

/// At most `most` bytes of what is left of the entry.
std::string unpack(zip_file_t *entry, std::uint64_t most, const std::string &where) {
  std::string bytes(most, '\0');
  std::uint64_t have = 0;
  while (have < most) {
    const zip_int64_t got = zip_fread(entry, bytes.data() + have, most - have);
    if (got < 0) refuse_file(where, fmt::format("cannot be unpacked: {}", zip_file_strerror(entry)));
    if (got == 0) break;
    have += static_cast<std::uint64_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

FileTensor read_entry(zip_t *archive, zip_uint64_t index, const std::string &file, const AcceptTensor &accept) {
  const char *stored = zip_get_name(archive, index, ZIP_FL_ENC_GUESS);
  std::string name = stored == nullptr ? std::string() : stored;
  const std::string where = fmt::format("{}: entry '{}'", file, name);
  if (name.size() > kEnding.size() && name.compare(name.size() - kEnding.size(), kEnding.size(), kEnding) == 0)
    name.resize(name.size() - kEnding.size());
  else
    refuse_file(where, "its name does not end in .npy");
  const Entry entry(zip_fopen_index(archive, index, 0));
  if (!entry) refuse_file(where, fmt::format("cannot be opened: {}", zip_strerror(archive)));
  std::string data = unpack(entry.get(), kMaxNpyHeader + 12, where);
  NpyHeader header = parse_npy_header(data, where);
  header.entry.name = name;
  const auto elements = header.entry.elements();
  if (!elements) refuse_file(where, fmt::format("a shape of {} is larger than any file", header.entry.shape_text()));
  accept(header.entry);
  data.erase(0, header.data_at);
  const std::uint64_t wanted = *elements * bytes_of(header.entry.type);
  if (data.size() <= wanted) data += unpack(entry.get(), wanted - data.size() + 1, where);
  return npy_tensor(name, header, std::move(data), where);
}

[[noreturn]] void cannot_write(zip_t *archive) {
  throw std::runtime_error(fmt::format("cannot make an .npz archive: {}", zip_strerror(archive)));
}

} // namespace

std::vector<FileTensor> read_npz(const std::filesystem::path &file, const AcceptTensor &accept) {
  check_user_file(file, {"file of tensors", kMaxBulkBytes});
  const Archive archive = open_archive(file);
  std::vector<FileTensor> tensors;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i)
    tensors.push_back(read_entry(archive.get(), static_cast<zip_uint64_t>(i), file.string(), accept));
  return tensors;
}

std::string npz_bytes(const std::vector<FileTensor> &tensors) {
  zip_source_t *buffer = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_source_keep(buffer); // beyond the archive, to be read
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t *)> source(buffer, zip_source_free);
  Archive archive(zip_open_from_source(buffer, ZIP_TRUNCATE, nullptr));
  if (!archive) throw std::runtime_error("cannot make an .npz archive");
  std::vector<std::string> files; // until the archive is closed
  files.reserve(tensors.size());
  for (const FileTensor &tensor : tensors) {
    const std::string &bytes = files.emplace_back(npy_header(tensor) + npy_data(tensor));
    zip_source_t *entry = zip_source_buffer(archive.get(), bytes.data(), bytes.size(), 0);
    const std::string name = tensor.name + std::string(kEnding);
    const zip_int64_t index = zip_file_add(archive.get(), name.c_str(), entry, ZIP_FL_ENC_UTF_8);
    if (index < 0) cannot_write(archive.get());
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    zip_file_set_mtime(archive.get(), static_cast<zip_uint64_t>(index), 315619200, 0); // 1980: the same bytes always
  }
  if (zip_close(archive.get()) != 0) cannot_write(archive.get());
  (void)archive.release(); // closed
  zip_stat_t stat;
  zip_source_open(buffer);
  zip_source_stat(buffer, &stat);
  std::string bytes(stat.size, '\0');
  const bool complete = zip_source_read(buffer, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
  zip_source_close(buffer);
  if (!complete) throw std::runtime_error("cannot make an .npz archive");
  return bytes;
}

} // namespace gradweave::graph
