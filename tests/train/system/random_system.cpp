#include "tests/train/system/random_system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>
#include <vector>

namespace gradweave::runtime::train {
namespace {

class Writer {
public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  RandomSystem write() {
    text_ = fmt::format("name = \"random\"\n[host]\nnotify_ns = {}\n", 1 + below(200));
    const std::uint32_t ports = below(3), links = 1 + below(3), flashes = below(3), processors = below(2);
    for (std::uint32_t i = 0; i < ports; ++i)
      text_ += fmt::format("[[port]]\nname = \"port{}\"\nbandwidth_gb_s = {}\n", i, 1 + below(16));
    for (std::uint32_t i = 0; i < links; ++i)
      write_link(i, ports);
    for (std::uint32_t i = 0; i < flashes; ++i)
      text_ += fmt::format("[[flash]]\nname = \"flash{}\"\nsize_bytes = {}\nchannels = {}\nread_ns = {}\n"
                           "channel_gb_s = {}\nprogram_ns = {}\n",
                           i, 4096 * (below(6) == 0 ? 1 + below(20) : 256), 1 + below(9), below(5000), 0.5 + below(4),
                           below(4) == 0 ? 0 : below(9000));
    for (std::uint32_t i = 0; i < processors; ++i)
      text_ +=
          fmt::format("[[processor]]\nname = \"processor{}\"\nstart_ns = {}\ngb_s = {}\n", i, below(900), 1 + below(8));
    devices_ = 1 + below(4);
    for (std::uint32_t i = 0; i < devices_; ++i)
      write_device(i, links, flashes, processors);
    if (below(4) == 0) write_tables();
    below(2) == 0 ? write_cut() : write_routes();
    spoil();
    constexpr std::uint32_t kBatches[] = {8, 8, 8, 4, 12, 7, 1, 16};
    return {text_, kBatches[below(std::size(kBatches))]};
  }

private:
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }

  std::string device() { return fmt::format("d{}", below(devices_)); }

  void write_link(std::uint32_t i, std::uint32_t ports) {
    text_ += fmt::format("[[link]]\nname = \"link{}\"\nbandwidth_gb_s = {}\nlatency_ns = {}\npacket_bytes = {}\n"
                         "overhead_bytes = {}\n",
                         i, 1 + below(16), below(500), 64U << below(7), below(50));
    if (ports > 0 && below(2) == 0) text_ += fmt::format("port = \"port{}\"\n", below(ports));
  }

  void write_device(std::uint32_t i, std::uint32_t links, std::uint32_t flashes, std::uint32_t processors) {
    constexpr const char *kNpus[] = {"test4x8", "test6x10", "test8"};
    const bool storage = below(2) == 0;
    text_ += fmt::format("[[device]]\nname = \"d{}\"\nrole = \"{}\"\nnpu = \"../{}.toml\"\nlink = \"link{}\"\n", i,
                         storage ? "storage" : "npu", kNpus[below(std::size(kNpus))], below(links));
    if (storage && flashes > 0) text_ += fmt::format("flash = \"flash{}\"\n", below(flashes));
    if (processors > 0 && below(3) > 0) text_ += fmt::format("processor = \"processor{}\"\n", below(processors));
    if (below(3) == 0) text_ += fmt::format("dram_gb_s = {}\n", 1 + below(9));
  }

  void write_tables() {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < devices_; ++i)
      if (below(2) == 0) names.push_back(fmt::format("\"d{}\"", i));
    text_ += fmt::format("[tables]\ndevices = [{}]\nsends = \"{}\"\n", fmt::join(names, ", "),
                         below(2) == 0 ? "sums" : "rows");
  }

  void write_order() {
    if (below(2) == 0) text_ += fmt::format("micro_batches = {}\n", 1U << below(3));
    if (below(3) == 0) text_ += fmt::format("first = \"{}\"\n", below(2) == 0 ? "backward" : "forward");
    if (below(3) == 0) text_ += fmt::format("moves = \"{}\"\n", below(2) == 0 ? "eager" : "lazy");
  }

  void write_cut() {
    std::vector<std::string> lower;
    for (std::uint32_t i = 0; i + 1 < devices_; ++i)
      lower.push_back(fmt::format("\"d{}\"", i));
    text_ += fmt::format("[partition]\ncut = {}\nlower = [{}]\nupper = \"d{}\"\n", below(5), fmt::join(lower, ", "),
                         devices_ - 1);
    write_order();
  }

  void write_routes() {
    for (std::uint32_t route = 0, count = 1 + below(4); route < count; ++route) {
      std::vector<std::string> names;
      std::vector<std::uint32_t> cuts;
      const std::uint32_t legs = 1 + below(devices_), first = below(devices_);
      for (std::uint32_t leg = 0; leg < legs; ++leg) {
        names.push_back(fmt::format("\"d{}\"", (first + leg) % devices_));
        if (leg > 0) cuts.push_back((cuts.empty() ? 0 : cuts.back()) + below(3));
      }
      text_ += fmt::format("[[route]]\nshare = {}\ndevices = [{}]\ncuts = [{}]\n", 1 + below(2), fmt::join(names, ", "),
                           fmt::join(cuts, ", "));
    }
    if (below(2) == 0) {
      text_ += "[partition]\n";
      write_order();
    }
  }

  /// A line that is left out or there twice, a number that is another, or a name.
  void spoil() {
    if (below(4) != 0) return;
    std::vector<std::size_t> lines{0};
    for (std::size_t i = 0; i + 1 < text_.size(); ++i)
      if (text_[i] == '\n') lines.push_back(i + 1);
    const std::size_t begin = lines[below(lines.size())], end = text_.find('\n', begin) + 1;
    const std::string line = text_.substr(begin, end - begin);
    const std::size_t equals = line.find(" = ");
    const std::string key = equals == std::string::npos ? "x" : line.substr(0, equals);
    const std::string changed[] = {"",
                                   line + line,
                                   key + " = 4294967296\n",
                                   key + " = -1\n",
                                   key + " = \"d9\"\n",
                                   key + " = []\n",
                                   "[" + key + "]\n",
                                   key + " = 0\n"};
    text_.replace(begin, end - begin, changed[below(std::size(changed))]);
  }

  std::mt19937_64 random_;
  std::string text_;
  std::uint32_t devices_ = 0;
};

} // namespace

RandomSystem random_system(std::uint64_t seed) { return Writer(seed).write(); }

} // namespace gradweave::runtime::train
