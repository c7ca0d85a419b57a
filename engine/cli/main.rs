//! The command line: parse, run, exit code.
//!
//! Exit codes: 0 done; 2 something that the user can mend, said in one line on stderr; 1 a fault of
//! the program itself.

use inselberg_cli::commands::allocator::OrEnd;
use inselberg_cli::huge_pages::HugePages;

#[global_allocator]
static ALLOCATOR: OrEnd<HugePages> = OrEnd(HugePages);

fn main() -> std::process::ExitCode {
    inselberg_cli::commands::main()
}
