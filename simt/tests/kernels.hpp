#pragma once
// Entry points of the test kernels, on the device the program is built for; all pointers are device memory.

#ifdef SIMT_TESTS_ON_GPU
#define DEVICE gpu
#else
#define DEVICE emulated
#endif

namespace DEVICE {

void axpy(const float* x, float* y, float a, int n);
void scan(const float* x, float* y, int rows);
void scan(const double* x, double* y, int rows);
void matmul(const float* A, const float* B, float* C, int m, int n, int k);
void softmax(const float* x, float* y, int rows, int n, int block);
void softmax(const double* x, double* y, int rows, int n, int block);
void histogram(const int* x, unsigned* counts, float* sums, int n, int bins, int blocks);
void sums_of_tiles(const float* x, float* sums, int n);

void round_to_half(const float* x, void* y, int n);
void round_to_bfloat16(const float* x, void* y, int n);
void multiply_half(const void* A, const void* B, float* C, int m, int n, int k);
void multiply_bfloat16(const void* A, const void* B, float* C, int m, int n, int k);

void check_warp_functions(int* failed, int threads);
void check_block_functions(int* failed, int threads);
void check_partial_warp(int* failed);
void mark_coordinates(int* seen);
void check_atomics(int* failed, int threads);
void check_numbers(int* failed);
void check_small_floats(int* failed);

void run_barriers(int* out, int n, int blocks, int threads);
void run_shuffles(int* out, int n, int blocks, int threads);
void run_empty(int* out, int blocks, int threads);

}  // namespace DEVICE
