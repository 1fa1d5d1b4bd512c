#!/usr/bin/env bash
# Prints the nvcc that the build would use, in the order of cmake/cuda.cmake; fails when there is none.
cd "$(dirname "$0")/.." || exit 1
for dir in "${CUDA_HOME:+$CUDA_HOME/bin}" .cuda/toolkit/bin /usr/local/cuda/bin; do
  if [ -n "$dir" ] && [ -x "$dir/nvcc" ]; then echo "$dir/nvcc"; exit 0; fi
done
command -v nvcc
