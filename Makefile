# run: clumps and haloes of the bundled outputs     test: every test     bench: the benchmarks
# lint: format, clippy, docs                 setup: system packages that are missing
# python: the wheel of the Python package, and its tests
# docs: the site, target/site/index.html
# install-capi: the library for C and Fortran in PREFIX (docs/in-situ.md)

EXAMPLES = target/example
AMR = $(EXAMPLES)/ramses_32/output_00002
PARTICLES = $(EXAMPLES)/gadget4_64/snapshot_004.hdf5
RESULTS = inselberg-out
# Further features of the tests: make test FEATURES=mpi
FEATURES =
# Another program to run than the one that is built for release: make run PROGRAM=target/debug/inselberg
PROGRAM =

.PHONY: run test bench lint setup python docs install-capi

run: setup $(AMR) $(PARTICLES)
	@mkdir -p $(RESULTS)
	$(if $(PROGRAM),,cargo build --release)
	$(or $(PROGRAM),cargo run --release --quiet --) phew $(AMR) --config configs/example.toml \
		-o $(RESULTS)/clumps.hdf5 --plot $(RESULTS)/clumps.png --report $(RESULTS)/clumps
	$(or $(PROGRAM),cargo run --release --quiet --) phew $(PARTICLES) --unbind \
		-o $(RESULTS)/haloes.hdf5 --plot $(RESULTS)/haloes.png --report $(RESULTS)/haloes

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

docs: setup
	@bash scripts/setup.sh --site
	cargo doc --workspace --no-deps --lib
	python3 scripts/site.py "$${MDBOOK:-$${CARGO_TARGET_DIR:-target}/tmp/site-tools/bin/mdbook}" "$${CARGO_TARGET_DIR:-target}/site"

install-capi:
	@bash scripts/install_capi.sh "$(PREFIX)" $(if $(NO_DEFAULT),--no-default-features) $(if $(FEATURES),--features $(FEATURES))

setup:
	@bash scripts/setup.sh

$(AMR): tests/fixtures/ramses_32.tar.xz
$(PARTICLES): tests/fixtures/gadget4_64.tar.xz
$(AMR) $(PARTICLES):
	@mkdir -p $(EXAMPLES)
	tar -xJf $< -C $(EXAMPLES)
	@touch $@
