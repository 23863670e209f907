//! Programs with known numbers of interleavings: those that are built in, or those of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use interleaf_programs::{FIXTURES, Known, of_table};
use thiserror::Error;

use super::bounded::{FAILURE_MAX, read_text};

/// A table in a folder of programs, if there is one.
pub const TABLE: &str = "published.txt";

/// A program with parameters.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What is known of it with these parameters.
    pub known: Known,
}

/// A folder or table of programs that cannot be used.
#[derive(Debug, Error)]
pub enum ProgramsError {
    /// A file or folder could not be read.
    #[error("{}: cannot be read: {error}; expected {expected}", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
        /// What should be there.
        expected: &'static str,
    },
    /// It says nothing, or something else.
    #[error("{}: {problem}", path.display())]
    Malformed {
        /// Its path.
        path: PathBuf,
        /// Where and why.
        problem: String,
    },
}

/// The programs that are built in.
///
/// # Errors
/// Never; a test reads them all.
pub fn built_in() -> Result<Vec<Instance>, ProgramsError> {
    let own = |f: &interleaf_programs::Fixture| instances(Path::new(f.name), f.name, f.text);
    Ok(FIXTURES.iter().map(own).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The programs of a folder: those that a table names or, without a table, all, by what they say themselves.
///
/// # Errors
/// If folder, table or a program cannot be read, or it is not said how many interleavings a program has.
pub fn of_folder(folder: &Path, table: Option<&Path>) -> Result<Vec<Instance>, ProgramsError> {
    let own = folder.join(TABLE);
    let table = table.or_else(|| own.is_file().then_some(own.as_path()));
    match table {
        Some(table) => of_table_in(folder, table),
        None => all_of(folder),
    }
}

fn of_table_in(folder: &Path, path: &Path) -> Result<Vec<Instance>, ProgramsError> {
    let text = read(path, "a table with a name and what is known on each line")?;
    let malformed =
        |(line, error)| ProgramsError::Malformed { path: path.to_owned(), problem: format!("line {line}: {error}") };
    let instance = |(name, known): (String, Known)| {
        let text = read(&folder.join(format!("{name}.prog")), "the program that the table names")?;
        Ok(Instance { name, text, known })
    };
    of_table(&text).map_err(malformed)?.into_iter().map(instance).collect()
}

fn all_of(folder: &Path) -> Result<Vec<Instance>, ProgramsError> {
    let failed = |error| ProgramsError::Io { path: folder.to_owned(), error, expected: "a folder with `.prog` files" };
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).map_err(failed)?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "prog"));
    paths.sort_unstable();
    if paths.is_empty() {
        return Err(ProgramsError::Malformed {
            path: folder.to_owned(),
            problem: "expected `.prog` files, found none".into(),
        });
    }
    let mut all = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        all.extend(instances(&path, &name, &read(&path, "a program")?)?);
    }
    Ok(all)
}

fn instances(path: &Path, name: &str, text: &str) -> Result<Vec<Instance>, ProgramsError> {
    let malformed = |problem| ProgramsError::Malformed { path: path.to_owned(), problem };
    let known = Known::of_program(text).map_err(|e| malformed(e.to_string()))?;
    if known.is_empty() {
        return Err(malformed("expected a line such as `#: distinct=3`, or a table".into()));
    }
    Ok(known.into_iter().map(|known| Instance { name: name.to_owned(), text: text.to_owned(), known }).collect())
}

fn read(path: &Path, expected: &'static str) -> Result<String, ProgramsError> {
    read_text(path, FAILURE_MAX).map_err(|error| ProgramsError::Io { path: path.to_owned(), error, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_ones_say_what_is_known() {
        assert!(built_in().unwrap().len() >= 70);
    }
}
