// SystemC's library refers to sc_main(); here the host runs the kernel through sc_start(), so it is never called.
#include <systemc>

int sc_main(int, char *[]) { return 1; }
