#include "kolmo/command.hpp"

int main(int argc, char** argv) { return kolmo::command(argc, argv); }
