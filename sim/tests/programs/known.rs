//! What is known of programs: the fixtures and the tables beside them. `programs.rs` says what the numbers are.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::language::program::Program;

/// One line of what is known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) parameters: Vec<(String, i64)>,
    pub(crate) complete: u64,
    pub(crate) unfinished: u64,
    pub(crate) distinct: u64,
    pub(crate) within: Vec<u64>,
}

impl Known {
    pub(crate) fn read(line: &str) -> Self {
        let mut known = Self::default();
        for (key, value) in line.split_whitespace().map(|item| item.split_once('=').expect("KEY=VALUE")) {
            let number = || value.parse::<u64>().expect("a number");
            match key {
                "complete" => known.complete = number(),
                "unfinished" => known.unfinished = number(),
                "distinct" => known.distinct = number(),
                "within" => known.within = value.split('/').map(|n| n.parse().expect("a number")).collect(),
                _ => known.parameters.push((key.to_owned(), value.parse().expect("a number"))),
            }
        }
        known
    }

    /// The program with the parameters of this line.
    pub(crate) fn program(&self, text: &str) -> Result<Arc<Program>, String> {
        let parameters: Vec<_> = self.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Program::read(text, &parameters).map(Arc::new)
    }
}

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The programs of a directory beside this file, with their texts, in the order of their names.
pub(crate) fn fixtures(name: &str) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(directory().join(name)).expect("the fixtures");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a fixture");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Fails with what `differences` finds, from the text of a program and what is known, in the lines of a table about
/// programs that are not part of this repository: they lie in the directory that `INTERLEAF_PROGRAMS` names.
pub(crate) fn compare_with_published(table: &str, differences: impl Fn(&str, &str) -> Vec<String>) {
    let Some(outside) = std::env::var_os("INTERLEAF_PROGRAMS").map(PathBuf::from) else {
        eprintln!("INTERLEAF_PROGRAMS is not set: only the fixtures were counted");
        return;
    };
    let table = fs::read_to_string(directory().join(table)).expect("the table");
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (name, known) = line.split_once(' ').expect("NAME and what is known");
        let text = fs::read_to_string(outside.join(format!("{name}.prog"))).expect(name);
        for difference in differences(&text, known) {
            wrong.push(format!("{line}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
