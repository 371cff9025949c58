#include "trace/wave/diff.hpp"

#include "sw_models/config/npu_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::wave {
namespace {

constexpr std::uint64_t kForever = ~std::uint64_t{0};
/// Signals whose values are in memory at a time.
constexpr std::size_t kChunk = 4096;

using Names = std::map<std::string, const Signal *>;

/// One file in the report's unit of time.
struct Side {
  const FstFile &file;
  std::uint64_t scale = 1; ///< units of the report in one of the file
  std::vector<std::uint64_t> edges{};
  Names names{};

  std::uint64_t start() const { return edges.empty() ? file.start_time() * scale : 0; }
  std::uint64_t end() const { return edges.empty() ? file.end_time() * scale : edges.size() - 1; }

  ChangeList convert(ChangeList list) const {
    if (!edges.empty()) return sample(list, edges);
    if (scale == 1) return list;
    ChangeList scaled;
    for (std::size_t i = 0; i < list.size(); ++i)
      scaled.append(list.time(i) * scale, list.value(i));
    return scaled;
  }
};

std::uint64_t power_of_ten(int exponent, const FstFile &file) {
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent) {
    if (power > std::numeric_limits<std::uint64_t>::max() / 10 / std::max<std::uint64_t>(file.end_time(), 1))
      throw ConfigError(fmt::format("{}: its times, in units of 1e{} s, are too large for the other file's unit",
                                    file.file(), file.timescale()));
    power *= 10;
  }
  return power;
}

Names names_of(const FstFile &file, const std::string &strip, const SignalFilter &filter) {
  Names names;
  for (const Signal &signal : file.signals()) {
    if (signal.name.compare(0, strip.size(), strip) != 0) continue;
    std::string name = signal.name.substr(strip.size());
    if (filter.takes(name)) names.emplace(std::move(name), &signal);
  }
  return names;
}

void find_edges(Side &side, const std::string &clock, const std::string &strip) {
  const Names all = names_of(side.file, strip, {});
  const auto found = all.find(clock);
  if (found == all.end())
    throw std::invalid_argument(fmt::format("{} has no signal {}{} to be the clock", side.file.file(), strip, clock));
  side.edges = rising_edges(side.file.load({found->second->handle}).front());
  if (side.edges.empty())
    throw std::invalid_argument(fmt::format("{}: {} never rises, so it is no clock", side.file.file(), clock));
}

std::string type_of(const Signal &signal) {
  return signal.kind == SignalKind::kBits ? fmt::format("{} bits", signal.width) : name_of(signal.kind);
}

struct Pair {
  const std::string *name;
  const Signal *a, *b;
};

std::vector<Pair> pair_up(const Side &a, const Side &b, DiffReport &report) {
  std::vector<Pair> pairs;
  for (const auto &[name, signal] : a.names) {
    const auto other = b.names.find(name);
    if (other == b.names.end())
      report.only_a.push_back(name);
    else if (const std::string x = type_of(*signal), y = type_of(*other->second); x != y)
      report.incompatible.push_back({name, x, y});
    else
      pairs.push_back({&name, signal, other->second});
  }
  for (const auto &[name, signal] : b.names)
    if (a.names.count(name) == 0) report.only_b.push_back(name);
  return pairs;
}

/// The lists of signals of one side, each read once however many names it has.
std::map<std::uint32_t, ChangeList> load(const Side &side, const std::vector<Pair> &pairs, std::size_t begin,
                                         std::size_t end, const Signal *Pair::*which) {
  std::map<std::uint32_t, ChangeList> lists;
  for (std::size_t i = begin; i < end; ++i)
    lists[(pairs[i].*which)->handle];
  std::vector<std::uint32_t> handles;
  for (const auto &entry : lists)
    handles.push_back(entry.first);
  std::vector<ChangeList> read = side.file.load(handles);
  for (std::size_t i = 0; i < handles.size(); ++i)
    lists[handles[i]] = side.convert(std::move(read[i]));
  return lists;
}

/// By the naming rule of rtl/.
bool is_register(const std::string &name) { return name.size() > 2 && name.compare(name.size() - 2, 2, "_q") == 0; }

/// Calls visit(pair, list in a, list in b) for all pairs, some of them in memory at a time.
template <class Visit>
void for_each_pair(const Side &a, const Side &b, const std::vector<Pair> &pairs, const Visit &visit) {
  for (std::size_t begin = 0; begin < pairs.size(); begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, pairs.size());
    const auto in_a = load(a, pairs, begin, end, &Pair::a), in_b = load(b, pairs, begin, end, &Pair::b);
    for (std::size_t i = begin; i < end; ++i)
      visit(pairs[i], in_a.at(pairs[i].a->handle), in_b.at(pairs[i].b->handle));
  }
}

