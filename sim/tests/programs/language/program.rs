//! A program of the language, read from its text.

use std::collections::BTreeMap;

use interleaf::sync::atomic::Ordering;

use super::expression::{Expression, Values};
use super::reader::{Names, expression};

/// A program ready to run.
pub(crate) struct Program {
    /// Initial values of the shared integers.
    pub(super) shared: Vec<i64>,
    pub(super) mutexes: usize,
    pub(super) rwlocks: usize,
    pub(super) condvars: usize,
    pub(super) threads: Vec<Thread>,
    pub(super) finals: Vec<Expression>,
}

pub(super) struct Thread {
    pub(super) registers: usize,
    pub(super) code: Vec<Instruction>,
}

/// A shared integer: one, or an element of an array.
#[derive(Clone, Debug)]
pub(super) struct Place {
    base: usize,
    length: usize,
    index: Expression,
}

impl Place {
    /// Which of the shared integers.
    pub(super) fn cell(&self, values: Values<'_>) -> usize {
        let index = usize::try_from(self.index.value(values)).unwrap_or(usize::MAX);
        assert!(index < self.length, "index {index} of an array of {}", self.length);
        self.base + index
    }
}

/// What a read-modify-write does with its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Add,
    Or,
    And,
    Replace,
}

#[derive(Debug)]
pub(super) enum Instruction {
    Set(usize, Expression),
    Jump(Expression, usize),
    Load(usize, Place, Ordering),
    Store(Place, Expression, Ordering),
    Rmw(usize, Place, Change, Expression, Ordering),
    Cas { won: usize, seen: usize, place: Place, expected: Expression, new: Expression, orders: (Ordering, Ordering) },
    Lock(usize),
    Unlock(usize),
    TryLock(usize, usize),
    ReadLock(usize),
    ReadUnlock(usize),
    WriteLock(usize),
    WriteUnlock(usize),
    Wait(usize, usize),
    Signal(usize),
    Broadcast(usize),
    Fence(Ordering),
    Assume(Expression),
    Assert(Expression),
    End,
}

type Numbers = BTreeMap<String, i64>;

/// Everything that is declared outside threads.
#[derive(Default)]
struct Declared {
    numbers: Numbers,
    shared: Vec<i64>,
    /// First cell and length.
    arrays: BTreeMap<String, (usize, usize)>,
    mutexes: BTreeMap<String, usize>,
    rwlocks: BTreeMap<String, usize>,
    condvars: BTreeMap<String, usize>,
    /// Threads by name, with the names of their registers.
    threads: BTreeMap<String, (usize, BTreeMap<String, usize>)>,
}

impl Program {
    /// Reads a program; `parameters` override its own.
    ///
    /// # Errors
    /// What is not understood, with its line.
    pub(crate) fn read(text: &str, parameters: &[(&str, i64)]) -> Result<Self, String> {
        let mut declared = Declared::default();
        let mut templates: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut finals = Vec::new();
        let mut in_thread = false;
        for line in text.lines().map(|l| l.split('#').next().unwrap_or("").trim()).filter(|l| !l.is_empty()) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "param" => declared.parameter(rest, parameters)?,
                "thread" => {
                    in_thread = true;
                    templates.push((rest.trim(), Vec::new()));
                }
                "final" => {
                    in_thread = false;
                    finals.push(declared.replace(rest, &declared.numbers.clone())?);
                }
                _ if in_thread => templates.last_mut().ok_or("no thread")?.1.push(line),
                _ => declared.declare(word, rest).map_err(|e| format!("{line}: {e}"))?,
            }
        }
        let mut threads = Vec::new();
        for (head, lines) in templates {
            for (name, numbers) in instances(&declared, head)? {
                let lines = unroll(&declared, &lines, &numbers)?;
                let mut compiler = Compiler { declared: &declared, numbers, registers: BTreeMap::new() };
                let code = compiler.thread(&lines)?;
                let registers = compiler.registers;
                threads.push(Thread { registers: registers.len(), code });
                declared.threads.insert(name, (threads.len() - 1, registers));
            }
        }
        let finals = finals.iter().map(|f| expression(f, &mut FinalNames(&declared))).collect::<Result<_, _>>()?;
        Ok(Self {
            mutexes: declared.mutexes.len(),
            rwlocks: declared.rwlocks.len(),
            condvars: declared.condvars.len(),
            shared: declared.shared,
            threads,
            finals,
        })
    }
}

