#include "base/process/peak_memory.hpp"

#include <fstream>
#include <malloc.h>
#include <string>
#include <sys/resource.h>

namespace gradweave {

std::uint64_t peak_memory_bytes() {
  // getrusage() also counts the program that started this one, up to its exec: with a large shell or test runner that
  // is more than all that a simulation needs. VmHWM is of this program alone.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stoull(line.substr(6)) * 1024;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void give_back_memory() { ::malloc_trim(0); }

void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
}

} // namespace gradweave
