//! Which code this is.

use std::process::{Command, Stdio};

use serde::Serialize;

/// Which code made a run.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// Version of Interleaf.
    pub version: &'static str,
    /// `release` or `debug`.
    pub build: &'static str,
    /// Operating system and processor.
    pub platform: String,
    /// Commit of the working tree, if it is one of git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the tree has changes that are not in the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<bool>,
}

impl Provenance {
    /// Asks git about the present directory; without git the commit is left out.
    #[must_use]
    pub fn of_this_tree() -> Self {
        let commit = git(&["rev-parse", "HEAD"]).map(|text| text.trim().to_owned());
        let status = commit.as_ref().and_then(|_| git(&["status", "--porcelain", "--untracked-files=no"]));
        Self {
            version: env!("CARGO_PKG_VERSION"),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            commit,
            modified: status.map(|text| !text.trim().is_empty()),
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
