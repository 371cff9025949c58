// Reads NPU configuration files. Every key but dram.access_bytes is required and every unknown one is an error, so that
// a typo cannot silently select a default.
#include "sw_models/config/npu_config.hpp"

#include "isa/toml.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <numeric>
#include <sstream>
#include <string_view>
#include <vector>

namespace gradweave {

namespace {

constexpr std::uint64_t kMaxFileBytes = 1U << 20U;
constexpr std::uint64_t kMaxSpmRows = (1U << 24U) - 1; // row numbers in commands have 24 bits
constexpr std::uint64_t kMaxFraction = 1'000'000;      // keeps DRAM time in ticks far below 2^64

[[noreturn]] void fail(const std::string &file, std::uint32_t line, const std::string &problem) {
  if (line == 0) throw ConfigError(fmt::format("{}: {}", file, problem));
  throw ConfigError(fmt::format("{}:{}: {}", file, line, problem));
}

/// One table of the file; remembers which keys it was asked for.
class Section {
public:
  Section(const std::string &file, const toml::table &root, std::string_view name) : file_(file), name_(name) {
    const toml::node *node = root.get(name);
    if (node == nullptr) fail(file, 0, fmt::format("missing table [{0}]; add [{0}] and its keys", name));
    table_ = node->as_table();
    if (table_ == nullptr)
      fail(file, node->source().begin.line, fmt::format("'{0}' is not a table; write [{0}]", name));
  }

  std::string text(std::string_view key, std::string_view example) {
    const toml::node &n = require(key, example);
    if (!n.is_string()) bad_type(key, n, "a string", example);
    return n.as_string()->get();
  }

  std::uint64_t integer(std::string_view key, std::uint64_t low, std::uint64_t high, std::string_view example) {
    const toml::node &n = require(key, example);
    if (!n.is_integer()) bad_type(key, n, "an integer", example);
    const std::int64_t v = n.as_integer()->get();
    if (v < 0 || static_cast<std::uint64_t>(v) < low || static_cast<std::uint64_t>(v) > high)
      fail(file_, line(key), fmt::format("{} = {} is out of range; use {} to {}", key, v, low, high));
    return static_cast<std::uint64_t>(v);
  }

  std::uint32_t integer32(std::string_view key, std::uint32_t low, std::uint32_t high, std::string_view example) {
    return static_cast<std::uint32_t>(integer(key, low, high, example));
  }

  /// The same for a key that may be left out.
  std::uint32_t integer32_or(std::string_view key, std::uint32_t low, std::uint32_t high, std::uint32_t otherwise) {
    if (table_->get(key) != nullptr) return integer32(key, low, high, fmt::format("{}", otherwise));
    known_.push_back(key);
    return otherwise;
  }

  /// A decimal number; integers are accepted.
  double number(std::string_view key, double low, double high, std::string_view example) {
    const toml::node &n = require(key, example);
    if (!n.is_number()) bad_type(key, n, "a number", example);
    const double v = *n.value<double>();
    if (!(v >= low && v <= high)) // false for NaN too
      fail(file_, line(key), fmt::format("{} = {} is out of range; use {} to {}", key, v, low, high));
    return v;
  }

  /// After all keys were read: any other is a mistake.
  void reject_unknown_keys() const {
    for (const auto &[key, node] : *table_)
      if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
        fail(file_, node.source().begin.line,
             fmt::format("unknown key '{}' in [{}]; known keys: {}", key.str(), name_, fmt::join(known_, ", ")));
  }

  std::uint32_t line(std::string_view key) const { return table_->get(key)->source().begin.line; }

private:
  const toml::node &require(std::string_view key, std::string_view example) {
    known_.push_back(key);
    const toml::node *n = table_->get(key);
    if (n == nullptr)
      fail(file_, table_->source().begin.line,
           fmt::format("missing key '{}' in [{}]; add, for example, {} = {}", key, name_, key, example));
    return *n;
  }

  [[noreturn]] void bad_type(std::string_view key, const toml::node &n, std::string_view wanted,
                             std::string_view example) const {
    std::ostringstream type;
    type << n.type();
    fail(file_, n.source().begin.line,
         fmt::format("{} must be {}, but is of type {}; write, for example, {} = {}", key, wanted, type.str(), key,
                     example));
  }

