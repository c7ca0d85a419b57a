//! The functions for C against the library behind them, on the same cells in one process:
//!
//!     cargo bench -p inselberg-capi --bench door -- [threads, 2] [calls, 20] [both, structs, lists, c or rust]
//!
//! A mesh of level 7 with finer cells, 2 million leaves; densities change from call to call. `both` calls the
//! library directly and through C by turns, and compares times and labels. `structs` and `lists` do so too,
//! but C's densities lie as codes hold them ([`Layout`]). `c` and `rust` call one of them only, and print how
//! much memory the calls take beyond the program's own arrays.
#![allow(unsafe_code, reason = "the functions for C are called as C calls them")]

use inselberg::{Cells, Engine, Geometry, Persistence, PhewParams};
use inselberg_capi::abi::{
    EngineHandle, INSELBERG_ABI_VERSION, INSELBERG_DONE, inselberg_free, inselberg_open_serial_abi,
    inselberg_phew, inselberg_set, inselberg_set_box, inselberg_set_octs,
};
use inselberg_capi::abi_results::inselberg_labels;
use inselberg_capi::box_of::BoxOf;
use inselberg_capi::given::{
    GivenColumn, INSELBERG_F64, INSELBERG_I32, INSELBERG_U8, INSELBERG_U32, INSELBERG_U64, OutputColumn,
};
use std::ffi::CString;
use std::hint::black_box;
use std::ptr::{null, null_mut};
use std::time::Instant;

const BASE: u8 = 7;
const DEEPEST: u8 = 9;
const N_PEAKS: usize = 60;
const DENSITY: f64 = 3.0;

/// Octs as a program holds them.
#[derive(Default)]
struct Octs {
    level: Vec<u8>,
    position: Vec<[u32; 3]>,
    split: Vec<u8>,
    rho: Vec<f64>,
}

/// A field of peaks with noise.
struct Field(Vec<([f64; 3], f64, f64)>);

impl Field {
    fn new() -> Self {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1_u64 << 24) as f64
        };
        let peak = |_| ([random(), random(), random()], 20.0 + 80.0 * random(), 0.02 + 0.04 * random());
        Self((0..N_PEAKS).map(peak).collect())
    }

    fn density(&self, at: [f64; 3]) -> f64 {
        let square = |centre: &[f64; 3]| -> f64 {
            let distance = |a: usize| (at[a] - centre[a]).abs();
            (0..3).map(|a| distance(a).min(1.0 - distance(a)).powi(2)).sum()
        };
        let of_peak = |(centre, height, width): &([f64; 3], f64, f64)| {
            height / (1.0 + square(centre) / (width * width)).powi(2)
        };
        let rho = 0.5 + self.0.iter().map(of_peak).sum::<f64>();
        changed(rho, 20.0)
    }
}

/// A density, changed by up to some percent by its value.
fn changed(rho: f64, percent: f64) -> f64 {
    let noise = (rho.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1_u64 << 24) as f64;
    rho * (1.0 + percent / 100.0 * (2.0 * noise - 1.0))
}

impl Octs {
    fn new() -> Self {
        let (mut octs, field) = (Self::default(), Field::new());
        octs.add(&field, 1, [0; 3]);
        octs
    }

    fn add(&mut self, field: &Field, level: u8, position: [u32; 3]) {
        let at = self.level.len();
        self.level.push(level);
        self.position.push(position);
        self.split.push(0);
        let cell = |c: u32| std::array::from_fn(|a| 2 * position[a] + (c >> a & 1));
        for c in 0..8 {
            let centre = cell(c).map(|x: u32| (f64::from(x) + 0.5) / f64::from(1 << level));
            let rho = field.density(centre);
            self.rho.push(rho);
            if level < BASE || (level < DEEPEST && rho > 60.0) {
                self.split[at] |= 1 << c;
            }
        }
        for c in (0..8).filter(|c| self.split[at] >> c & 1 == 1).collect::<Vec<u32>>() {
            self.add(field, level + 1, cell(c));
        }
    }

    fn leaves(&self) -> impl Iterator<Item = f64> {
        let is_leaf = |cell: &usize| self.split[cell / 8] >> (cell % 8) & 1 == 0;
        (0..self.rho.len()).filter(is_leaf).map(|cell| self.rho[cell])
    }

