# Front doors; CMakeLists.txt and the presets in CMakePresets.json do the work.
.PHONY: help demo test bench bench-runtime lint
help:
	@echo 'make demo    build Kolmo and infer who drives whom in US macroeconomic data'
	@echo 'make test    every test: release build, ASan and UBSan, changed kernels under TSan'
	@echo 'make bench   speed, beside scikit-learn and infomeasure'
	@echo 'make bench-runtime    tuner, memory, pipeline, busy ratio and monitor; DEVICE=cuda for the GPU'
	@echo 'make lint    layering, sizes, formatting, spelling, static analysis'
	@echo 'CUDA=1 first fetches a CUDA toolkit on a machine that has none'

demo:
	@tools/bootstrap.sh build
	@tools/demo.sh

test:
	@tools/bootstrap.sh test
	@tools/test.sh

bench:
	@tools/bootstrap.sh bench
	@tools/bench.sh

bench-runtime:
	@tools/bootstrap.sh bench
	@tools/bench_runtime.sh

lint:
	@tools/bootstrap.sh lint
	@tools/lint.sh
