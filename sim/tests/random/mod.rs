//! Random small programs, and the two ways to explore them that are compared.

pub(crate) mod compare;
pub(crate) mod generate;
pub(crate) mod program;
pub(crate) mod run;
pub(crate) mod shrink;
