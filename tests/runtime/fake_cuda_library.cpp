// A stand-in for a CUDA library, with a name that no real library has.
extern "C" int kolmo_fake_version() { return 13; }
