#include "isa/assembler.hpp"
