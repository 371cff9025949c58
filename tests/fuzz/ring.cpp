// Any bits as commands in a ring, and any bits as its host: the tail at any time, legal or not, marks taken or left,
// the end of the ring. The NPU refuses what it has to; followed step by step and as a function of all writes of the
// host, the timing model gives the same; and it ends as the functional model, with the same marks, bytes and blocks.
#include "sw_models/timing/npu_timing.hpp"
#include "tests/fuzz/command_checks.hpp"

namespace {

namespace fuzz = gradweave::fuzz;
namespace isa = gradweave::isa;
namespace timing = gradweave::timing;
using fuzz::require;
using timing::HostWrite;

constexpr std::size_t kScript = 64;         ///< bytes of the host's, two a step
constexpr std::uint64_t kBetweenWrites = 3; ///< cycles, at least
constexpr std::uint32_t kWatchdog = 2000;   ///< longer than all silences of this NPU
constexpr int kMostSlices = 100'000;        ///< of a run, or it never ends

/// Drives the timing model step by step, and keeps what it wrote.
class Host {
public:
  Host(const gradweave::Machine &npu, const std::vector<isa::Command> &stream, const timing::RunOptions &options)
      : stream_(stream), places_(options.ring.places), npu_(npu, stream.data(), 0, options, timing::kNever, progress_) {
    require(npu_.begin(), "a ring that cannot be opened");
  }

  void step(std::uint8_t what, std::uint8_t how) {
    switch (what & 3U) {
    case 0:
      raise(1 + how % 16);
      break;
    case 1:
      take();
      break;
    case 2:
      write_illegal_tail(how);
      break;
    default:
      wait(1 + std::uint64_t{how} * (what >> 2U) / 8);
      break;
    }
  }

  /// All that is left, and the end.
  void finish() {
    for (int slices = 0; goes_on_; ++slices) {
      require(slices < kMostSlices, "a run that never ends");
      if (!take() && tail_ < stream_.size()) raise(8);
      if (tail_ == stream_.size() && open_) close();
      wait(100);
    }
    require(!write(HostWrite::Kind::kTail, tail_ + 1) && !write(HostWrite::Kind::kClose, 0),
            "a run that has ended takes commands");
  }

  std::uint32_t tail() const { return tail_; }
  const std::vector<HostWrite> &writes() const { return writes_; }
  const std::vector<std::size_t> &refused() const { return refused_; }
  timing::RunResult result() { return npu_.finish(); }

private:
  bool write(HostWrite::Kind kind, std::uint32_t tail) {
    wait(kBetweenWrites);
    const HostWrite write{kind, now_, tail};
    const bool accepted = npu_.write(write);
    if (tail > stream_.size()) { // has to be refused, and cannot be told to run(), which knows no more commands
      require(!accepted, "a tail beyond the ring is taken");
      return false;
    }
    if (!accepted) refused_.push_back(writes_.size());
    writes_.push_back(write);
    return accepted;
  }

  void raise(std::uint32_t commands) {
    const std::uint32_t to = std::min(tail_ + commands, static_cast<std::uint32_t>(stream_.size()));
    const bool was_open = open_ && goes_on_;
    const bool accepted = write(HostWrite::Kind::kTail, to);
    require(!accepted || was_open, "a closed ring takes commands");
    require(accepted || to > places_ || !was_open || !goes_on_, "a tail within a ring's first round is refused");
    if (accepted) tail_ = to;
  }

  bool take() {
    const bool there = taken_ < npu_.marks().size();
    const bool accepted = write(HostWrite::Kind::kTakeMark, 0);
    require(accepted || !there, "a mark that completed cannot be taken");
    taken_ += accepted ? 1 : 0;
    return accepted;
  }

  void write_illegal_tail(std::uint8_t how) {
    const std::uint32_t tail = how % 2 == 0 ? tail_ - 1 - how / 2 : tail_ + places_ + 1 + how / 2;
    wait(kBetweenWrites);
    require(!npu_.write({HostWrite::Kind::kTail, now_, tail}), "a tail that falls, or is beyond the ring, is taken");
  }

  void close() {
    const bool was_open = goes_on_;
    const bool accepted = write(HostWrite::Kind::kClose, 0);
    require(accepted || !was_open || !goes_on_, "a ring cannot be closed");
    open_ = false;
    require(!write(HostWrite::Kind::kClose, 0), "a ring is closed twice");
  }

  void wait(std::uint64_t cycles) {
    now_ += cycles;
    goes_on_ = npu_.play_until(now_);
  }

  const std::vector<isa::Command> &stream_;
  std::uint32_t places_;
  timing::ProgressLog progress_{false};
  timing::NpuTiming npu_;
  std::uint64_t now_ = 0;
  std::uint32_t tail_ = 0;
  std::size_t taken_ = 0;
  bool open_ = true, goes_on_ = true;
  std::vector<HostWrite> writes_;
  std::vector<std::size_t> refused_; ///< by place
};

void compare_marks(const std::vector<std::uint16_t> &tags, const std::vector<timing::Mark> &marks) {
  require(tags.size() == marks.size() && std::equal(tags.begin(), tags.end(), marks.begin(),
                                                    [](std::uint16_t tag, const auto &m) { return tag == m.tag; }),
          "functional and timing model have different marks");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const gradweave::Machine config = fuzz::small_npu();
  static gradweave::DeviceMemory memory(config.memory.size_bytes);
  if (size < kScript) return 0;
  const std::vector<isa::Command> stream = fuzz::commands_of(data + kScript, size - kScript);
  const std::uint32_t places = isa::kRingMultiple * (1 + data[0] % 2U);
  if (stream.empty()) return 0;
  const std::uint64_t bytes = std::uint64_t{places} * sizeof(isa::Command);
  if (fuzz::overwrites_itself(stream, bytes, fuzz::limits_of(config))) return 0;

  timing::RunOptions options;
  options.stream_addr = fuzz::kStreamAt;
  options.watchdog = kWatchdog;
  options.ring.places = places;
  Host host(config, stream, options);
  for (std::size_t i = 0; i < kScript; i += 2)
    host.step(data[i], data[i + 1]);
  host.finish();

  options.ring.host = host.writes();
  const timing::RunResult whole = timing::run(config, stream, options);
  const timing::RunResult stepped = host.result();
  require(whole.error == stepped.error && whole.error_index == stepped.error_index, "another end step by step");
  if (whole.ok())
    require(whole.counters == stepped.counters && whole.marks == stepped.marks && whole.commands == stepped.commands &&
                whole.refused == host.refused(),
            "another run step by step");

  std::memset(memory.data(), 0x3f, fuzz::kMemory);
  gradweave::FunctionalNpu npu(config, memory);
  npu.open(fuzz::kStreamAt, places);
  for (std::uint32_t i = 0; i < host.tail(); ++i) { // one at a time: a round later it lies where another did
    memory.write(fuzz::kStreamAt + i % places * sizeof(isa::Command), &stream[i], sizeof(isa::Command));
    npu.raise(i + 1);
    npu.run();
  }
  npu.close();
  if (whole.ok()) compare_marks(npu.marks(), whole.marks);
  fuzz::compare(npu, whole, config.cores);
  return 0;
}
