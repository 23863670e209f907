//! Files from outside are read up to a limit, so that a device or a wrong path cannot fill the memory.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Most bytes of a profile.
pub const PROFILE_MAX: u64 = 1 << 20;

/// Most bytes of a `failure.toml`, of a file with a token and of a `choices.log`.
pub const FAILURE_MAX: u64 = 16 << 20;

/// Most bytes of a stored trace.
pub const TRACE_MAX: u64 = 1 << 30;

/// Most bytes of a saved exploration.
pub const SAVED_MAX: u64 = 1 << 30;

/// The text of a file of at most `limit` bytes.
///
/// # Errors
/// If it cannot be read, is larger, or is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("has more than {limit} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_largest_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let read = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            read_text(&path, 4).map_err(|e| e.to_string())
        };
        assert_eq!(read(b"1234"), Ok("1234".into()));
        assert_eq!(read(b"12345"), Err("has more than 4 bytes".into()));
        assert_eq!(read(b"\xff"), Err("is not UTF-8 text".into()));
        assert!(read_text(dir.path(), 4).is_err(), "a folder");
    }
}
