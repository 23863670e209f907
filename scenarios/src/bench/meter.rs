//! Latencies, CPU time, memory.

use std::time::{Duration, Instant};

/// How long each of many operations took.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<Duration>);

/// The least, the middle, the 99th percentile and the greatest of some latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many there are.
    pub count: usize,
    /// The least.
    pub min: Duration,
    /// Half are at most this.
    pub median: Duration,
    /// 99 of 100 are at most this.
    pub p99: Duration,
    /// The greatest.
    pub max: Duration,
}

impl Latencies {
    /// Adds one.
    pub fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// Measures `f` and adds how long it took.
    pub fn measure<T>(&mut self, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = f();
        self.0.push(start.elapsed());
        value
    }

    /// All together.
    #[must_use]
    pub fn sum(&self) -> Duration {
        self.0.iter().sum()
    }

    /// How they are spread (nearest rank); zeros if there are none.
    #[must_use]
    pub fn spread(&self) -> Spread {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1];
        match sorted.as_slice() {
            [] => Spread::default(),
            [min, ..] => Spread { count: sorted.len(), min: *min, median: at(50), p99: at(99), max: at(100) },
        }
    }
}

/// Real and CPU time of one phase that is interrupted by others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phase {
    /// How many operations it was.
    pub count: u64,
    /// Real time.
    pub wall: Duration,
    /// CPU time of the process; `None` where it cannot be read.
    pub cpu: Option<Duration>,
}

impl Phase {
    /// A phase that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self { count: 0, wall: Duration::ZERO, cpu: cpu_time().map(|_| Duration::ZERO) }
    }

    /// Measures `f`, which does `count` operations.
    pub fn measure<T>(&mut self, count: u64, f: impl FnOnce() -> T) -> T {
        let (cpu, start) = (cpu_time(), Instant::now());
        let value = f();
        self.wall += start.elapsed();
        self.cpu = self.cpu.zip(cpu.zip(cpu_time())).map(|(sum, (from, to))| sum + to.saturating_sub(from));
        self.count += count;
        value
    }

    /// Operations in a second of real time.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        rate(self.count, self.wall)
    }

    /// Operations in a second of CPU time.
    #[must_use]
    pub fn per_cpu_second(&self) -> Option<f64> {
        self.cpu.map(|cpu| rate(self.count, cpu))
    }
}

/// `count` in `time`, a second; 0 in no time.
#[must_use]
pub fn rate(count: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { count as f64 / time.as_secs_f64() }
}

/// CPU time of the process.
#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

/// CPU time of the process: not known how to read it here.
#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}

/// The most memory that the process has had, in bytes; `None` where there is no `/proc`.
#[must_use]
pub fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_by_nearest_rank() {
        let ms = Duration::from_millis;
        let mut latencies = Latencies::default();
        assert_eq!(latencies.spread(), Spread::default());
        (1..=200).rev().for_each(|n| latencies.push(ms(n)));
        let spread = Spread { count: 200, min: ms(1), median: ms(100), p99: ms(198), max: ms(200) };
        assert_eq!(latencies.spread(), spread);
        assert_eq!(latencies.sum(), ms(20_100));
    }

    #[test]
    fn a_phase_adds_up() {
        let mut phase = Phase::new();
        phase.measure(3, || std::hint::black_box((0..100_000_u64).map(std::hint::black_box).sum::<u64>()));
        phase.measure(4, || ());
        assert_eq!(phase.count, 7);
        assert!(phase.wall > Duration::ZERO && phase.per_second() > 0.0);
        #[cfg(unix)]
        assert!(phase.cpu.is_some_and(|cpu| !cpu.is_zero()));
    }
}
