//! Runs the program and keeps what it wrote.
#![allow(dead_code, reason = "each test program uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder of its own, in which the program is run.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What one call gave.
pub(crate) struct Call {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interleaf"));
        command.current_dir(self.path()).args(arguments);
        command
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Call {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Call { exit: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// The files of the last run.
    pub(crate) fn latest(&self) -> PathBuf {
        self.path().join("target/interleaf/latest")
    }

    /// The folder of the only failure of the last run.
    pub(crate) fn failure(&self) -> PathBuf {
        let failures: Vec<_> = std::fs::read_dir(self.latest().join("failures")).unwrap().collect();
        assert_eq!(failures.len(), 1);
        failures.into_iter().next().unwrap().unwrap().path()
    }
}

impl Call {
    /// Standard output as one JSON object a line.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What stands after `label` in a failure block.
    pub(crate) fn field(&self, label: &str) -> &str {
        let prefix = format!("  {label:<7} ");
        self.stdout.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_else(|| panic!("{}", self.stdout))
    }
}