  const std::string &file_;
  std::string name_;
  const toml::table *table_ = nullptr;
  std::vector<std::string_view> known_;
};

struct Fraction {
  std::uint64_t num = 0, den = 1;
  void reduce() {
    const std::uint64_t g = std::gcd(num, den);
    num /= g;
    den /= g;
  }
};

/// The decimal number that a user wrote: the shortest decimal that reads as the same double. Values from 0.001 to
/// 100000 have neither an exponent nor more than 20 digits.
Fraction from_decimal(double value) {
  const std::string text = fmt::format("{}", value);
  Fraction f;
  bool after_point = false;
  for (char c : text) {
    if (c == '.') {
      after_point = true;
    } else {
      f.num = f.num * 10 + static_cast<std::uint64_t>(c - '0');
      if (after_point) f.den *= 10;
    }
  }
  f.reduce();
  return f;
}

/// bandwidth / clock, exactly; {0, 1} if that takes too large numbers.
Fraction bytes_per_cycle(double bandwidth_gb_s, double clock_ghz) {
  const Fraction b = from_decimal(bandwidth_gb_s);
  const Fraction c = from_decimal(clock_ghz);
  const std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  if (b.num == 0 || c.num == 0 || std::max({b.num, b.den, c.num, c.den}) > limit) return {0, 1};
  Fraction f{b.num * c.den, b.den * c.num};
  f.reduce();
  if (f.num > kMaxFraction || f.den > kMaxFraction) return {0, 1};
  return f;
}

void read_npu(Section &s, NpuConfig &c, const std::string &file) {
  c.name = s.text("name", "\"small\"");
  const auto name_char = [](char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '_' || ch == '-';
  };
  if (c.name.empty() || c.name.size() > 64 || !std::all_of(c.name.begin(), c.name.end(), name_char))
    fail(file, s.line("name"),
         fmt::format("name = \"{}\" is no name; use 1 to 64 lower-case letters, digits, '_' and '-'", c.name));
  c.rows = s.integer32("rows", 2, 255, "45");
  c.cols = s.integer32("cols", 2, 255, "45");
  c.cores = s.integer32("cores", 1, 8, "1");
  c.spm_bytes = s.integer("spm_bytes", 1, std::uint64_t{1} << 40U, "1048576");
  c.spm_banks = s.integer32("spm_banks", 1, 256, "16");
  c.bus_bytes = s.integer32("bus_bytes", 4, 2048, "32");
  c.clock_ghz = s.number("clock_ghz", 0.001, 100, "1.0");
  c.queue_depth = s.integer32("queue_depth", 2, 64, "8");
  c.semaphores = s.integer32("semaphores", 8, 255, "64");
  c.outstanding = s.integer32("outstanding", 1, 1024, "64");
  s.reject_unknown_keys();

  if ((c.bus_bytes & (c.bus_bytes - 1)) != 0)
    fail(file, s.line("bus_bytes"), fmt::format("bus_bytes = {} is not a power of two; use 4 to 2048", c.bus_bytes));
  if (c.bus_bytes > 2 * c.lanes() * c.cores)
    fail(file, s.line("bus_bytes"),
         fmt::format("bus_bytes = {} is more than {}, a scratchpad row (2 x max(rows, cols)) for each core; use a "
                     "narrower bus",
                     c.bus_bytes, 2 * c.lanes() * c.cores));
  const std::uint64_t rows_per_bank = c.spm_bytes / (2ULL * c.lanes()) / c.spm_banks;
  if (rows_per_bank < 2)
    fail(file, s.line("spm_bytes"),
         fmt::format("spm_bytes = {} gives each of {} banks {} rows of {} bytes, but 2 are needed; use at least {}",
                     c.spm_bytes, c.spm_banks, rows_per_bank, 2 * c.lanes(), 4ULL * c.lanes() * c.spm_banks));
  if (rows_per_bank * c.spm_banks > kMaxSpmRows)
    fail(file, s.line("spm_bytes"),
         fmt::format("spm_bytes = {} gives {} rows, but commands can address {}; use at most {}", c.spm_bytes,
                     rows_per_bank * c.spm_banks, kMaxSpmRows, kMaxSpmRows * 2 * c.lanes()));
}

void read_dram(Section &s, DramConfig &d, const NpuConfig &npu, const std::string &file) {
  d.size_bytes = s.integer("size_bytes", 4096, std::uint64_t{1} << 40U, "1073741824");
  d.bandwidth_gb_s = s.number("bandwidth_gb_s", 0.001, 100'000, "22");
  d.latency_cycles = s.integer32("latency_cycles", 0, 100'000, "100");
  d.turnaround_cycles = s.integer32("turnaround_cycles", 0, 10'000, "8");
  d.batch_bytes = s.integer32("batch_bytes", 1, 1U << 30U, "8192");
  d.access_bytes = s.integer32_or("access_bytes", 4, npu.bus_bytes, npu.bus_bytes);
  s.reject_unknown_keys();

  if (d.size_bytes % 4096 != 0)
    fail(file, s.line("size_bytes"), fmt::format("size_bytes = {} is not a multiple of 4096", d.size_bytes));
  const Fraction f = bytes_per_cycle(d.bandwidth_gb_s, npu.clock_ghz);
  if (f.num == 0)
    fail(file, s.line("bandwidth_gb_s"),
         fmt::format("bandwidth_gb_s = {} at clock_ghz = {} is no fraction of numbers up to {}; use fewer digits",
                     d.bandwidth_gb_s, npu.clock_ghz, kMaxFraction));
  if ((d.access_bytes & (d.access_bytes - 1)) != 0)
    fail(file, s.line("access_bytes"),
         fmt::format("access_bytes = {} is not a power of two; use 4 to {}, the bus_bytes", d.access_bytes,
                     npu.bus_bytes));
  d.bytes_num = f.num;
  d.bytes_den = f.den;
}

} // namespace

NpuConfig load_npu_config(const std::filesystem::path &path) {
  return parse_npu_config(read_user_text(path, {"NPU configuration", kMaxFileBytes}), path.string());
}

NpuConfig parse_npu_config(std::string_view text, const std::string &file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error &e) {
    fail(file, e.source().begin.line, fmt::format("not TOML: {}", e.description()));
  }
  for (const auto &[key, node] : root)
    if (key.str() != "npu" && key.str() != "dram")
      fail(file, node.source().begin.line,
           fmt::format("unknown table or key '{}'; known tables: npu, dram", key.str()));

  NpuConfig config;
  Section npu(file, root, "npu");
  read_npu(npu, config, file);
  Section dram(file, root, "dram");
  read_dram(dram, config.dram, config, file);
  return config;
}

} // namespace gradweave
