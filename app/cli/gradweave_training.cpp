// The same with training steps, pages, and what shows a network of one's own and its plans.
#include "app/cli/parts.hpp"

int main(int argc, char **argv) { return gradweave::cli::run_program(gradweave::cli::training_parts(), argc, argv); }
