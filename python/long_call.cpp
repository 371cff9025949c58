#include "python/long_call.hpp"

#include <pybind11/pybind11.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <optional>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace gradweave::python {
namespace {

namespace py = pybind11;

constexpr std::chrono::milliseconds kLook(50); ///< between looks at signals

class EventFile {
public:
  EventFile() : fd_(::eventfd(0, EFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~EventFile() { ::close(fd_); }
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;
  int fd() const { return fd_; }

private:
  int fd_;
};

/// Work in a thread, and what it threw.
class Worker {
public:
  Worker(const std::function<void(const SignalGuard &)> &work, const SignalGuard &signals)
      : thread_([this, &work, &signals] {
          try {
            work(signals);
          } catch (...) {
            thrown_ = std::current_exception();
          }
          const std::lock_guard<std::mutex> lock(mutex_);
          ended_ = true;
          changed_.notify_all();
        }) {}
  ~Worker() { thread_.join(); }
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Whether it has ended.
  bool wait(std::chrono::milliseconds most) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, most, [this] { return ended_; });
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::exception_ptr thrown_;
  std::thread thread_; ///< last: it uses the others
};

} // namespace

void run_long(const std::function<void(const SignalGuard &)> &work) {
  const EventFile end;
  const SignalGuard signals(end.fd());
  std::optional<py::error_already_set> raised;
  {
    const py::gil_scoped_release release;
    Worker worker(work, signals);
    while (!worker.wait(kLook)) {
      const py::gil_scoped_acquire acquire;
      if (raised || PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      ::eventfd_write(end.fd(), SIGINT);
    }
    if (!raised) worker.rethrow();
  }
  if (raised) throw py::error_already_set(*raised);
}

} // namespace gradweave::python