/// The threads that a head such as `w[j=1..N]` stands for, and what is known inside each.
fn instances(declared: &Declared, head: &str) -> Result<Vec<(String, Numbers)>, String> {
    let Some((name, range)) = head.strip_suffix(']').and_then(|h| h.split_once('[')) else {
        return Ok(vec![(head.to_owned(), declared.numbers.clone())]);
    };
    let (variable, range) = range.split_once('=').ok_or(format!("thread {head}: no range"))?;
    let numbers = range_of(range, &declared.numbers)?;
    Ok(numbers.map(|v| (format!("{name}{v}"), with(&declared.numbers, variable, v))).collect())
}

fn with(numbers: &Numbers, name: &str, value: i64) -> Numbers {
    let mut numbers = numbers.clone();
    numbers.insert(name.trim().to_owned(), value);
    numbers
}

fn range_of(text: &str, numbers: &Numbers) -> Result<std::ops::RangeInclusive<i64>, String> {
    let (low, high) = text.split_once("..").ok_or(format!("`{text}` is no range"))?;
    Ok(constant(low, numbers)?..=constant(high, numbers)?)
}

/// The lines with `{…}` replaced and `repeat` blocks written out.
fn unroll(declared: &Declared, lines: &[&str], numbers: &Numbers) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = declared.replace(lines[at], numbers)?;
        at += 1;
        let Some((variable, range)) = line.strip_prefix("repeat ").and_then(|r| r.split_once('=')) else {
            out.push(line);
            continue;
        };
        let mut depth = 1;
        let body = at;
        while depth > 0 {
            let line = *lines.get(at).ok_or("repeat without endrepeat")?;
            depth += i32::from(line.starts_with("repeat ")) - i32::from(line == "endrepeat");
            at += 1;
        }
        for value in range_of(range, numbers)? {
            out.extend(unroll(declared, &lines[body..at - 1], &with(numbers, variable, value))?);
        }
    }
    Ok(out)
}

fn constant(text: &str, numbers: &Numbers) -> Result<i64, String> {
    Ok(expression(text, &mut Constants(numbers))?.value(Values::default()))
}

impl Declared {
    fn parameter(&mut self, text: &str, given: &[(&str, i64)]) -> Result<(), String> {
        let (name, value) = text.split_once('=').ok_or("param without a value")?;
        let name = name.trim();
        let value = match given.iter().find(|(n, _)| *n == name) {
            Some((_, value)) => *value,
            None => constant(value, &self.numbers)?,
        };
        self.numbers.insert(name.to_owned(), value);
        Ok(())
    }

    /// `line` with each `{expression}` replaced by its value.
    fn replace(&self, line: &str, numbers: &Numbers) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after.split_once('}').ok_or(format!("`{line}`: no closing brace"))?;
            // A later loop's variable is not known yet in a `repeat` line of an outer one.
            out.push_str(before);
            out.push_str(&constant(inside, numbers)?.to_string());
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn declare(&mut self, kind: &str, names: &str) -> Result<(), String> {
        for item in names.split_whitespace() {
            let (name, value) = item.split_once('=').unwrap_or((item, "0"));
            let (name, length) = match name.strip_suffix(']').and_then(|n| n.split_once('[')) {
                Some((name, length)) => (name, Some(constant(length, &self.numbers)?)),
                None => (name, None),
            };
            let length = length.map(|l| usize::try_from(l).map_err(|e| e.to_string())).transpose()?;
            let objects = match kind {
                "shared" => {
                    let value = constant(value, &self.numbers)?;
                    self.arrays.insert(name.to_owned(), (self.shared.len(), length.unwrap_or(1)));
                    self.shared.extend(vec![value; length.unwrap_or(1)]);
                    continue;
                }
                "mutex" => &mut self.mutexes,
                "rwlock" => &mut self.rwlocks,
                "cond" => &mut self.condvars,
                _ => return Err(format!("`{kind}` is not supported")),
            };
            let names = match length {
                Some(n) => (0..n).map(|i| format!("{name}[{i}]")).collect(),
                None => vec![name.to_owned()],
            };
            for name in names {
                let next = objects.len();
                objects.insert(name, next);
            }
        }
        Ok(())
    }