std::vector<DifferingSignal> compare_all(const Side &a, const Side &b, const std::vector<Pair> &pairs,
                                         const Window &window, const ValueRule &rule) {
  std::vector<DifferingSignal> differing;
  for_each_pair(a, b, pairs, [&](const Pair &pair, const ChangeList &in_a, const ChangeList &in_b) {
    SignalDifference difference = compare(in_a, in_b, window, rule);
    if (difference.intervals != 0)
      differing.push_back({*pair.name, pair.a->range, pair.a->kind, std::move(difference)});
  });
  const auto key = [](const DifferingSignal &s) {
    return std::tuple(s.difference.first, !is_register(s.name), std::string_view(s.name));
  };
  std::sort(differing.begin(), differing.end(),
            [&](const DifferingSignal &x, const DifferingSignal &y) { return key(x) < key(y); });
  return differing;
}

std::uint64_t minus(std::uint64_t time, std::int64_t offset) {
  const std::uint64_t moved = time - static_cast<std::uint64_t>(offset);
  if (offset > 0 && moved > time) return 0;
  if (offset < 0 && moved < time) return kForever;
  return moved;
}

/// By how much later b shows the value that a has at `begin`; 0: never.
std::int64_t delay(const ChangeList &list, std::uint64_t begin, const std::string &value) {
  for (std::size_t i = list.upper_bound(begin); i < list.size(); ++i)
    if (list.value(i) == value) return static_cast<std::int64_t>(list.time(i) - begin);
  return 0;
}

/// The shift that explains most differing signals. Candidates are told by the first one: one side takes the value that
/// the other has, later.
std::optional<Shift> find_shift(const Side &a, const Side &b, const std::vector<Pair> &pairs, const DiffReport &report,
                                const DiffOptions &options) {
  std::map<std::string, std::uint64_t> begins;
  for (const DifferingSignal &signal : report.differing)
    begins.emplace(signal.name, signal.difference.first);
  std::vector<Pair> differing;
  for (const Pair &pair : pairs)
    if (begins.count(*pair.name) != 0) differing.push_back(pair);

  const DifferingSignal &first = report.differing.front();
  const std::uint64_t begin = first.difference.first;
  std::int64_t late = 0, early = 0;
  for_each_pair(a, b, differing, [&](const Pair &pair, const ChangeList &in_a, const ChangeList &in_b) {
    if (*pair.name != first.name) return;
    late = delay(in_b, begin + static_cast<std::uint64_t>(options.offset), first.difference.a);
    early = -delay(in_a, begin, first.difference.b);
  });

  std::optional<Shift> best;
  for (const std::int64_t by : {late, early}) {
    if (by == 0) continue;
    Shift shift{by, 0};
    for_each_pair(a, b, differing, [&](const Pair &pair, const ChangeList &in_a, const ChangeList &in_b) {
      Window window{begins.at(*pair.name), 0, options.offset + by};
      if (by < 0) window.from += static_cast<std::uint64_t>(-by);
      window.to = std::min({a.end(), minus(b.end(), window.offset), options.to});
      if (window.from < window.to && compare(in_a, in_b, window, options.values).intervals == 0) ++shift.signals;
    });
    if (shift.signals != 0 && (!best || shift.signals > best->signals)) best = shift;
  }
  return best;
}

} // namespace

DiffReport diff(const FstFile &a, const FstFile &b, const DiffOptions &options) {
  DiffReport report;
  report.timescale = std::min(a.timescale(), b.timescale());
  Side in_a{a, power_of_ten(a.timescale() - report.timescale, a)};
  Side in_b{b, power_of_ten(b.timescale() - report.timescale, b)};
  if (!options.clock.empty()) {
    report.edges = true;
    find_edges(in_a, options.clock, options.strip_a);
    find_edges(in_b, options.clock, options.strip_b);
  }
  in_a.names = names_of(a, options.strip_a, options.filter);
  in_b.names = names_of(b, options.strip_b, options.filter);
  const std::vector<Pair> pairs = pair_up(in_a, in_b, report);
  if (pairs.empty() && report.incompatible.empty())
    throw std::invalid_argument(
        fmt::format("no signal is in both files ({} chosen of {}, {} of {}); look at the patterns of names and at the "
                    "scopes that the names begin with",
                    in_a.names.size(), a.file(), in_b.names.size(), b.file()));
  report.compared = pairs.size();

  report.a_end = in_a.end();
  report.b_end = minus(in_b.end(), options.offset);
  Window window{std::max({options.from, in_a.start(), minus(in_b.start(), options.offset)}),
                std::min({options.to, report.a_end, report.b_end}), options.offset};
  if (window.from > window.to)
    throw std::invalid_argument(fmt::format("nothing to compare: {} has times {} to {}, {} has {} to {} there, and "
                                            "{} to {} is asked for",
                                            a.file(), in_a.start(), report.a_end, b.file(),
                                            minus(in_b.start(), options.offset), report.b_end, options.from,
                                            options.to));
  report.from = window.from;
  report.to = window.to;
  report.differing = compare_all(in_a, in_b, pairs, window, options.values);
  if (!report.differing.empty()) report.shift = find_shift(in_a, in_b, pairs, report, options);
  if (options.common) {
    report.only_a.clear();
    report.only_b.clear();
  } else {
    report.ends_differ = std::min(report.a_end, options.to) != std::min(report.b_end, options.to);
  }
  return report;
}

} // namespace gradweave::wave
