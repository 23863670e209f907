//! Threads that own what they use.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::thread::Result;

use crate::runtime::entry::{self, Identity, Joinable};

/// Handle to a thread.
#[derive(Clone)]
pub struct Thread(ThreadKind);

#[derive(Clone)]
enum ThreadKind {
    Real(std::thread::Thread),
    Simulated(Identity),
}

impl Thread {
    pub(super) fn simulated(identity: Identity) -> Self {
        Self(ThreadKind::Simulated(identity))
    }

    pub(super) fn real(thread: &std::thread::Thread) -> Self {
        Self(ThreadKind::Real(thread.clone()))
    }

    /// Gives the thread its token: its present or next `park` returns.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            ThreadKind::Real(thread) => thread.unpark(),
            ThreadKind::Simulated(identity) => entry::unpark(identity, Location::caller()),
        }
    }

    /// The thread's unique id.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            ThreadKind::Real(thread) => IdKind::Real(thread.id()),
            ThreadKind::Simulated(identity) => IdKind::Simulated(identity.number),
        })
    }

    /// The name that it was given. The first thread of a run is called `main`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            ThreadKind::Real(thread) => thread.name(),
            ThreadKind::Simulated(identity) if identity.number == 0 => Some("main"),
            ThreadKind::Simulated(identity) => identity.name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Unique id of a thread. Inside a run: its number in the order of creation, the same in every replay.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(IdKind);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum IdKind {
    Real(std::thread::ThreadId),
    Simulated(u32),
}

/// The running thread.
#[must_use]
pub fn current() -> Thread {
    match entry::identity() {
        Some(identity) => Thread::simulated(identity),
        None => Thread::real(&std::thread::current()),
    }
}

/// The right to wait for a thread's end and take its result.
pub struct JoinHandle<T>(HandleKind<T>);

enum HandleKind<T> {
    Real(Box<(std::thread::JoinHandle<T>, Thread)>),
    /// The `Thread` is made when somebody asks for it.
    Simulated(Joinable<T>, OnceLock<Thread>),
}

impl<T> JoinHandle<T> {
    /// Waits for the thread's end.
    ///
    /// # Errors
    /// The payload of the panic by which the thread ended. Taking it makes the panic an ordinary value; a panic that
    /// nobody takes fails the run.
    ///
    /// # Panics
    /// If a simulated thread is joined outside its run.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            HandleKind::Real(real) => real.0.join(),
            HandleKind::Simulated(joinable, _) => joinable.join(Location::caller()),
        }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            HandleKind::Real(real) => &real.1,
            HandleKind::Simulated(joinable, thread) => thread.get_or_init(|| Thread::simulated(joinable.identity())),
        }
    }

    /// Whether the thread has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            HandleKind::Real(real) => real.0.is_finished(),
            HandleKind::Simulated(joinable, _) => joinable.is_finished(),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Starts a thread.
///
/// # Panics
/// If the system cannot start one, or if a run has 64 threads alive.
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match entry::spawn(f, None) {
        Ok(joinable) => simulated(joinable),
        Err(f) => real(std::thread::spawn(f)),
    }
}

fn simulated<T>(joinable: Joinable<T>) -> JoinHandle<T> {
    JoinHandle(HandleKind::Simulated(joinable, OnceLock::new()))
}

fn real<T>(handle: std::thread::JoinHandle<T>) -> JoinHandle<T> {
    let thread = Thread::real(handle.thread());
    JoinHandle(HandleKind::Real(Box::new((handle, thread))))
}

/// Starts threads with a name or a stack size.
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    pub(super) name: Option<String>,
    pub(super) stack_size: Option<usize>,
}

impl Builder {
    /// A builder without settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of the thread; reports and replays identify it by this.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// The size of the stack in bytes. Inside a run all stacks have one size and this is ignored.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// If the system cannot start one.
    ///
    /// # Panics
    /// If a run has 64 threads alive, or if the name contains a null byte.
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let name = self.shared_name();
        match entry::spawn(f, name) {
            Ok(joinable) => Ok(simulated(joinable)),
            Err(f) => self.real().spawn(f).map(real),
        }
    }

    /// The name for a simulated thread.
    pub(super) fn shared_name(&self) -> Option<Arc<str>> {
        let name = self.name.as_deref()?;
        if let Err(error) = std::ffi::CString::new(name) {
            panic!("thread name may not contain interior null bytes: {error:?}");
        }
        Some(Arc::from(name))
    }

    pub(super) fn real(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}
