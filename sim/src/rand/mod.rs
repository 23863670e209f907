//! Random numbers of a run: a function of its seed and of the stream's name.

pub use rand_core::Rng;
use rand_core::SeedableRng as _;
pub use rand_xoshiro::Xoshiro256PlusPlus as Stream;

use crate::choice::stream_seed;
use crate::runtime::seed;

/// The stream `name` of the present run. Asking twice gives the same numbers twice.
///
/// Outside a simulation the seed is 0, so that code which draws a workload works there too.
#[must_use]
pub fn stream(name: &str) -> Stream {
    Stream::seed_from_u64(stream_seed(seed().unwrap_or(0), name))
}
