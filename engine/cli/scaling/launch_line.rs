//! The command that starts ranks as processes, with places for its numbers.

/// The places of a launch line, in braces.
const PLACES: [&str; 3] = ["ranks", "threads", "nodes"];

/// The command that starts ranks, such as `mpirun -n {ranks}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchLine {
    words: Vec<String>,
}

/// The numbers of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSize {
    /// Ranks.
    pub ranks: usize,
    /// Threads per rank.
    pub threads: usize,
    /// Nodes, if the number of ranks on each is known.
    pub nodes: Option<usize>,
}

impl LaunchLine {
    /// From a line of words.
    ///
    /// # Errors
    /// A place is unknown, or none depends on the number of ranks; the text says what was expected.
    pub fn parse(line: &str) -> Result<Self, &'static str> {
        if places(line).any(|place| !PLACES.contains(&place)) {
            return Err("no places but {ranks}, {threads} and {nodes}");
        }
        if !places(line).any(|place| place != "threads") {
            return Err("a command with {ranks} or {nodes} in it, or threads");
        }
        Ok(Self { words: line.split_whitespace().map(String::from).collect() })
    }

    /// Whether it needs the number of nodes.
    pub fn needs_nodes(&self) -> bool {
        self.words.iter().any(|word| word.contains("{nodes}"))
    }

    /// Its words for a run; a line that needs the number of nodes gets 1 if that is not known.
    pub fn words(&self, size: RunSize) -> impl Iterator<Item = String> {
        let numbers = [size.ranks, size.threads, size.nodes.unwrap_or(1)];
        let filled = move |word: &String| {
            PLACES.iter().zip(numbers).fold(word.clone(), |word, (place, number)| {
                word.replace(&format!("{{{place}}}"), &number.to_string())
            })
        };
        self.words.iter().map(filled)
    }
}

/// The words in braces; all of the rest where a brace is not closed.
fn places(line: &str) -> impl Iterator<Item = &str> {
    line.split('{').skip(1).map(|rest| rest.split_once('}').map_or(rest, |(place, _)| place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_get_their_numbers_and_others_are_refused() {
        let line = LaunchLine::parse("srun -N {nodes}  -n {ranks} -c{threads}").expect("known places");
        assert!(line.needs_nodes());
        let words: Vec<String> = line.words(RunSize { ranks: 8, threads: 16, nodes: Some(2) }).collect();
        assert_eq!(words, ["srun", "-N", "2", "-n", "8", "-c16"]);
        for bad in ["mpirun -n {rank}", "mpirun -n {ranks} {", "srun {ranks} {Nodes}"] {
            assert!(
                LaunchLine::parse(bad).is_err_and(|expected| expected.contains("no places but")),
                "{bad}"
            );
        }
        for bad in ["mpirun", "mpirun -c {threads}"] {
            assert!(LaunchLine::parse(bad).is_err_and(|expected| expected.contains("in it")), "{bad}");
        }
    }
}
