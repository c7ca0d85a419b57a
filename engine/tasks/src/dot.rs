//! The graph as Graphviz draws it.

use crate::graph::{By, TaskGraph};
use std::fmt::Write;

impl TaskGraph {
    /// The graph in the dot language, with one cluster per stage: `dot -Tsvg`.
    pub fn to_dot(&self, name: &str) -> String {
        let mut text =
            format!("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box];\n", name.replace('"', "'"));
        for (s, stage) in self.stages.iter().enumerate() {
            if stage.by == By::Nobody {
                let task = stage.tasks.start;
                let _ = writeln!(text, "  t{task} [shape=point];");
                continue;
            }
            let _ = writeln!(text, "  subgraph cluster_{s} {{\n    label=\"{}\";", stage.name);
            for (item, task) in stage.tasks.clone().enumerate() {
                let shape = if stage.by == By::Caller { ", shape=ellipse" } else { "" };
                let path = self.priority[task as usize];
                let _ = writeln!(text, "    t{task} [label=\"{item}\", tooltip=\"path {path}\"{shape}];");
            }
            text.push_str("  }\n");
        }
        for task in 0..self.len() as u32 {
            for later in self.successors(task) {
                let _ = writeln!(text, "  t{task} -> t{later};");
            }
        }
        text.push_str("}\n");
        text
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::GraphBuilder;

    #[test]
    fn stages_are_clusters() {
        let mut builder = GraphBuilder::default();
        let (a, b) = (builder.stage("ascent", [1, 1]), builder.caller_stage("ghosts", 1));
        builder.after(b, a);
        let dot = builder.build().expect("no cycle").to_dot("phew");
        assert!(dot.starts_with("digraph \"phew\" {") && dot.ends_with("}\n"));
        assert!(dot.contains("label=\"ascent\"") && dot.contains("shape=ellipse"));
        assert!(dot.contains("t0 -> t2;") && dot.contains("t1 -> t2;"));
    }
}
