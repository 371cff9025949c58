#include "device/backend.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

constexpr std::array<Backend, 3> kBackends{Backend::kRtl, Backend::kTiming, Backend::kFunctional};

} // namespace

Backend parse_backend(std::string_view name) {
  for (const Backend backend : kBackends)
    if (to_string(backend) == name) return backend;
  throw std::invalid_argument(fmt::format("unknown backend '{}'; use one of: {}", name, backend_names()));
}

std::string_view to_string(Backend backend) {
  switch (backend) {
  case Backend::kRtl:
    return "rtl";
  case Backend::kTiming:
    return "timing";
  case Backend::kFunctional:
    return "functional";
  }
  return "?";
}

std::string backend_names() {
  std::string names;
  for (const Backend backend : kBackends)
    names += (names.empty() ? "" : ", ") + std::string(to_string(backend));
  return names;
}

bool has_data(Backend backend) { return backend != Backend::kTiming; }
bool has_time(Backend backend) { return backend != Backend::kFunctional; }

std::unique_ptr<Device> make_device(Backend backend, const Machine &npu, const DeviceOptions &options) {
  switch (backend) {
  case Backend::kRtl:
    return make_rtl_device(npu, options);
  case Backend::kTiming:
    return make_timing_device(npu, options);
  case Backend::kFunctional:
    return make_functional_device(npu, options);
  }
  throw std::logic_error("a backend without device");
}

} // namespace gradweave::runtime
