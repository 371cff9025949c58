// The functions of toml++, whose header only declares them (TOML_HEADER_ONLY=0).
#define TOML_IMPLEMENTATION
#include "isa/toml.hpp"
