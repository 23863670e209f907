//! Integer expressions. Comparisons and logic give 0 or 1, and bind as in Python: `r & 2 == 0` compares `r & 2`.

use super::program::Place;

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(i64),
    Register(usize),
    /// The value that a read-modify-write found.
    Old,
    /// A shared integer, in a final condition.
    Shared(Box<Place>),
    /// A register of a thread, in a final condition.
    Foreign(usize, usize),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Absolute(Box<Expression>),
    Binary(Operator, Box<(Expression, Expression)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitXor,
    BitAnd,
    Add,
    Subtract,
    Multiply,
    Remainder,
    Least,
    Greatest,
}

/// What names stand for while an expression is evaluated.
#[derive(Clone, Copy, Default)]
pub(super) struct Values<'a> {
    pub(super) registers: &'a [i64],
    pub(super) old: i64,
    pub(super) shared: &'a [i64],
    pub(super) threads: &'a [Vec<i64>],
}

impl Expression {
    pub(super) fn value(&self, values: Values<'_>) -> i64 {
        match self {
            Self::Number(n) => *n,
            Self::Register(r) => values.registers[*r],
            Self::Old => values.old,
            Self::Shared(place) => values.shared[place.cell(values)],
            Self::Foreign(thread, register) => values.threads[*thread].get(*register).copied().unwrap_or(0),
            Self::Not(e) => i64::from(e.value(values) == 0),
            Self::Negative(e) => -e.value(values),
            Self::Absolute(e) => e.value(values).abs(),
            Self::Binary(operator, both) => {
                let left = both.0.value(values);
                match operator {
                    // As Python's: the value that decided.
                    Operator::Or if left != 0 => left,
                    Operator::And if left == 0 => left,
                    _ => operator.apply(left, both.1.value(values)),
                }
            }
        }
    }

    pub(super) fn holds(&self, values: Values<'_>) -> bool {
        self.value(values) != 0
    }
}

impl Operator {
    fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Or | Self::And => b,
            Self::Equal => i64::from(a == b),
            Self::NotEqual => i64::from(a != b),
            Self::Less => i64::from(a < b),
            Self::LessEqual => i64::from(a <= b),
            Self::Greater => i64::from(a > b),
            Self::GreaterEqual => i64::from(a >= b),
            Self::BitOr => a | b,
            Self::BitXor => a ^ b,
            Self::BitAnd => a & b,
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Remainder => a.rem_euclid(b),
            Self::Least => a.min(b),
            Self::Greatest => a.max(b),
        }
    }
}
