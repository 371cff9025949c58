#include "base/process/heartbeat.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace gradweave {
namespace {

constexpr int kBeatMilliseconds = 200;

} // namespace

Heartbeat::Heartbeat(ProgressDisplay &display) : display_(display), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (stop_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this] { beat(); });
}

Heartbeat::~Heartbeat() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(stop_);
}

void Heartbeat::beat() {
  while (true) {
    pollfd stop{stop_, POLLIN, 0};
    if (const int ready = ::poll(&stop, 1, kBeatMilliseconds); ready > 0 || (ready < 0 && errno != EINTR)) return;
    const std::lock_guard<std::mutex> guard(mutex_);
    display_.tick();
  }
}

} // namespace gradweave
