#include "app/sweep/owner.hpp"

#include "base/text/split.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace gradweave::sweep {
namespace {

std::string first_line(const std::string &file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// When a process began, in ticks of the machine; empty: there is none, or it has ended and its parent does not know.
std::string start_of(const std::string &pid) {
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = line.rfind(')'); // the program's name may hold anything
  if (name_end == std::string::npos) return {};
  std::istringstream rest(line.substr(name_end + 1));
  std::string field, state;
  constexpr int kStarttime = 22, kState = 3; // proc(5)
  for (int i = kState; i <= kStarttime && rest >> field; ++i)
    if (i == kState) state = field;
  return state == "Z" || state == "X" ? std::string() : field;
}

std::string machine() { return first_line("/proc/sys/kernel/random/boot_id"); }

} // namespace

std::string this_owner() {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{} {} {}", machine(), pid, start_of(pid));
}

bool lives(const std::string &owner) {
  const std::vector<std::string> parts = split(owner, ' ');
  return parts.size() == 3 && parts[0] == machine() && start_of(parts[1]) == parts[2];
}

} // namespace gradweave::sweep
