// Belongs to the precompiled headers, which need a target with a source.
int main() { return 0; }
