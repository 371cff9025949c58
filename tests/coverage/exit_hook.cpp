// Linked into all programs of a coverage build, with the linker's --wrap=_exit: counters are written however a process
// ends.
extern "C" {
int __llvm_profile_write_file();
[[noreturn]] void __real__exit(int status);
[[noreturn]] void __wrap__exit(int status) {
  __llvm_profile_write_file();
  __real__exit(status);
}
}