    fn advance(&mut self) {
        self.rho.iter_mut().for_each(|rho| *rho = changed(*rho, 1.0));
    }

    fn to_cells(&self) -> Cells {
        Cells::from_octs(Geometry::cube(1.0), &self.level, &self.position, &self.split).expect("octs")
    }
}

fn params() -> PhewParams {
    PhewParams::new(DENSITY).persistence(Persistence::Ratio(1.3)).saddle(10.0)
}

/// How densities lie in the memory of C's program.
#[derive(Clone, Copy)]
enum Layout {
    /// Eight numbers per oct, without gaps.
    Packed,
    /// Twelve numbers per oct, of which eight are densities.
    Structs,
    /// A row per cell of an oct, longer than there are octs, and a list of octs that counts from 1: as in
    /// RAMSES.
    Lists,
}

/// Octs that a row of [`Layout::Lists`] has room for beyond those that are there.
const SPARE: usize = 1000;

/// Densities in one of these layouts.
struct Densities {
    layout: Layout,
    numbers: Vec<f64>,
    /// The place in a row of each oct, from 1.
    list: Vec<i32>,
}

impl Densities {
    fn new(layout: Layout, octs: &Octs) -> Self {
        let n = octs.level.len();
        let (len, list) = match layout {
            Layout::Packed => (8 * n, Vec::new()),
            Layout::Structs => (12 * n, Vec::new()),
            Layout::Lists => (8 * (n + SPARE), (1..=n as i32).rev().collect()),
        };
        let mut densities = Self { layout, numbers: vec![0.0; len], list };
        densities.take(octs);
        densities
    }

    fn take(&mut self, octs: &Octs) {
        for (i, rho) in octs.rho.iter().enumerate() {
            let (oct, cell) = (i / 8, i % 8);
            let place = match self.layout {
                Layout::Packed => i,
                Layout::Structs => 12 * oct + cell,
                Layout::Lists => cell * (octs.level.len() + SPARE) + self.list[oct] as usize - 1,
            };
            self.numbers[place] = *rho;
        }
    }

    fn column(&self, name: &CString) -> GivenColumn {
        let given = column(name, &self.numbers, INSELBERG_F64, 8);
        match self.layout {
            Layout::Packed => given,
            Layout::Structs => {
                GivenColumn { items: self.numbers.len() as i64 / 12, item_stride: 96, ..given }
            }
            Layout::Lists => GivenColumn {
                item_stride: 8,
                part_stride: self.numbers.len() as i64,
                index: self.list.as_ptr().cast(),
                index_count: self.list.len() as i64,
                index_base: 1,
                index_type: INSELBERG_I32,
                ..given
            },
        }
    }
}

/// What C sees.
struct Door(*mut EngineHandle);

fn done(code: i32) {
    assert_eq!(code, INSELBERG_DONE);
}

fn column<T>(name: &CString, data: &[T], number_type: i32, parts: usize) -> GivenColumn {
    GivenColumn {
        name: name.as_ptr(),
        data: data.as_ptr().cast(),
        items: (size_of_val(data) / parts / size_of_type(number_type)) as i64,
        item_stride: 0,
        part_stride: 0,
        index: null(),
        index_count: 0,
        index_base: 0,
        number_type,
        index_type: 0,
        parts: parts as i32,
    }
}

fn size_of_type(number_type: i32) -> usize {
    match number_type {
        INSELBERG_U8 => 1,
        INSELBERG_U32 => 4,
        _ => 8,
    }
}

fn text(text: &str) -> CString {
    CString::new(text).expect("no zero bytes")
}

