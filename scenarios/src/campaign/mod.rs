//! Many runs of many scenarios.
//!
//! * [`exit`]: exit codes and which of several decides
//! * [`subject`]: a scenario, perhaps with a planted bug switched on
//! * [`selection`]: which scenarios a campaign runs
//! * [`programs`]: programs with known numbers of interleavings
//! * [`profile`]: how much it runs, from a TOML file
//! * [`rounds`]: how the runs are dealt out, so that a budget of time cuts all scenarios alike
//! * [`runner`]: the campaign itself
//! * [`verdict`]: what a scenario's runs showed; gates
//! * [`exploration`]: every distinguishable interleaving of one scenario
//! * [`saved`]: an exploration that did not finish, as a file
//! * [`equivalence`]: schedulers against sequential execution, simulated and on real threads
//! * [`bounded`]: files from outside, read up to a limit
//! * [`selftest`]: tests of the tests: planted bugs, canary, no false findings
//! * [`fixtures`]: hidden scenarios that end in each possible way

pub mod bounded;
pub mod equivalence;
pub mod exit;
pub mod exploration;
pub mod fixtures;
pub mod profile;
pub mod programs;
pub mod rounds;
pub mod runner;
pub mod saved;
pub mod selection;
pub mod selftest;
pub mod subject;
pub mod verdict;

pub use exit::Exit;
pub use subject::Subject;
