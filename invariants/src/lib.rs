//! Checkers over events, histories and externalised state.
#![forbid(unsafe_code)]