impl Door {
    fn new(threads: i32) -> Self {
        let mut handle = null_mut();
        // SAFETY: the address of a pointer.
        done(unsafe { inselberg_open_serial_abi(INSELBERG_ABI_VERSION, threads, &raw mut handle) });
        let box_of = BoxOf {
            size: size_of::<BoxOf>(),
            side: 1.0,
            coarse: [1; 3],
            periodic: [1; 3],
            time: 0.0,
            unit_length: 0.0,
            unit_density: 0.0,
            unit_time: 0.0,
            aexp: 0.0,
            h0: 0.0,
            omega_m: 0.0,
            omega_l: 0.0,
            omega_k: 0.0,
            omega_b: 0.0,
            omega_r: 0.0,
            omega_nu: 0.0,
            w0: 0.0,
            wa: 0.0,
        };
        // SAFETY: an open handle and a box.
        done(unsafe { inselberg_set_box(handle, &raw const box_of) });
        let options =
            [("density_threshold", "3"), ("relevance_threshold", "1.3"), ("saddle_threshold", "10")];
        for (key, value) in options {
            // SAFETY: texts with a zero byte.
            done(unsafe { inselberg_set(handle, text(key).as_ptr(), text(value).as_ptr()) });
        }
        Self(handle)
    }

    fn set_octs(&self, octs: &Octs) {
        let names = ["level", "position", "split"].map(text);
        let columns = [
            column(&names[0], &octs.level, INSELBERG_U8, 1),
            column(&names[1], &octs.position, INSELBERG_U32, 3),
            column(&names[2], &octs.split, INSELBERG_U8, 1),
        ];
        // SAFETY: three columns whose numbers are in the vectors.
        done(unsafe { inselberg_set_octs(self.0, columns.as_ptr(), 3) });
    }

    fn phew(&self, densities: &Densities) {
        let name = text("density");
        let density = densities.column(&name);
        // SAFETY: one column whose numbers, and list if it has one, are in the vectors.
        done(unsafe { inselberg_phew(self.0, &raw const density, 1) });
    }

    fn labels(&self, labels: &mut [u64]) {
        let output = OutputColumn {
            data: labels.as_mut_ptr().cast(),
            items: labels.len() as i64 / 8,
            item_stride: 0,
            part_stride: 0,
            index: null(),
            index_count: 0,
            index_base: 0,
            number_type: INSELBERG_U64,
            index_type: 0,
            parts: 8,
        };
        // SAFETY: one output with room for eight labels per oct.
        done(unsafe { inselberg_labels(self.0, 1, &raw const output, 1) });
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and no call uses it.
        unsafe { inselberg_free(&raw mut self.0) };
    }
}

/// Seconds of the clock, and of all processors.
type Seconds = [f64; 2];

fn timed<T>(work: impl FnOnce() -> T) -> (Seconds, T) {
    let (begun, processors) = (Instant::now(), processor_seconds());
    let done = work();
    let clock = begun.elapsed().as_secs_f64();
    ([clock, processor_seconds() - processors], done)
}

