#include "sw_models/energy/access_counts.hpp"

#include <algorithm>

namespace gradweave {

const std::array<AccessCountForm, 13> &access_count_forms() {
  using C = AccessCounts;
  static const std::array<AccessCountForm, 13> forms{{{"macs", &C::macs},
                                                      {"idle_macs", &C::idle_macs},
                                                      {"adds", &C::adds},
                                                      {"operand_read_bytes", &C::operand_read_bytes},
                                                      {"sum_read_bytes", &C::sum_read_bytes},
                                                      {"result_write_bytes", &C::result_write_bytes},
                                                      {"vector_read_bytes", &C::vector_read_bytes},
                                                      {"vector_write_bytes", &C::vector_write_bytes},
                                                      {"load_write_bytes", &C::load_write_bytes},
                                                      {"store_read_bytes", &C::store_read_bytes},
                                                      {"bus_bytes", &C::bus_bytes},
                                                      {"dram_read_bytes", &C::dram_read_bytes},
                                                      {"dram_write_bytes", &C::dram_write_bytes}}};
  static_assert(sizeof(AccessCounts) == sizeof(forms) / sizeof(AccessCountForm) * sizeof(std::uint64_t),
                "a count without a name");
  return forms;
}

AccessCounts &AccessCounts::operator+=(const AccessCounts &o) {
  for (const AccessCountForm &form : access_count_forms())
    this->*form.count += o.*form.count;
  return *this;
}

bool AccessCounts::operator==(const AccessCounts &o) const {
  const auto &forms = access_count_forms();
  return std::all_of(forms.begin(), forms.end(),
                     [&](const AccessCountForm &form) { return this->*form.count == o.*form.count; });
}

} // namespace gradweave
