//! Status words in the left column, as cargo has them.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Who reads the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// People.
    #[default]
    Human,
    /// Programs: one JSON object a line on standard output, nothing else.
    Json,
}

/// What a status word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It goes on, or went well.
    Good,
    /// Look here.
    Warning,
    /// It failed.
    Bad,
}

/// Whether something could not be written to standard output, which all of the process shares.
static OUTPUT_LOST: AtomicBool = AtomicBool::new(false);

/// Where output goes, and how it looks. A closed pipe is no failure of the run: who closed it wants no more. Anything
/// else that keeps standard output from being written is told once, and [`Terminal::finish`] says so.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    format: Format,
    colored: bool,
}

impl Terminal {
    /// A terminal for `format`.
    #[must_use]
    pub fn new(format: Format, color: Color) -> Self {
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
                wanted && io::stdout().is_terminal() && io::stderr().is_terminal()
            }
        };
        Self { format, colored }
    }

    /// Who reads the output.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Whether somebody watches: standard error is a terminal and people read it.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.format == Format::Human && io::stderr().is_terminal()
    }

    /// `text` in the colour of `tone`.
    #[must_use]
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colored {
            return text.to_owned();
        }
        let color = match tone {
            Tone::Good => AnsiColor::Green,
            Tone::Warning => AnsiColor::Yellow,
            Tone::Bad => AnsiColor::Red,
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        format!("{style}{text}{style:#}")
    }

    /// A status line on standard error: the word right-aligned in the left column. Not for programs.
    pub fn status(&self, tone: Tone, word: &str, text: impl std::fmt::Display) {
        if self.format == Format::Human {
            let word = self.paint(tone, &format!("{word:>12}"));
            drop(writeln!(io::stderr(), "{word} {text}"));
        }
    }

    /// An error, whoever reads: always on standard error.
    pub fn error(&self, text: impl std::fmt::Display) {
        drop(writeln!(io::stderr(), "{} {text}", self.paint(Tone::Bad, "error:")));
    }

    /// Whether all of the output was written, or a closed pipe wanted no more of it.
    #[must_use]
    pub fn finish(&self) -> bool {
        self.check(io::stdout().flush());
        !OUTPUT_LOST.load(Ordering::Relaxed)
    }

    /// Looks at the result of writing to standard output.
    pub fn check(&self, written: io::Result<()>) {
        let Err(error) = written else { return };
        if error.kind() != io::ErrorKind::BrokenPipe && !OUTPUT_LOST.swap(true, Ordering::Relaxed) {
            self.error(format_args!("standard output: cannot be written: {error}"));
        }
    }

    /// Text on standard output. Not for programs.
    pub fn print(&self, text: &str) {
        if self.format == Format::Human {
            self.check(writeln!(io::stdout(), "{text}"));
        }
    }

    /// A message on standard output, for programs only.
    pub fn message(&self, message: &serde_json::Value) {
        if self.format == Format::Json {
            self.check(writeln!(io::stdout(), "{message}"));
        }
    }
}
