// What each value of an NPU configuration may be: its limits, and the nearest values beyond them.
#pragma once

#include "sw_models/config/machine.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace gradweave::test {

/// A legal configuration in whose file no line depends on another by more than it has to.
inline std::string limits_base() {
  std::string text = R"([npu]
name = "limits"
rows = 8
cols = 8
cores = 1
spm_bytes = 65536
spm_banks = 4
bus_bytes = 16
port_bytes = 16
clock_ghz = 1.0
queue_depth = 8
semaphores = 64
outstanding = 64
vector_groups = 0

[memory]
size_bytes = 1073741824
bandwidth_gb_s = 8
access_bytes = 16
)";
  for (const MemoryKey &key : memory_keys())
    text += fmt::format("{} = {}\n", key.name, key.usual);
  return text;
}

struct Setting {
  std::string key, value;
};

/// A line of the table: at a value of `key` that is a limit, with `rest` of the file changed so that it can be reached.
struct NpuLimit {
  std::string key, value; ///< accepted
  std::string beyond;     ///< the next value, refused
  std::string refusal;    ///< what the message says behind "KEY = BEYOND"
  std::vector<Setting> rest;
};

/// limits_base() with other values.
inline std::string configuration(const std::vector<Setting> &settings) {
  std::string text = limits_base();
  for (const Setting &s : settings) {
    const std::size_t at = text.find("\n" + s.key + " = ") + 1;
    text.replace(at, text.find('\n', at) - at, s.key + " = " + s.value);
  }
  return text;
}

inline std::string text_of(const NpuLimit &limit, const std::string &value) {
  std::vector<Setting> settings = limit.rest;
  settings.push_back({limit.key, value});
  return configuration(settings);
}

inline std::vector<NpuLimit> npu_limits() {
  const std::vector<Setting> widest{{"rows", "128"}, {"cores", "8"}, {"port_bytes", "128"}};
  const std::vector<Setting> smallest{{"rows", "2"},      {"cols", "2"},       {"spm_banks", "1"},
                                      {"bus_bytes", "4"}, {"port_bytes", "4"}, {"access_bytes", "4"}};
  const std::vector<Setting> largest{{"rows", "512"}, {"spm_banks", "1"}};
  const std::string name(62, 'a');
  std::vector<NpuLimit> limits{
      {"name", "\"a\"", "\"\"", " is no name; use 1 to 64", {}},
      {"name", '"' + name + "-_\"", '"' + name + "-_0\"", " is no name; use 1 to 64", {}},
      {"rows", "2", "1", " is out of range; use 2 to 512", {}},
      {"rows", "512", "513", " is out of range; use 2 to 512", {}},
      {"cols", "2", "1", " is out of range; use 2 to 512", {}},
      {"cols", "512", "513", " is out of range; use 2 to 512", {}},
      {"cores", "1", "0", " is out of range; use 1 to 8", {}},
      {"cores", "8", "9", " is out of range; use 1 to 8", {}},
      {"spm_bytes", "8", "7", " gives each of 1 banks 1 rows of 4 bytes, but 2 are needed; use at least 8", smallest},
      {"spm_bytes", "8589934591", "8589934592", " gives 8388608 rows, but commands can address 8388607", largest},
      {"spm_banks", "1", "0", " is out of range; use 1 to 256", {}},
      {"spm_banks", "256", "257", " is out of range; use 1 to 256", {}},
      {"bus_bytes", "4", "2", " is out of range; use 4 to 2048", {{"port_bytes", "4"}, {"access_bytes", "4"}}},
      {"bus_bytes", "2048", "4096", " is out of range; use 4 to 2048", widest},
      {"port_bytes", "4", "2", " is out of range; use 4 to 16", {}},
      {"port_bytes", "128", "129", " is out of range; use 4 to 128", {{"rows", "128"}, {"bus_bytes", "256"}}},
      {"clock_ghz", "0.001", "0.0009", " is out of range; use 0.001 to 100", {}},
      {"clock_ghz", "100", "100.1", " is out of range; use 0.001 to 100", {}},
      {"queue_depth", "2", "1", " is out of range; use 2 to 64", {}},
      {"queue_depth", "64", "65", " is out of range; use 2 to 64", {}},
      {"semaphores", "8", "7", " is out of range; use 8 to 255", {}},
      {"semaphores", "255", "256", " is out of range; use 8 to 255", {}},
      {"outstanding", "1", "0", " is out of range; use 1 to 1024", {}},
      {"outstanding", "1024", "1025", " is out of range; use 1 to 1024", {}},
      {"vector_groups", "0", "-1", " is out of range; use 0 to 8", {}},
      {"vector_groups", "8", "9", " is out of range; use 0 to 8", {}},
      {"size_bytes", "4096", "4095", " is out of range; use 4096 to 1099511627776", {}},
      {"size_bytes", "1099511627776", "1099511631872", " is out of range; use 4096 to 1099511627776", {}},
      {"bandwidth_gb_s", "0.001", "0.0009", " is out of range; use 0.001 to 100000", {}},
      {"bandwidth_gb_s", "100000", "100000.5", " is out of range; use 0.001 to 100000", {}},
      {"access_bytes", "4", "3", " is out of range; use 4 to 16", {}},
      {"access_bytes", "16", "17", " is out of range; use 4 to 16", {}},
  };
  for (const MemoryKey &key : memory_keys()) {
    const std::string refusal = fmt::format(" is out of range; use {} to {}", key.least, key.most), field(key.name);
    limits.push_back({field, std::to_string(key.least), std::to_string(std::int64_t{key.least} - 1), refusal, {}});
    limits.push_back({field, std::to_string(key.most), std::to_string(std::int64_t{key.most} + 1), refusal, {}});
  }
  return limits;
}

/// A value of a loaded configuration, as a file has it.
inline std::string value_of(const Machine &c, const std::string &key) {
  for (const MemoryKey &memory : memory_keys())
    if (memory.name == key) return fmt::format("{}", c.memory.*memory.field);
  const std::map<std::string, std::string> values{{"name", '"' + c.name + '"'},
                                                  {"rows", fmt::format("{}", c.rows)},
                                                  {"cols", fmt::format("{}", c.cols)},
                                                  {"cores", fmt::format("{}", c.cores)},
                                                  {"spm_bytes", fmt::format("{}", c.spm_bytes)},
                                                  {"spm_banks", fmt::format("{}", c.spm_banks)},
                                                  {"bus_bytes", fmt::format("{}", c.bus_bytes)},
                                                  {"port_bytes", fmt::format("{}", c.port_bytes)},
                                                  {"clock_ghz", fmt::format("{}", c.clock_ghz)},
                                                  {"queue_depth", fmt::format("{}", c.queue_depth)},
                                                  {"semaphores", fmt::format("{}", c.semaphores)},
                                                  {"outstanding", fmt::format("{}", c.outstanding)},
                                                  {"vector_groups", fmt::format("{}", c.vector_groups)},
                                                  {"size_bytes", fmt::format("{}", c.memory.size_bytes)},
                                                  {"bandwidth_gb_s", fmt::format("{}", c.memory.bandwidth_gb_s)},
                                                  {"access_bytes", fmt::format("{}", c.memory.access_bytes)}};
  return values.at(key);
}

} // namespace gradweave::test
