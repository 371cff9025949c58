// Calls a fuzz target with the contents of files: of those named, and of all in directories named. A finding ends the
// process by a signal, after the name of the file at fault.
#include "tests/fuzz/fuzz_target.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> inputs(int argc, char **argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    const fs::path path = argv[i];
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const fs::directory_entry &entry : fs::directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Exactly as large as the file, so that a sanitizer sees a read behind its end.
std::vector<std::uint8_t> contents(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) gradweave::fuzz::finding(file.string() + " cannot be read");
  std::vector<std::uint8_t> bytes(std::istreambuf_iterator<char>(in), {});
  bytes.shrink_to_fit();
  return bytes;
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<fs::path> files = inputs(argc, argv);
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s FILE|DIRECTORY...\nThere is no file to replay.\n", argv[0]);
    return 2;
  }
  for (const fs::path &file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout); // it is the last line if the process dies
    const std::vector<std::uint8_t> bytes = contents(file);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs replayed\n", files.size());
  return 0;
}
