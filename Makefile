# run: PHEW on the bundled RAMSES output     test: every test     bench: the benchmarks
# lint: format, clippy, docs                 setup: system packages that are missing

EXAMPLE = target/example/ramses_16/dm_1rank/output_00002
RESULTS = inselberg-out

.PHONY: run test bench lint setup

run: setup $(EXAMPLE)
	@mkdir -p $(RESULTS)
	cargo build --release
	cargo run --release --quiet -- phew $(EXAMPLE) --config configs/example.toml \
		-o $(RESULTS)/clumps.hdf5 --plot $(RESULTS)/clumps.png
	@echo; echo "catalogue: $(RESULTS)/clumps.hdf5"; echo "picture:   $(RESULTS)/clumps.png"

test: setup
	cargo test --workspace

bench: setup
	cargo bench

lint: setup
	@bash scripts/setup.sh --fuzz
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

setup:
	@bash scripts/setup.sh

$(EXAMPLE): tests/fixtures/ramses_16.tar.xz
	@mkdir -p target/example
	tar -xJf $< -C target/example
	@touch $@
