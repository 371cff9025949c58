// The command gradweave, as far as layers go: cosim and simulate. It hands all else on.
#include "app/cli/parts.hpp"

int main(int argc, char **argv) { return gradweave::cli::run_program(gradweave::cli::layers_parts(), argc, argv); }
