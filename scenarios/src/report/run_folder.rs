//! The files of a run: `<root>/<run-id>/`, with `<root>/latest` pointing to the last one.
//!
//! Each file is written under another name first and then renamed, so that none is ever half-written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::campaign::bounded::{PROFILE_MAX, read_text};

/// What points to the last run.
pub const LATEST: &str = "latest";

/// A file or folder that could not be made.
#[derive(Debug, Error)]
#[error("{}: cannot be written: {error}", path.display())]
pub struct WriteError {
    /// Its path.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    root: PathBuf,
    id: String,
}

impl RunFolder {
    /// Whether runs can be stored under `root`: to know before the work is done. Makes `root` if there is none.
    ///
    /// # Errors
    /// If they cannot, or if `latest` is a folder and no link, which could not be pointed to a new run.
    pub fn check(root: &Path) -> Result<(), WriteError> {
        let failed = |error| WriteError { path: root.to_owned(), error };
        fs::create_dir_all(root).map_err(failed)?;
        let latest = root.join(LATEST);
        if latest.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            let error = io::Error::other("is a folder; expected nothing or the link to the last run");
            return Err(WriteError { path: latest, error });
        }
        let probe = root.join(format!("{LATEST}.{}.check", std::process::id()));
        fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)).map_err(failed)
    }

    /// Makes the folder of a new run under `root`. Runs are numbered from 1.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(root: &Path) -> Result<Self, WriteError> {
        Self::check(root)?;
        let failed = |error| WriteError { path: root.to_owned(), error };
        let last = run_ids(root).into_iter().next_back().and_then(|id| id.parse().ok()).unwrap_or(0);
        for number in last + 1.. {
            let id = format!("{number:06}");
            match fs::create_dir(root.join(&id)) {
                Ok(()) => {
                    let folder = Self { root: root.to_owned(), id };
                    folder.point_to()?;
                    return Ok(folder);
                }
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(io::Error::other("no run number is left")))
    }

    /// The run's number as text.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.id)
    }

    /// Writes a file, given by its path inside the folder.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: &Path, content: &str) -> Result<(), WriteError> {
        let path = self.path().join(file);
        let failed = |error| WriteError { path: path.clone(), error };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        write_whole(&path, content)
    }

    /// An earlier run that has a failure with this signature: the path of that failure.
    #[must_use]
    pub fn earlier(&self, signature: &str) -> Option<PathBuf> {
        let place = Path::new("failures").join(folder_name(signature));
        let earlier = run_ids(&self.root).into_iter().rev().filter(|id| *id < self.id);
        earlier.map(|id| self.root.join(id).join(&place)).find(|path| path.is_dir())
    }

    /// Makes `latest` a link to this folder or, where there are no links, a file with its name.
    fn point_to(&self) -> Result<(), WriteError> {
        let latest = self.root.join(LATEST);
        let new = self.root.join(format!("{LATEST}.{}", self.id));
        let linked = link(&self.id, &new).and_then(|()| fs::rename(&new, &latest));
        linked.map_err(|error| WriteError { path: latest, error })
    }
}

/// Writes a file under another name and then renames it: who reads it finds the old or the new one, never a part.
///
/// # Errors
/// If it cannot be written. The old one is then still there.
pub fn write_whole(path: &Path, content: &str) -> Result<(), WriteError> {
    let unfinished = unfinished(path);
    let written = fs::write(&unfinished, content).and_then(|()| fs::rename(&unfinished, path));
    written.map_err(|error| {
        drop(fs::remove_file(&unfinished));
        WriteError { path: path.to_owned(), error }
    })
}

/// Whether [`write_whole`] could write `path`: to know before the work is done.
///
/// # Errors
/// If it could not.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let failed = |error| WriteError { path: path.to_owned(), error };
    if path.is_dir() {
        return Err(failed(io::Error::other("is a folder; expected the path of a file")));
    }
    let probe = unfinished(path);
    fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)).map_err(failed)
}

fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(".unfinished");
    name.into()
}

/// The folder that `latest` points to.
#[must_use]
pub fn latest(root: &Path) -> Option<PathBuf> {
    let latest = root.join(LATEST);
    if latest.is_dir() {
        return Some(latest);
    }
    read_text(&latest, PROFILE_MAX).ok().map(|id| root.join(id.trim()))
}

/// A signature as the name of a folder.
#[must_use]
pub fn folder_name(signature: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '@');
    let name: String = signature.chars().map(|c| if allowed(c) { c } else { '-' }).take(150).collect();
    // Neither empty nor hidden nor a way out of the folder.
    if name.starts_with('.') || name.is_empty() { format!("_{name}") } else { name }
}

/// Numbers of the runs so far, in order.
fn run_ids(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut ids: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.len() == 6 && name.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    ids.sort_unstable();
    ids
}

#[cfg(unix)]
fn link(target: &str, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn link(target: &str, link: &Path) -> io::Result<()> {
    fs::write(link, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbered_and_the_latest_is_pointed_to() {
        let root = tempfile::tempdir().unwrap();
        let first = RunFolder::create(root.path()).unwrap();
        first.write(Path::new("failures/a-b/failure.toml"), "x").unwrap();
        let second = RunFolder::create(root.path()).unwrap();
        second.write(Path::new("run.json"), "{}").unwrap();
        assert_eq!((first.id(), second.id()), ("000001", "000002"));
        assert_eq!(fs::read_to_string(latest(root.path()).unwrap().join("run.json")).unwrap(), "{}");
        assert_eq!(second.earlier("a/b"), Some(first.path().join("failures/a-b")));
        assert_eq!((first.earlier("a/b"), second.earlier("a/c")), (None, None));
        assert_eq!(fs::read_dir(second.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_called_latest_is_told_before_anything_is_made() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(LATEST)).unwrap();
        let error = RunFolder::create(root.path()).unwrap_err().to_string();
        assert!(error.contains("latest: cannot be written: is a folder"), "{error}");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_replaced_is_still_there() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("left.json");
        check_writable(&path).unwrap();
        assert!(!path.exists());
        write_whole(&path, "old").unwrap();
        // In the way of the unfinished file.
        fs::create_dir(root.path().join("left.json.unfinished")).unwrap();
        assert!(check_writable(&path).unwrap_err().to_string().contains("left.json: cannot be written"));
        assert!(write_whole(&path, "new").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert!(check_writable(root.path()).unwrap_err().to_string().contains("is a folder"));
    }

    #[test]
    fn folder_names_stay_inside() {
        assert_eq!(folder_name("ledger.x/spent-twice"), "ledger.x-spent-twice");
        assert_eq!(folder_name("../../etc"), "_..-..-etc");
        assert_eq!(folder_name(""), "_");
    }
}
