// Files of tensors, each input as each of the formats: what is accepted is written and read back to the bit.
#include "graph/tensor_file/npy.hpp"
#include "graph/tensor_file/npz.hpp"
#include "graph/tensor_file/safetensors.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace gradweave;
using namespace gradweave::graph;

/// Bytes as a file that is on no disk.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("input", 0)) {
    fuzz::require(fd_ >= 0 && ::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                  "no file in memory");
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

private:
  int fd_;
};

struct TooLarge {};

/// As a network of small tensors would.
void accept(const TensorEntry &entry) {
  const auto elements = entry.elements();
  if (!elements || *elements > (1U << 16U)) throw TooLarge();
}

void require_equal(const std::vector<FileTensor> &a, const std::vector<FileTensor> &b) {
  fuzz::require(a.size() == b.size(), "another number of tensors");
  for (std::size_t i = 0; i < a.size(); ++i) {
    fuzz::require(a[i].name == b[i].name && a[i].shape == b[i].shape, "another name or shape");
    fuzz::require(npy_data(a[i]) == npy_data(b[i]), "other elements");
  }
}

template <typename Read> void check(const std::string &file, const Read &read) {
  try {
    read();
  } catch (const ConfigError &rejection) {
    fuzz::require_place(rejection, file);
  } catch (const TooLarge &) {
    return;
  }
}

void as_npy(std::string_view bytes) {
  check("input", [&] {
    const NpyHeader header = parse_npy_header(bytes, "input");
    accept(header.entry);
    const FileTensor tensor = npy_tensor("t", header, std::string(bytes.substr(header.data_at)), "input");
    const std::string written = npy_header(tensor) + npy_data(tensor);
    const NpyHeader again = parse_npy_header(written, "written");
    require_equal({tensor}, {npy_tensor("t", again, written.substr(again.data_at), "written")});
  });
}

void as_safetensors(std::string_view bytes) {
  const MemoryFile file(bytes);
  check(file.path(), [&] {
    const auto tensors = read_safetensors(file.path(), accept);
    std::string written = safetensors_header(tensors);
    for (const FileTensor &tensor : tensors)
      written += tensor.bytes;
    require_equal(tensors, read_safetensors(MemoryFile(written).path(), accept));
  });
}

void as_npz(std::string_view bytes) {
  const MemoryFile file(bytes);
  check(file.path(), [&] {
    const auto tensors = read_npz(file.path(), accept);
    std::string written;
    try {
      written = npz_bytes(tensors);
    } catch (const std::runtime_error &) {
      return; // two of one name, or a name that is none
    }
    const MemoryFile again(written);
    require_equal(tensors, read_npz(again.path(), accept));
  });
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  as_npy(bytes);
  as_safetensors(bytes);
  as_npz(bytes);
  return 0;
}
