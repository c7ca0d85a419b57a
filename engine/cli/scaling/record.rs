//! All runs of a study, from which everything else follows. Studies of one input join.

use super::counted::{Counted, join};
use super::measured::Measured;
use serde::{Deserialize, Serialize};

/// The runs of a study.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StudyRecord {
    /// The word of the command.
    pub of: String,
    /// The options that decide what is done, as one line.
    pub search: String,
    /// The input of every run.
    pub input: String,
    /// Items per thread, if an input was made for each run; else empty.
    pub weak: Vec<u64>,
    /// Real runs.
    pub measured: Vec<Measured>,
    /// Ranks as threads with measured work.
    pub simulated: Vec<Counted>,
    /// The same on as many ranks as real runs.
    pub checked: Vec<Counted>,
    /// Real ranks with measured work.
    pub counted: Vec<Counted>,
    /// The command lines of the studies.
    pub commands: Vec<String>,
    /// The hosts that they were started on.
    pub machines: Vec<String>,
    /// The command lines of the runs.
    pub runs: Vec<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl StudyRecord {
    /// Adds the runs of `later`, a study of the same command. Modelled runs of the same kind are replaced.
    ///
    /// # Errors
    /// It has another input or other options; the text says which and what was expected.
    pub fn join(&mut self, later: Self) -> Result<(), String> {
        let same = [("input", &self.input, &later.input), ("options", &self.search, &later.search)];
        if let Some((what, own, other)) = same.into_iter().find(|(_, own, other)| own != other) {
            return Err(format!("{what} `{own}` and `{other}`; expected studies of the same {what}"));
        }
        self.measured.extend(later.measured);
        join(&mut self.simulated, later.simulated);
        join(&mut self.checked, later.checked);
        join(&mut self.counted, later.counted);
        let lists = [
            (&mut self.commands, later.commands),
            (&mut self.machines, later.machines),
            (&mut self.runs, later.runs),
            (&mut self.notes, later.notes),
        ];
        for (all, added) in lists {
            added.into_iter().for_each(|line| {
                if !all.contains(&line) {
                    all.push(line)
                }
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_of_one_input_join_and_others_do_not() {
        let of = |input: &str, run: &str| StudyRecord {
            input: input.into(),
            runs: vec![run.into(), "both".into()],
            ..StudyRecord::default()
        };
        let mut all = of("a", "first");
        all.join(of("a", "second")).expect("the same input");
        assert_eq!(all.runs, ["first", "both", "second"]);
        let refused = all.join(of("b", "third")).expect_err("another input");
        assert_eq!(refused, "input `a` and `b`; expected studies of the same input");
    }
}
