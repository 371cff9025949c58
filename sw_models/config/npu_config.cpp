#include "sw_models/config/npu_config.hpp"

#include "sw_models/config/toml_section.hpp"

#include "isa_defs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave {
namespace {

bool power_of_two(std::uint32_t number) { return (number & (number - 1)) == 0; }

/// bus_bytes and port_bytes, which is as wide as AXI4 allows if the file does not say it.
void read_bus(TomlSection &s, NpuConfig &c) {
  c.bus_bytes = s.integer32("bus_bytes", 4, 2048, "32");
  if (!power_of_two(c.bus_bytes))
    s.refuse("bus_bytes", fmt::format("bus_bytes = {} is not a power of two; use 4 to 2048", c.bus_bytes));
  const std::uint32_t widest = std::min(c.bus_bytes, kMaxPortBytes);
  c.port_bytes = s.integer32_or("port_bytes", 4, widest, widest);
  if (!power_of_two(c.port_bytes))
    s.refuse("port_bytes", fmt::format("port_bytes = {} is not a power of two; use 4 to {}", c.port_bytes, widest));
  if (c.ports() > kMaxPorts)
    s.refuse("port_bytes", fmt::format("port_bytes = {} cuts a bus of {} bytes into {} ports, but at most {} are "
                                       "possible; use at least {}",
                                       c.port_bytes, c.bus_bytes, c.ports(), kMaxPorts, c.bus_bytes / kMaxPorts));
}

} // namespace

NpuConfig read_npu_config(TomlSection &s) {
  NpuConfig c;
  c.name = s.text("name", "\"small\"");
  const auto name_char = [](char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '_' || ch == '-';
  };
  if (c.name.empty() || c.name.size() > 64 || !std::all_of(c.name.begin(), c.name.end(), name_char))
    s.refuse("name",
             fmt::format("name = \"{}\" is no name; use 1 to 64 lower-case letters, digits, '_' and '-'", c.name));
  c.rows = s.integer32("rows", 2, isa::kMaxLanes, "45");
  c.cols = s.integer32("cols", 2, isa::kMaxLanes, "45");
  c.cores = s.integer32("cores", 1, 8, "1");
  c.spm_bytes = s.integer("spm_bytes", 1, std::uint64_t{1} << 40U, "1048576");
  c.spm_banks = s.integer32("spm_banks", 1, 256, "16");
  read_bus(s, c);
  c.clock_ghz = s.number("clock_ghz", 0.001, 100, "1.0");
  c.queue_depth = s.integer32("queue_depth", 2, 64, "8");
  c.semaphores = s.integer32("semaphores", 8, 255, "64");
  c.outstanding = s.integer32("outstanding", 1, 1024, "64");
  c.vector_groups = s.integer32_or("vector_groups", 0, 8, 0);
  if (c.vector_groups != 0 && !power_of_two(c.vector_groups))
    s.refuse(
        "vector_groups",
        fmt::format("vector_groups = {} is not 1, 2, 4 or 8, nor 0 for an NPU without vector units", c.vector_groups));
  s.reject_unknown_keys();

  if (c.bus_bytes > 2 * c.lanes() * c.cores)
    s.refuse("bus_bytes",
             fmt::format("bus_bytes = {} is more than {}, a scratchpad row (2 x max(rows, cols)) for each core; use a "
                         "narrower bus",
                         c.bus_bytes, 2 * c.lanes() * c.cores));
  const std::uint64_t rows_per_bank = c.spm_bytes / (2ULL * c.lanes()) / c.spm_banks;
  if (rows_per_bank < 2)
    s.refuse("spm_bytes",
             fmt::format("spm_bytes = {} gives each of {} banks {} rows of {} bytes, but 2 are needed; use at least {}",
                         c.spm_bytes, c.spm_banks, rows_per_bank, 2 * c.lanes(), 4ULL * c.lanes() * c.spm_banks));
  constexpr std::uint64_t kMaxSpmRows = isa::kMaxSpmRows;
  if (rows_per_bank * c.spm_banks > kMaxSpmRows)
    s.refuse("spm_bytes",
             fmt::format("spm_bytes = {} gives {} rows, but commands can address {}; use at most {}", c.spm_bytes,
                         rows_per_bank * c.spm_banks, kMaxSpmRows, kMaxSpmRows * 2 * c.lanes()));
  return c;
}

Fingerprint fingerprint(const NpuConfig &npu) {
  const auto &[name, rows, cols, cores, spm_bytes, spm_banks, bus_bytes, port_bytes, clock_ghz, queue_depth, semaphores,
               outstanding, vector_groups] = npu; // cycles depend on the clock only by the memory's bytes a cycle
  Fingerprint result = Fingerprint().add(rows, cols, cores, spm_bytes, spm_banks, bus_bytes, port_bytes, queue_depth,
                                         semaphores, outstanding);
  return vector_groups == 0 ? result : result.add(vector_groups); // without one, keys are those of old
}

} // namespace gradweave
