//! What is known of a program.

use std::fmt;

/// What is known of a program with some parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Parameters that replace its own.
    pub parameters: Vec<(String, i64)>,
    /// Distinguishable interleavings.
    pub distinct: u64,
}

/// A line that says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{line}`: {problem}")]
pub struct NotKnown {
    line: String,
    problem: String,
}

impl Known {
    /// Reads `N=3 complete=90 distinct=66 within=6/24`: parameters in any letters but these four keys.
    ///
    /// # Errors
    /// If an item has no number, or the number of distinguishable interleavings is missing.
    pub fn read(line: &str) -> Result<Self, NotKnown> {
        let error = |problem: String| NotKnown { line: line.trim().to_owned(), problem };
        let mut known = Self::default();
        let mut found = false;
        for item in line.split_whitespace() {
            let (key, value) =
                item.split_once('=').ok_or_else(|| error(format!("expected KEY=VALUE, found `{item}`")))?;
            let no_number = |_| error(format!("{key}: expected a number, found `{value}`"));
            match key {
                "distinct" => {
                    known.distinct = value.parse().map_err(no_number)?;
                    found = true;
                }
                "complete" | "unfinished" => drop(value.parse::<u64>().map_err(no_number)?),
                "within" => value.split('/').try_for_each(|n| n.parse::<u64>().map(drop)).map_err(no_number)?,
                _ => known.parameters.push((key.to_owned(), value.parse().map_err(no_number)?)),
            }
        }
        if found { Ok(known) } else { Err(error("expected `distinct=N`".into())) }
    }

    /// What a program's own lines say that begin with `#:`, or with `#=` if it is known for traces only.
    ///
    /// # Errors
    /// If one of them is malformed.
    pub fn of_program(text: &str) -> Result<Vec<Self>, NotKnown> {
        let line = |line: &'_ str| line.strip_prefix("#:").or_else(|| line.strip_prefix("#=")).map(str::to_owned);
        text.lines().filter_map(line).map(|line| Self::read(&line)).collect()
    }
}

impl fmt::Display for Known {
    /// The parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// Reads a table of programs: `NAME` and what is known of it on each line, and comments that begin with `#`.
///
/// # Errors
/// The number of the first line that is malformed, from 1, and why.
pub fn of_table(text: &str) -> Result<Vec<(String, Known)>, (usize, NotKnown)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let (name, known) = line.split_once(' ').unwrap_or((line, ""));
            Known::read(known).map(|known| (name.to_owned(), known)).map_err(|error| (at + 1, error))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read() {
        let known = Known::read(" N=3 R=-1 complete=90 distinct=66 within=6/24 unfinished=0").unwrap();
        assert_eq!((known.to_string(), known.distinct), ("N=3 R=-1".to_owned(), 66));
        for (bad, why) in [
            ("", "expected `distinct=N`"),
            ("distinct", "expected KEY=VALUE, found `distinct`"),
            ("distinct=many", "distinct: expected a number, found `many`"),
            ("distinct=1 N=", "N: expected a number, found ``"),
            ("distinct=1 within=1/x", "within: expected a number, found `1/x`"),
        ] {
            assert!(Known::read(bad).unwrap_err().to_string().contains(why), "{bad}");
        }
        let table = of_table("# head\n\nfib N=2 distinct=140\ninc distinct=x\n").unwrap_err();
        assert_eq!((table.0, table.1.to_string().contains("`x`")), (4, true));
    }
}
