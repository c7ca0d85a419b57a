//! The groups of options in the help.

/// A group of options in the help, in the order there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heading {
    /// What is read, and which part of it.
    Input,
    /// What is searched for.
    Search,
    /// Properties of what is found.
    Properties,
    /// What is measured and modelled.
    Study,
    /// What is made.
    Made,
    /// Files that are written.
    Results,
    /// Pictures and reports.
    Pictures,
    /// Their maps.
    Maps,
    /// Files for other programs.
    Viewers,
    /// What an input of cells leaves open.
    Cells,
    /// What an input of particles leaves open, and the mesh of particles.
    Particles,
    /// Ranks, threads and their processors.
    Launch,
    /// What a run reports about itself.
    Diagnostics,
    /// Options of every command.
    General,
}

impl Heading {
    /// Its words in the help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Input => "Input",
            Self::Search => "Search",
            Self::Study => "Study",
            Self::Made => "What is made",
            Self::Properties => "Properties and bound particles",
            Self::Results => "Results",
            Self::Pictures => "Pictures and reports",
            Self::Maps => "Maps of pictures and reports",
            Self::Viewers => "Files for other programs",
            Self::Cells => "Cells of other codes",
            Self::Particles => "Particles",
            Self::Launch => "Ranks and threads",
            Self::Diagnostics => "Diagnostics",
            Self::General => "General",
        }
    }

    /// Whether the short help, `-h`, has all of it.
    pub fn is_brief(self) -> bool {
        !matches!(
            self,
            Self::Properties | Self::Maps | Self::Viewers | Self::Cells | Self::Particles | Self::Diagnostics
        )
    }
}
