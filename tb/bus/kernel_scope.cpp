#include "tb/bus/kernel_scope.hpp"

#include <utility>

namespace gradweave::tb {

namespace {

std::recursive_mutex &kernel_turn() {
  static std::recursive_mutex mutex;
  return mutex;
}

} // namespace

KernelScope::KernelScope(sc_core::sc_simcontext *context)
    : turn_(kernel_turn()), before_(std::exchange(sc_core::sc_curr_simcontext, context)) {}

KernelScope::~KernelScope() { sc_core::sc_curr_simcontext = before_; }

} // namespace gradweave::tb
