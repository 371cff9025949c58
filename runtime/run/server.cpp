#include "runtime/run/server.hpp"

#include "compiler/ir/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace gradweave::runtime {
namespace {

constexpr std::size_t kAhead = 2;          ///< quanta in the ring
constexpr std::uint32_t kTags = 1U << 16U; ///< tags of MARKs count modulo this

/// A request that has not ended.
struct Live {
  std::size_t request = 0;
  std::size_t next = 0;     ///< quantum
  std::uint64_t passed = 0; ///< times that another was chosen since it was
};

class Server {
public:
  Server(Device &device, const std::vector<ServedJob> &jobs, std::vector<Arrival> arrivals, const ServeOptions &options)
      : device_(device), jobs_(jobs), options_(options) {
    check(arrivals);
    std::vector<std::size_t> order(arrivals.size()); // of one cycle as they are named
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::make_pair(arrivals[a].cycle, a) < std::make_pair(arrivals[b].cycle, b);
    });
    for (const std::size_t i : order) {
      const Arrival &arrival = arrivals[i];
      service_.requests.push_back({arrival, 0, 0});
      all_quanta_ += jobs_[arrival.job].quanta.size();
    }
  }

  Service run() {
    device_.open(places());
    timed_ = device_.now() != 0;
    bool goes_on = true;
    while (goes_on && service_.quanta < all_quanta_) {
      admit();
      while (under_way_.size() < kAhead && !live_.empty()) {
        append();
        admit();
      }
      goes_on = device_.advance(next_event());
      take_marks();
    }
    device_.close();
    service_.status = device_.wait();
    return std::move(service_);
  }

private:
  void check(const std::vector<Arrival> &arrivals) const {
    for (const ServedJob &job : jobs_)
      if (job.quanta.empty()) throw std::invalid_argument(fmt::format("job {} has no commands", job.name));
    for (std::size_t i = 0; i < arrivals.size(); ++i)
      if (arrivals[i].job >= jobs_.size())
        throw std::invalid_argument(
            fmt::format("arrival {} asks for job {}; there are {}, from 0", i, arrivals[i].job, jobs_.size()));
  }

  std::uint32_t places() const {
    std::size_t most = 0;
    for (const ServedJob &job : jobs_)
      for (const auto &quantum : job.quanta)
        most = std::max(most, quantum.size());
    return static_cast<std::uint32_t>(compiler::round_up(kAhead * most, isa::kRingMultiple));
  }

  /// What has arrived.
  void admit() {
    while (arrived_ < service_.requests.size() &&
           (!timed_ || service_.requests[arrived_].arrival.cycle <= device_.now()))
      live_.push_back({arrived_++, 0, 0});
    service_.most_present = std::max<std::uint64_t>(service_.most_present, live_.size());
  }

  /// Until when there is nothing to do but for marks.
  std::uint64_t next_event() const {
    if (under_way_.size() == kAhead || arrived_ == service_.requests.size()) return timing::kNever;
    return service_.requests[arrived_].arrival.cycle;
  }

  /// The smaller the sooner.
  auto rank(const Live &live) const {
    const Arrival &arrival = service_.requests[live.request].arrival;
    const ServedJob &job = jobs_[arrival.job];
    const std::uint64_t urgent = live.passed >= options_.patience ? live.passed : 0;
    const std::uint64_t due =
        job.deadline == 0 ? std::numeric_limits<std::uint64_t>::max() : arrival.cycle + job.deadline;
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return std::make_tuple(kMost - urgent, kMost - job.priority, due, live.request);
  }

  void append() {
    const auto chosen = std::min_element(live_.begin(), live_.end(),
                                         [this](const Live &a, const Live &b) { return rank(a) < rank(b); });
    service_.most_passed = std::max(service_.most_passed, chosen->passed);
    for (Live &live : live_)
      ++live.passed;
    chosen->passed = 0;
    ServedRequest &request = service_.requests[chosen->request];
    const ServedJob &job = jobs_[request.arrival.job];
    std::vector<isa::Command> quantum = job.quanta[chosen->next];
    for (isa::Command &command : quantum)
      if (isa::is_mark(command)) command.set(isa::field::TAG, static_cast<std::uint32_t>(appended_ % kTags));
    ++appended_;
    const std::uint64_t cycle = device_.append(quantum);
    if (chosen->next == 0) request.begin = cycle;
    const bool last = ++chosen->next == job.quanta.size();
    under_way_.push_back({chosen->request, last});
    if (last) live_.erase(chosen);
  }

  void take_marks() {
    while (const auto mark = device_.take_mark()) {
      if (mark->tag != service_.quanta % kTags)
        throw std::logic_error(fmt::format("the mark of quantum {} has tag {}", service_.quanta, mark->tag));
      if (under_way_.front().last) service_.requests[under_way_.front().request].finish = mark->cycle;
      under_way_.pop_front();
      ++service_.quanta;
      if (options_.progress) options_.progress(service_.quanta, all_quanta_);
    }
  }

  struct UnderWay {
    std::size_t request;
    bool last; ///< of its quanta
  };

  Device &device_;
  const std::vector<ServedJob> &jobs_;
  const ServeOptions &options_;
  Service service_;
  std::uint64_t all_quanta_ = 0, appended_ = 0;
  std::size_t arrived_ = 0;
  bool timed_ = false;
  std::vector<Live> live_; ///< of which a quantum can be appended
  std::deque<UnderWay> under_way_;
};

} // namespace

bool Service::met_deadline(const std::vector<ServedJob> &jobs, std::size_t request) const {
  const std::uint64_t deadline = jobs[requests[request].arrival.job].deadline;
  return deadline == 0 || requests[request].latency() <= deadline;
}

std::vector<isa::Command> make_quantum(std::vector<isa::Command> stream, const NpuConfig &npu) {
  const auto barrier = static_cast<std::uint8_t>(npu.semaphores - 1);
  for (const isa::Command &command : stream) {
    const auto decoded = isa::decode(command);
    if (!decoded) continue;
    const auto &[waits, posts] = decoded->sync;
    const bool used =
        std::any_of(waits.begin(), waits.end(), [&](const isa::Wait &w) { return w.semaphore == barrier; }) ||
        std::any_of(posts.begin(), posts.end(), [&](std::uint8_t p) { return p == barrier; });
    if (used)
      throw std::invalid_argument(
          fmt::format("the stream uses semaphore {}, the last of {}, which the end of a quantum "
                      "needs; use an NPU with more",
                      barrier, npu.name));
  }
  const auto put = [&](const isa::SyncCommand &op, bool waits) {
    isa::Decoded d;
    d.op = op;
    if (waits)
      d.sync.waits[0] = {barrier, static_cast<std::uint8_t>(npu.cores + 1)};
    else
      d.sync.posts[0] = barrier;
    stream.push_back(isa::encode(d));
  };
  for (std::uint32_t core = 0; core < npu.cores; ++core)
    put({static_cast<std::uint8_t>(static_cast<std::uint32_t>(isa::Engine::COMPUTE0) + core)}, false);
  put({static_cast<std::uint8_t>(isa::Engine::STORE), true}, false);
  put({static_cast<std::uint8_t>(isa::Engine::LOAD)}, true);
  return stream;
}

Service serve(Device &device, const std::vector<ServedJob> &jobs, std::vector<Arrival> arrivals,
              const ServeOptions &options) {
  return Server(device, jobs, std::move(arrivals), options).run();
}

} // namespace gradweave::runtime
