# Debian 12 packages; the reason for each is in CONTRIBUTING.md.
find_package(Threads REQUIRED)
find_package(hwy REQUIRED)
find_package(fmt REQUIRED)
find_package(FastFloat REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(Boost REQUIRED)
find_library(OPENBLAS openblas REQUIRED)  # opened when it is needed
find_library(MICROHTTPD microhttpd REQUIRED)
