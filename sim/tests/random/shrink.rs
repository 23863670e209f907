//! Smaller programs with the same fault.

use super::program::{Body, Op};

/// The smallest program that can be reached by steps each of which leaves something wrong.
pub(crate) fn shrink(mut program: Body, wrong: &dyn Fn(&Body) -> bool) -> Body {
    loop {
        match smaller(&program).into_iter().find(|candidate| wrong(candidate)) {
            Some(better) => program = better,
            None => return program,
        }
    }
}

fn smaller(body: &Body) -> Vec<Body> {
    let mut all: Vec<Body> = smaller_ops(&body.ops).into_iter().map(|ops| Body { ops, ..body.clone() }).collect();
    for flag in 0..4 {
        let mut other = body.clone();
        let place = [&mut other.sends, &mut other.receives, &mut other.forgets, &mut other.detaches];
        let [a, b, c, d] = place;
        let bit = match flag {
            0 => a,
            1 => b,
            2 => c,
            _ => d,
        };
        if std::mem::take(bit) {
            all.push(other);
        }
    }
    all
}

fn smaller_ops(ops: &[Op]) -> Vec<Vec<Op>> {
    let mut all = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        let with = |new: Vec<Op>| [&ops[..i], &new, &ops[i + 1..]].concat();
        all.push(with(Vec::new()));
        match op {
            Op::If(value, inner) => {
                all.push(with(inner.clone()));
                all.extend(smaller_ops(inner).into_iter().map(|o| with(vec![Op::If(*value, o)])));
            }
            Op::Spawn(body) => all.extend(smaller(body).into_iter().map(|b| with(vec![Op::Spawn(b)]))),
            _ => {}
        }
    }
    all
}
