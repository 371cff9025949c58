// What a device throws when it is used wrongly.
#pragma once

#include <stdexcept>

namespace gradweave {

/// A device was asked for something that it cannot do: a call out of turn, an argument out of range, memory that is
/// not there. The message names the call, the value and the remedy; the device is as it was before the call.
class DeviceError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace gradweave
