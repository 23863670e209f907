//! A small language for concurrent programs with known answers, and its interpreter on the façade.
//!
//! ```text
//! param N=2                       a number that the caller may override
//! shared x=0 a[N]=1               integers and arrays of them, each an atomic
//! mutex m  rwlock l  cond c       locks, also arrays of them: `mutex m[4]`
//! thread w[j=1..N]                one thread for each j; `{expression}` in its lines is replaced
//!   r := x_old + 1                a register of the thread; registers start at 0
//!   r = load a[{j}]               `store x, E`; `r = rmw x, old+1`; `r = cas x, EXPECTED, NEW` (then r_old too)
//!   lock m                        `unlock m`; `r = trylock m`; `rlock l`, `runlock l`, `wlock l`, `wunlock l`
//!   wait c, m                     `signal c`, `broadcast c`
//!   if E goto L                   `goto L`, `L:`, `end`; `repeat i=0..3` … `endrepeat` is unrolled
//!   assume E                      ends the thread as blocked unless E holds
//!   assert E                      marks the run as wrong unless E holds
//! final E                         over shared names and `thread.register`; checked at the end of the run
//! ```
//!
//! A line may end in memory orders (`na` is taken for `rlx`). What an operation is, and which two of them conflict, is as in
//! the literature: a failed `cas` or `trylock` reads; read locks commute; all other operations on one lock conflict.

mod expression;
pub(crate) mod program;
mod reader;
pub(crate) mod run;
