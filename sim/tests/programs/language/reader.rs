//! Reading expressions: a recursive descent over tokens. The caller says what a name means.

use super::expression::{Expression, Operator};
use super::program::Place;

/// The meaning of names.
pub(super) trait Names {
    /// A name, or `name.member`.
    fn name(&mut self, name: &str, member: Option<&str>) -> Result<Expression, String>;
    /// The array called `name`, for `name[index]`.
    fn array(&mut self, name: &str, index: Expression) -> Result<Place, String>;
}

/// Operators by precedence, loosest first. `not` stands between `and` and the comparisons.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("or", Operator::Or), ("||", Operator::Or)],
    &[("and", Operator::And), ("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessEqual),
        (">=", Operator::GreaterEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("%", Operator::Remainder)],
];
const COMPARISONS: usize = 2;

pub(super) fn expression(text: &str, names: &mut dyn Names) -> Result<Expression, String> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, names };
    let read = reader.binary(0)?;
    match reader.tokens.first() {
        None => Ok(read),
        Some(rest) => Err(format!("`{rest}` is left over in `{text}`")),
    }
}

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let length = match word {
            0 if ["==", "!=", "<=", ">=", "&&", "||"].iter().any(|t| rest.starts_with(t)) => 2,
            0 if "<>|^&+-*%()[],.".contains(first) => 1,
            0 => return Err(format!("unexpected `{first}` in `{text}`")),
            n => n,
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct Reader<'a> {
    tokens: &'a [&'a str],
    names: &'a mut dyn Names,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<&'a str, String> {
        let (first, rest) = self.tokens.split_first().ok_or("the expression ends too early")?;
        self.tokens = rest;
        Ok(first)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.tokens.first() == Some(&token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("`{token}` is missing")) }
    }

    fn binary(&mut self, level: usize) -> Result<Expression, String> {
        if level == COMPARISONS && self.take("not") {
            return Ok(Expression::Not(Box::new(self.binary(level)?)));
        }
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(token, _)| self.take(token)) {
            left = Expression::Binary(operator, Box::new((left, self.binary(level + 1)?)));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        if self.take("-") {
            return Ok(Expression::Negative(Box::new(self.unary()?)));
        }
        let token = self.next()?;
        if token == "(" {
            let inner = self.binary(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Ok(number) = token.parse() {
            return Ok(Expression::Number(number));
        }
        if self.take("(") {
            return self.call(token);
        }
        if self.take("[") {
            let index = self.binary(0)?;
            self.expect("]")?;
            return Ok(Expression::Shared(Box::new(self.names.array(token, index)?)));
        }
        let member = if self.take(".") { Some(self.next()?) } else { None };
        self.names.name(token, member)
    }

    fn call(&mut self, function: &str) -> Result<Expression, String> {
        let first = self.binary(0)?;
        let called = match function {
            "abs" => Expression::Absolute(Box::new(first)),
            "min" | "max" => {
                self.expect(",")?;
                let operator = if function == "min" { Operator::Least } else { Operator::Greatest };
                Expression::Binary(operator, Box::new((first, self.binary(0)?)))
            }
            _ => return Err(format!("no function is called `{function}`")),
        };
        self.expect(")")?;
        Ok(called)
    }
}
