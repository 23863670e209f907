//! The programs that come with this crate: those of the library's own tests.

/// A program and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Fixture {
    /// Its name: that of its file, without `.prog`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them, by name. The list is made by `build.rs`.
pub const FIXTURES: &[Fixture] = include!(concat!(env!("OUT_DIR"), "/fixtures.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_is_known_of_it() {
        assert!(FIXTURES.len() >= 48);
        assert!(FIXTURES.iter().all(|f| crate::Known::of_program(f.text).is_ok_and(|known| !known.is_empty())));
    }
}
