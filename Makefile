# run: PHEW on the bundled RAMSES output     test: every test     bench: the benchmarks
# lint: format, clippy, docs                 setup: system packages that are missing
# python: the wheel of the Python package, and its tests
# install-capi: the library for C and Fortran in PREFIX (docs/in-situ.md)

EXAMPLE = target/example/ramses_16/dm_1rank/output_00002
RESULTS = inselberg-out
# Further features of the tests: make test FEATURES=mpi
FEATURES =
# Another program to run than the one that is built for release: make run PROGRAM=target/debug/inselberg
PROGRAM =

.PHONY: run test bench lint setup python install-capi

run: setup $(EXAMPLE)
	@mkdir -p $(RESULTS)
	$(if $(PROGRAM),,cargo build --release)
	$(or $(PROGRAM),cargo run --release --quiet --) phew $(EXAMPLE) --config configs/example.toml \
		-o $(RESULTS)/clumps.hdf5 --plot $(RESULTS)/clumps.png --report $(RESULTS)/report
	@echo; echo "catalogue: $(RESULTS)/clumps.hdf5"; echo "picture:   $(RESULTS)/clumps.png"; echo "report:    $(RESULTS)/report/index.html"

test: setup
	cargo test --workspace $(if $(FEATURES),--features $(FEATURES))

bench: setup
	cargo bench

lint: setup
	@bash scripts/setup.sh --fuzz
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

python:
	bash python/check.sh

install-capi:
	@bash scripts/install_capi.sh "$(PREFIX)" $(if $(NO_DEFAULT),--no-default-features) $(if $(FEATURES),--features $(FEATURES))

setup:
	@bash scripts/setup.sh

$(EXAMPLE): tests/fixtures/ramses_16.tar.xz
	@mkdir -p target/example
	tar -xJf $< -C target/example
	@touch $@
