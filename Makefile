# Front doors; CMakeLists.txt and the presets in CMakePresets.json do the work.
.PHONY: help demo test test-peers check mutants wheel bench bench-runtime study lint site
help:
	@echo 'make demo    build Kolmo and infer who drives whom in a furnace and in a simulated system'
	@echo 'make test    the tests of the release build, but for the long ones'
	@echo 'make test-peers    operators beside other programs, 50 random problems each; after make test'
	@echo 'make check   the long tests, all under ASan and UBSan, changed kernels under TSan, fuzzing'
	@echo 'make mutants  changes signs, bounds and indices, and sees whether validation notices; about an hour'
	@echo 'make wheel   the Python package as a wheel that carries its libraries, tested'
	@echo 'make bench   speed, beside scikit-learn and infomeasure'
	@echo 'make bench-runtime    tuner, memory, pipeline, busy ratio and monitor; DEVICE=cuda for the GPU'
	@echo 'make study   false positives and power of surrogates, and what networks find; about two hours'
	@echo 'make lint    layering, sizes, formatting, spelling, static analysis'
	@echo 'make site    the documentation as a site in out/site; needs python3-venv'
	@echo 'CUDA=1 first fetches a CUDA toolkit on a machine that has none'

demo:
	@tools/bootstrap.sh build
	@tools/demo.sh

test:
	@tools/bootstrap.sh test
	@tools/test.sh release

test-peers:
	@tools/test_peers.sh

check:
	@tools/bootstrap.sh check
	@tools/test.sh check

mutants:
	@tools/bootstrap.sh test
	@python3 tools/mutate.py

wheel:
	@tools/bootstrap.sh python
	@tools/wheel.sh

bench:
	@tools/bootstrap.sh bench
	@tools/bench.sh

bench-runtime:
	@tools/bootstrap.sh bench
	@tools/bench_runtime.sh

study:
	@tools/bootstrap.sh build
	@tools/study.sh

lint:
	@tools/bootstrap.sh lint
	@tools/lint.sh

site:
	@tools/site.sh
