# find_package(kolmo) after cmake --install.
