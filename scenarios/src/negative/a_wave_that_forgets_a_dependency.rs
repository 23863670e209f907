//! The family of `wave_waits_for_its_dependencies`, executed by a scheduler that forgets one dependency.
//!
//! Shows that a child that ran beside its parent is seen in its receipt (item N8).

use interleaf_engine::planted::Planted;

use crate::checkers::block_result;
use crate::scenario::{Expected, Scenario, Setup};
use crate::scheduler::wave_waits_for_its_dependencies as twin;

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.a_wave_that_forgets_a_dependency",
    claim: "a wave scheduler that forgets a dependency differs from sequential execution",
    invariants: &[block_result::NAME],
    expected: Expected::Breaks(&[block_result::NAME]),
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::WaveIgnoresDependency), ..*setup }),
    ..twin::STORY
};
