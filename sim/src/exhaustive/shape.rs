//! The types of the values of atomics.

use crate::monitor::OpKind;

/// An integer type. Its values are kept as words: cast to `u64`, so that the sign of a negative one fills the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shape {
    /// Width in bits; 0 where there are no values.
    bits: u8,
    signed: bool,
}

impl Shape {
    pub(crate) const fn new(bits: u32, signed: bool) -> Self {
        Self { bits: bits as u8, signed }
    }

    /// What an update leaves that finds `found`. Other kinds leave what they find.
    pub(crate) fn updated(self, kind: OpKind, found: u64, operand: u64) -> u64 {
        match kind {
            OpKind::Add => self.fitted(found.wrapping_add(operand)),
            OpKind::And => found & operand,
            OpKind::Or => found | operand,
            OpKind::Xor => found ^ operand,
            OpKind::Max if self.signed => found.cast_signed().max(operand.cast_signed()).cast_unsigned(),
            OpKind::Min if self.signed => found.cast_signed().min(operand.cast_signed()).cast_unsigned(),
            OpKind::Max => found.max(operand),
            OpKind::Min => found.min(operand),
            _ => found,
        }
    }

    /// The word of the value that is left of `word` in so many bits.
    const fn fitted(self, word: u64) -> u64 {
        let spare = 64 - self.bits as u32;
        match spare {
            64 => word,
            _ if self.signed => ((word << spare).cast_signed() >> spare).cast_unsigned(),
            _ => word << spare >> spare,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_updated_as_the_values_they_stand_for() {
        let values = [i8::MIN, -3, -1, 0, 1, 5, i8::MAX];
        let (signed, unsigned) = (Shape::new(8, true), Shape::new(8, false));
        for a in values {
            for b in values {
                for (kind, f) in [
                    (OpKind::Add, i8::wrapping_add as fn(i8, i8) -> i8),
                    (OpKind::And, |a, b| a & b),
                    (OpKind::Or, |a, b| a | b),
                    (OpKind::Xor, |a, b| a ^ b),
                    (OpKind::Max, Ord::max),
                    (OpKind::Min, Ord::min),
                ] {
                    assert_eq!(signed.updated(kind, a as u64, b as u64), f(a, b) as u64, "{kind:?} {a} {b}");
                }
                let (a, b) = (a as u8, b as u8);
                for (kind, f) in [
                    (OpKind::Add, u8::wrapping_add as fn(u8, u8) -> u8),
                    (OpKind::Max, Ord::max),
                    (OpKind::Min, Ord::min),
                ] {
                    assert_eq!(unsigned.updated(kind, u64::from(a), u64::from(b)), u64::from(f(a, b)), "{kind:?}");
                }
            }
        }
        assert_eq!(Shape::new(64, false).updated(OpKind::Add, u64::MAX, 2), 1);
    }
}
