//! Aligned columns.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table with a header.
#[derive(Clone, Debug)]
pub struct Table {
    header: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    #[must_use]
    pub fn new(header: &[(&str, Align)]) -> Self {
        Self { header: header.iter().map(|(title, align)| ((*title).to_owned(), *align)).collect(), rows: Vec::new() }
    }

    /// Adds a row. Missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// For a terminal, without a line feed at its end. Each line begins with two spaces.
    #[must_use]
    pub fn plain(&self) -> String {
        let titles: Vec<String> = self.header.iter().map(|(title, _)| title.clone()).collect();
        let cell = |row: &[String], at: usize| row.get(at).cloned().unwrap_or_default();
        let all = || std::iter::once(&titles).chain(&self.rows);
        let widths: Vec<usize> = (0..self.header.len())
            .map(|at| all().map(|row| cell(row, at).chars().count()).max().unwrap_or(0))
            .collect();
        let line = |row: &Vec<String>| {
            let cells = self.header.iter().zip(&widths).enumerate().map(|(at, ((_, align), width))| match align {
                Align::Left => format!("  {:<width$}", cell(row, at)),
                Align::Right => format!("  {:>width$}", cell(row, at)),
            });
            cells.collect::<String>().trim_end().to_owned()
        };
        all().map(line).collect::<Vec<_>>().join("\n")
    }

    /// In Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.header.iter().map(|(title, _)| title.clone()).collect());
        let rule = |align: &Align| if *align == Align::Left { "---".to_owned() } else { "---:".to_owned() };
        out.push_str(&line(self.header.iter().map(|(_, align)| rule(align)).collect()));
        for row in &self.rows {
            let cells =
                (0..self.header.len()).map(|at| row.get(at).map_or_else(String::new, |c| c.replace('|', "\\|")));
            out.push_str(&line(cells.collect()));
        }
        out
    }
}

/// `1 job`, `2 jobs`.
#[must_use]
pub fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(n as u64), if n == 1 { "" } else { "s" })
}

/// A number with its digits in groups of three.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&[("name", Align::Left), ("runs", Align::Right)]);
        table.row(["a".into(), "1,000".into()]);
        table.row(["long|name".into()]);
        assert_eq!(table.plain(), "  name        runs\n  a          1,000\n  long|name");
        assert_eq!(table.markdown(), "| name | runs |\n| --- | ---: |\n| a | 1,000 |\n| long\\|name |  |\n");
    }

    #[test]
    fn groups_of_three() {
        assert_eq!([0, 12, 999, 1_000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
