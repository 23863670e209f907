//! The folder of a ledger.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A folder that was empty or did not exist when the program began, so nothing in it is anybody else's.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    /// Whether the folder itself was made here.
    is_new: bool,
    keep: bool,
}

impl Place {
    /// The folder `path`, which stays.
    ///
    /// # Errors
    /// If it holds anything, is no folder, or cannot be made.
    pub fn at(path: &Path) -> Result<Self, String> {
        let error = |reason: &dyn std::fmt::Display| format!("--folder {}: {reason}", path.display());
        let expected = "expected a folder that is empty or does not exist";
        let mut is_new = false;
        match fs::read_dir(path) {
            Ok(mut entries) => {
                if entries.next().is_some() {
                    return Err(error(&format_args!("holds something already; {expected}")));
                }
            }
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                is_new = true;
                fs::create_dir_all(path).map_err(|e| error(&format_args!("cannot be made: {e}")))?;
            }
            Err(other) => return Err(error(&format_args!("cannot be read: {other}; {expected}"))),
        }
        Ok(Self { path: path.to_owned(), is_new, keep: true })
    }

    /// A new folder among the system's temporary ones; it is removed in the end unless `keep`.
    ///
    /// # Errors
    /// If none can be made.
    pub fn temporary(keep: bool) -> Result<Self, String> {
        let folder = std::env::temp_dir();
        for n in 0..1_000 {
            let path = folder.join(format!("interleaf-ledger-{}-{n}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, is_new: true, keep }),
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: cannot be made: {error}", path.display())),
            }
        }
        Err(format!("{}: no free name for a temporary folder", folder.display()))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does not keep it after all.
    pub fn discard(&mut self) {
        self.keep = false;
    }

    /// Whether it stays.
    #[must_use]
    pub const fn stays(&self) -> bool {
        self.keep
    }

    /// The names of its files and how many bytes they have, by name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn files(&self) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            files.push((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len()));
        }
        files.sort_unstable();
        Ok(files)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        // What cannot be removed stays; there is nobody to tell.
        for (name, _) in self.files().unwrap_or_default() {
            drop(fs::remove_file(self.path.join(name)));
        }
        if self.is_new {
            drop(fs::remove_dir(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_folder_is_taken_and_only_what_was_made_is_removed() {
        let outer = tempfile::tempdir().unwrap();
        let [new, empty, full] = ["new/deep", "empty", "full"].map(|name| outer.path().join(name));
        fs::create_dir(&empty).unwrap();
        fs::create_dir(&full).unwrap();
        fs::write(full.join("mine"), "mine").unwrap();
        assert!(Place::at(&full).unwrap_err().contains("holds something already"));
        assert!(Place::at(&full.join("mine")).unwrap_err().contains("expected a folder"));
        for path in [&new, &empty] {
            let mut place = Place::at(path).unwrap();
            fs::write(path.join("ledger"), "12345").unwrap();
            assert_eq!(place.files().unwrap(), [("ledger".to_owned(), 5)]);
            place.discard();
        }
        assert!(!new.exists() && empty.exists() && fs::read_dir(&empty).unwrap().next().is_none());
        assert!(full.join("mine").exists());
        drop(Place::at(&new).unwrap());
        assert!(new.exists(), "what was asked for stays");
    }

    #[test]
    fn a_temporary_folder_is_removed_unless_it_is_to_be_kept() {
        let (gone, mut kept) = (Place::temporary(false).unwrap(), Place::temporary(true).unwrap());
        assert_ne!(gone.path(), kept.path());
        let path = gone.path().to_owned();
        drop(gone);
        assert!(!path.exists() && kept.path().exists());
        kept.discard();
    }
}
