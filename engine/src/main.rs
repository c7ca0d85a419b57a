//! The command line: parse, run, exit code.
//!
//! Exit codes: 0 done; 2 something that the user can mend, said in one line on stderr; 1 a fault of
//! the program itself.

mod cli;

#[global_allocator]
static ALLOCATOR: inselberg::pages::HugePages = inselberg::pages::HugePages;

fn main() -> std::process::ExitCode {
    cli::main()
}
