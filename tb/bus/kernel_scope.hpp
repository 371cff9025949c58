// SystemC's kernel, which a process has once: whose turn it is.
#pragma once

#include <mutex>
#include <systemc>

namespace gradweave::tb {

/// The kernel works on one context at a time, a global variable that says where new modules belong and what sc_start()
/// runs, and no two threads may be in it. A scope makes `context` the one and keeps other threads out until it ends;
/// scopes of a thread nest.
class KernelScope {
public:
  explicit KernelScope(sc_core::sc_simcontext *context);
  ~KernelScope();
  KernelScope(const KernelScope &) = delete;
  KernelScope &operator=(const KernelScope &) = delete;

private:
  std::unique_lock<std::recursive_mutex> turn_;
  sc_core::sc_simcontext *before_;
};

} // namespace gradweave::tb