/// Seconds that the threads of this process ran, in hundredths.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // After the name, which may hold spaces: time in the program and in the system, in hundredths of a
    // second.
    let numbers = text.rsplit(") ").next().expect("numbers").split(' ');
    numbers.skip(11).take(2).map(|word| word.parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Both by turns: times of C over those of Rust.
fn compare(octs: &mut Octs, layout: Layout, threads: usize, calls: usize) {
    let mut engine = Engine::builder().threads(threads).build().expect("an engine");
    let door = Door::new(threads as i32);
    let (mut expected, mut labels) = (vec![0_u64; octs.rho.len()], vec![0_u64; octs.rho.len()]);
    let (rust, cells) = timed(|| octs.to_cells());
    let (c, ()) = timed(|| door.set_octs(octs));
    println!("seconds of the clock / of all processors");
    println!("cells: Rust {}, C {}", both(rust), both(c));
    println!("| call | PHEW, Rust | C | labels, Rust | C |\n|---|---|---|---|---|");
    let mut seconds: [Vec<Seconds>; 4] = Default::default();
    let (mut last, mut densities) = (None, Densities::new(layout, octs));
    for call in 0..calls {
        let mut of_rust = |expected: &mut [u64]| {
            let (phew, found) = timed(|| {
                // As behind a handle, the last clumps stay until the next call.
                drop(last.take());
                last.insert(engine.phew(&cells, &octs.rho, &params()).expect("clumps"))
            });
            let copy = || {
                let numbers = found.labels().iter().map(|id| id.map_or(0, |id| id.get()));
                expected.iter_mut().zip(numbers).for_each(|(label, number)| *label = number);
            };
            [phew, timed(copy).0]
        };
        let of_c = |labels: &mut [u64]| [timed(|| door.phew(&densities)).0, timed(|| door.labels(labels)).0];
        // Each is first in every other call.
        let (rust, c) = if call % 2 == 0 {
            let rust = of_rust(&mut expected);
            (rust, of_c(&mut labels))
        } else {
            let c = of_c(&mut labels);
            (of_rust(&mut expected), c)
        };
        assert!(labels == expected, "labels of call {call}");
        let all = [rust[0], c[0], rust[1], c[1]];
        println!("| {call} | {} |", all.map(both).join(" | "));
        seconds.iter_mut().zip(all).for_each(|(seconds, one)| seconds.push(one));
        octs.advance();
        densities.take(octs);
    }
    // On a machine with other work the least time and that of processors say more than the median.
    for (what, of) in [("median", 0), ("least", 1), ("mean of processors", 2)] {
        let [rust, c, rust_labels, c_labels] = seconds.each_ref().map(|all| summary(&all[1..])[of]);
        println!("{what} of later calls: PHEW {rust:.4}, C {c:.4}, C over Rust {:.3}", c / rust);
        println!("{what} of labels into the caller's array: {rust_labels:.4}, C {c_labels:.4}");
    }
}

/// Median and least of the clock, mean of processors.
fn summary(seconds: &[Seconds]) -> [f64; 3] {
    let mut clock: Vec<f64> = seconds.iter().map(|one| one[0]).collect();
    let processors = seconds.iter().map(|one| one[1]).sum::<f64>();
    [median(&mut clock), clock[0], processors / seconds.len() as f64]
}

fn both(seconds: Seconds) -> String {
    let [clock, processors] = seconds;
    format!("{clock:.4} / {processors:.4}")
}

/// Kilobytes of memory that this process holds, and the most that it held.
fn memory() -> [f64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number")
    };
    [line("VmRSS:"), line("VmHWM:")]
}

/// Memory of calls in bytes per cell, beyond that before the first one.
fn weigh(octs: &mut Octs, calls: usize, mut call: impl FnMut(&Octs)) {
    let n_cells = octs.rho.len() as f64;
    let [before, _] = memory();
    println!("| call | most, bytes per cell | after it, bytes per cell |\n|---|---|---|");
    for i in 0..calls {
        // The most is counted from here on.
        std::fs::write("/proc/self/clear_refs", "5").expect("Linux");
        call(octs);
        let [held, most] = memory().map(|kilobytes| (kilobytes - before) * 1024.0 / n_cells);
        println!("| {i} | {most:.1} | {held:.1} |");
        octs.advance();
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number =
        |i: usize, default: usize| words.get(i).and_then(|word| word.parse().ok()).unwrap_or(default);
    let (threads, calls) = (number(0, 2), number(1, 20));
    let mut octs = Octs::new();
    let n_tests = octs.leaves().filter(|rho| *rho > DENSITY).count();
    println!("{} leaves, {n_tests} of them test cells, in {} octs", octs.leaves().count(), octs.level.len());
    match words.get(2).map_or("both", String::as_str) {
        "both" => compare(&mut octs, Layout::Packed, threads, calls),
        "structs" => compare(&mut octs, Layout::Structs, threads, calls),
        "lists" => compare(&mut octs, Layout::Lists, threads, calls),
        "c" => {
            let door = Door::new(threads as i32);
            door.set_octs(&octs);
            let mut densities = Densities::new(Layout::Packed, &octs);
            weigh(&mut octs, calls, |octs| {
                densities.take(octs);
                door.phew(&densities);
            });
        }
        "rust" => {
            let mut engine = Engine::builder().threads(threads).build().expect("an engine");
            let cells = octs.to_cells();
            // The last clumps stay until the next ones are found, as behind a handle.
            let mut found = None;
            weigh(&mut octs, calls, |octs| {
                found = None;
                found = Some(black_box(engine.phew(&cells, &octs.rho, &params()).expect("clumps")));
            });
        }
        other => panic!("{other}; expected both, structs, lists, c or rust"),
    }
}