    fn place(&self, name: &str, index: Expression) -> Result<Place, String> {
        let &(base, length) = self.arrays.get(name).ok_or(format!("nothing shared is called `{name}`"))?;
        Ok(Place { base, length, index })
    }
}

struct Constants<'a>(&'a Numbers);

impl Names for Constants<'_> {
    fn name(&mut self, name: &str, _: Option<&str>) -> Result<Expression, String> {
        self.0.get(name).map(|n| Expression::Number(*n)).ok_or(format!("`{name}` is not known here"))
    }

    fn array(&mut self, name: &str, _: Expression) -> Result<Place, String> {
        Err(format!("`{name}` is not constant"))
    }
}

struct FinalNames<'a>(&'a Declared);

impl Names for FinalNames<'_> {
    fn name(&mut self, name: &str, member: Option<&str>) -> Result<Expression, String> {
        if let Some(member) = member {
            let (thread, registers) = self.0.threads.get(name).ok_or(format!("no thread is called `{name}`"))?;
            let register = registers.get(member).ok_or(format!("thread `{name}` has no `{member}`"))?;
            return Ok(Expression::Foreign(*thread, *register));
        }
        match self.0.numbers.get(name) {
            Some(number) => Ok(Expression::Number(*number)),
            None => Ok(Expression::Shared(Box::new(self.0.place(name, Expression::Number(0))?))),
        }
    }

    fn array(&mut self, name: &str, index: Expression) -> Result<Place, String> {
        self.0.place(name, index)
    }
}

/// Compiles the lines of one thread.
struct Compiler<'a> {
    declared: &'a Declared,
    numbers: Numbers,
    registers: BTreeMap<String, usize>,
}

impl Names for Compiler<'_> {
    fn name(&mut self, name: &str, _: Option<&str>) -> Result<Expression, String> {
        Ok(match self.numbers.get(name) {
            _ if name == "old" => Expression::Old,
            Some(number) if !self.registers.contains_key(name) => Expression::Number(*number),
            _ => Expression::Register(self.register(name)),
        })
    }

    fn array(&mut self, name: &str, _: Expression) -> Result<Place, String> {
        Err(format!("`{name}[…]` must be loaded first"))
    }
}

