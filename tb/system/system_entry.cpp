// Another entry of the testbench's library: systems.
#include "tb/system/rtl_system.hpp"

extern "C" void gradweave_make_rtl_system(const gradweave::SystemConfig &system, const gradweave::SystemFaults &faults,
                                          const std::vector<gradweave::tb::RtlNpu> &npus,
                                          std::unique_ptr<gradweave::SystemDevices> &made) {
  made = gradweave::tb::make_rtl_system(system, faults, npus);
}