impl Compiler<'_> {
    fn register(&mut self, name: &str) -> usize {
        let next = self.registers.len();
        *self.registers.entry(name.to_owned()).or_insert(next)
    }

    fn thread(&mut self, lines: &[String]) -> Result<Vec<Instruction>, String> {
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        let mut count = 0;
        for line in lines {
            match line.strip_suffix(':') {
                Some(label) => {
                    labels.insert(label, count);
                }
                None => count += 1,
            }
        }
        let mut code = Vec::new();
        for line in lines.iter().filter(|l| !l.ends_with(':')) {
            code.push(self.instruction(line, &labels).map_err(|e| format!("{line}: {e}"))?);
        }
        code.push(Instruction::End);
        Ok(code)
    }

    fn instruction(&mut self, line: &str, labels: &BTreeMap<&str, usize>) -> Result<Instruction, String> {
        if let Some((register, value)) = line.split_once(":=") {
            let value = expression(value, self)?;
            return Ok(Instruction::Set(self.register(register.trim()), value));
        }
        let (target, operation, rest) = operation(line);
        let target = target.unwrap_or("_");
        let jump = |label: &str| labels.get(label.trim()).copied().ok_or(format!("no label {label}"));
        let objects = self.declared;
        let find = |of: &BTreeMap<String, usize>, name: &str| of.get(name).copied().ok_or(format!("no {name}"));
        let mutex = |name: &str| find(&objects.mutexes, name);
        let rwlock = |name: &str| find(&objects.rwlocks, name);
        let condvar = |name: &str| find(&objects.condvars, name);
        let orders = orders(rest);
        let arguments = arguments(rest);
        let argument = |i: usize| arguments.get(i).copied().ok_or(format!("argument {} is missing", i + 1));
        Ok(match operation {
            "goto" => Instruction::Jump(Expression::Number(1), jump(rest)?),
            "if" => {
                let (condition, label) = rest.rsplit_once(" goto ").ok_or("if without goto")?;
                Instruction::Jump(expression(condition, self)?, jump(label)?)
            }
            "load" => Instruction::Load(self.register(target), self.place(argument(0)?)?, orders[0]),
            "store" => Instruction::Store(self.place(argument(0)?)?, expression(argument(1)?, self)?, orders[0]),
            "rmw" => {
                let (change, operand) = self.change(argument(1)?)?;
                Instruction::Rmw(self.register(target), self.place(argument(0)?)?, change, operand, orders[0])
            }
            "cas" => Instruction::Cas {
                won: self.register(target),
                seen: self.register(&format!("{target}_old")),
                place: self.place(argument(0)?)?,
                expected: expression(argument(1)?, self)?,
                new: expression(argument(2)?, self)?,
                orders: (orders[0], orders[1]),
            },
            "trylock" => Instruction::TryLock(self.register(target), mutex(argument(0)?)?),
            "lock" => Instruction::Lock(mutex(argument(0)?)?),
            "unlock" => Instruction::Unlock(mutex(argument(0)?)?),
            "rlock" => Instruction::ReadLock(rwlock(argument(0)?)?),
            "runlock" => Instruction::ReadUnlock(rwlock(argument(0)?)?),
            "wlock" => Instruction::WriteLock(rwlock(argument(0)?)?),
            "wunlock" => Instruction::WriteUnlock(rwlock(argument(0)?)?),
            "wait" => Instruction::Wait(condvar(argument(0)?)?, mutex(argument(1)?)?),
            "signal" => Instruction::Signal(condvar(argument(0)?)?),
            "broadcast" => Instruction::Broadcast(condvar(argument(0)?)?),
            "fence" => Instruction::Fence(orders[0]),
            "assume" => Instruction::Assume(expression(rest, self)?),
            "assert" => Instruction::Assert(expression(rest, self)?),
            "end" => Instruction::End,
            other => return Err(format!("`{other}` is not supported")),
        })
    }

    fn place(&mut self, text: &str) -> Result<Place, String> {
        match text.strip_suffix(']').and_then(|t| t.split_once('[')) {
            Some((name, index)) => {
                let index = expression(index, self)?;
                self.declared.place(name, index)
            }
            None => self.declared.place(text, Expression::Number(0)),
        }
    }

    /// `old+E`, `old-E`, `old | E`, `old & E`, or a value that does not depend on `old`: what atomics can do at once.
    fn change(&mut self, text: &str) -> Result<(Change, Expression), String> {
        let Some(rest) = text.trim().strip_prefix("old").map(str::trim_start) else {
            return Ok((Change::Replace, expression(text, self)?));
        };
        let (change, operand) = match rest.split_at_checked(1) {
            Some(("+", operand)) => (Change::Add, operand),
            Some(("-", operand)) => {
                return Ok((Change::Add, Expression::Negative(Box::new(expression(operand, self)?))));
            }
            Some(("|", operand)) => (Change::Or, operand),
            Some(("&", operand)) => (Change::And, operand),
            _ => return Err(format!("`{text}` is no single atomic operation")),
        };
        Ok((change, expression(operand, self)?))
    }
}

/// `target = operation rest`, or `operation rest`.
fn operation(line: &str) -> (Option<&str>, &str, &str) {
    if let Some((target, right)) = line.split_once('=') {
        let (operation, rest) = right.trim_start().split_once(' ').unwrap_or((right.trim(), ""));
        if ["load", "rmw", "cas", "trylock"].contains(&operation) {
            return (Some(target.trim()), operation, rest.trim());
        }
    }
    let (operation, rest) = line.split_once(' ').unwrap_or((line, ""));
    (None, operation, rest.trim())
}

/// The arguments between commas that are not inside brackets, without memory orders.
fn arguments(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let comma = |c: char| {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        c == ',' && depth == 0
    };
    let all = text.split(comma).map(str::trim);
    all.filter(|a| !["", "na", "rlx", "acq", "rel", "ar", "sc"].contains(a)).collect()
}

/// The memory orders at the end, two of them: `sc` where none is given. What is not atomic is taken for relaxed, which
/// has the same executions where there is no data race.
fn orders(text: &str) -> [Ordering; 2] {
    let mut given = text.split(',').map(str::trim).filter_map(|word| match word {
        "na" | "rlx" => Some(Ordering::Relaxed),
        "acq" => Some(Ordering::Acquire),
        "rel" => Some(Ordering::Release),
        "ar" => Some(Ordering::AcqRel),
        "sc" => Some(Ordering::SeqCst),
        _ => None,
    });
    std::array::from_fn(|_| given.next().unwrap_or(Ordering::SeqCst))
}
