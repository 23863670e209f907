//! Code that is written against the façade compiles with the feature `simulation` on and off, where it is std itself:
//! `cargo test -p interleaf --no-default-features --test plain`.

use std::cell::{Cell, RefCell};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use interleaf::sync::mpsc::{
    IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter, TryRecvError,
    TrySendError, channel, sync_channel,
};
use interleaf::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once, OnceLock, OnceState,
    PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult, Weak,
};
use interleaf::thread::{AccessError, Builder, JoinHandle, LocalKey, Thread, ThreadId};
use interleaf::time::{Instant, SystemTime, SystemTimeError, UNIX_EPOCH};
use interleaf::{hint, thread};

interleaf::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(1) };
    pub(crate) static LIST: RefCell<Vec<u32>> = RefCell::new(Vec::with_capacity(4));
}

static MUTEX: Mutex<u8> = Mutex::new(1);
static RWLOCK: RwLock<u8> = RwLock::new(2);
static CONDVAR: Condvar = Condvar::new();
static BARRIER: Barrier = Barrier::new(1);
static ONCE: Once = Once::new();
static CELL: OnceLock<u8> = OnceLock::new();
static LAZY: LazyLock<String> = LazyLock::new(|| String::from("lazy"));

fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
fn sent<T: Send + UnwindSafe + RefUnwindSafe>() {}

/// Whether a type does *not* implement a trait: else it is ambiguous which function is meant.
macro_rules! lacks {
    ($($type:ty: $bound:path;)*) => {
        $({
            trait Ambiguous<X> {
                fn lacks() {}
            }
            struct Has;
            impl<T: ?Sized> Ambiguous<()> for T {}
            impl<T: ?Sized + $bound> Ambiguous<Has> for T {}
            <$type as Ambiguous<_>>::lacks();
        })*
    };
}

#[test]
fn threads_may_share_what_they_may_share_in_std() {
    shared::<(Mutex<Cell<u8>>, Condvar, Barrier, BarrierWaitResult, Once)>();
    shared::<(OnceLock<u8>, LazyLock<u8>, LazyLock<u8, Box<fn() -> u8>>)>();
    shared::<(Sender<u8>, SyncSender<u8>, Thread, ThreadId, SystemTime, Instant)>();
    sent::<Receiver<u8>>();
    sent::<OnceLock<u8>>();
    shared::<(LocalKey<Cell<u8>>, AccessError)>();
    lacks! {
        Receiver<u8>: Sync;
        OnceState: Sync;
        Sender<std::rc::Rc<u8>>: Send;
        SyncSender<std::rc::Rc<u8>>: Sync;
        OnceLock<Cell<u8>>: Sync;
        OnceLock<MutexGuard<'static, u8>>: Send;
        LazyLock<Cell<u8>>: Sync;
        LazyLock<u8, std::rc::Rc<u8>>: Sync;
        RwLock<Cell<u8>>: Sync;
        MutexGuard<'static, u8>: Send;
    }
}

#[test]
fn everything_is_there() {
    let locked: LockResult<MutexGuard<'_, u8>> = MUTEX.lock();
    let (guard, timeout): (MutexGuard<'_, u8>, WaitTimeoutResult) =
        CONDVAR.wait_timeout(locked.unwrap(), Duration::ZERO).unwrap();
    drop(guard);
    let tried: TryLockResult<MutexGuard<'_, u8>> = MUTEX.try_lock();
    assert!(tried.is_ok_and(|value| *value == 1));
    let read: RwLockReadGuard<'_, u8> = RWLOCK.read().unwrap();
    let refused: Result<RwLockWriteGuard<'_, u8>, _> = RWLOCK.try_write();
    assert!(matches!(refused, Err(TryLockError::WouldBlock)) && timeout.timed_out());
    drop(read);
    assert!(PoisonError::new(1).into_inner() == 1 && BARRIER.wait().is_leader());
    ONCE.call_once_force(|state: &OnceState| assert!(!state.is_poisoned()));
    assert!(ONCE.is_completed() && *CELL.get_or_init(|| 3) == 3 && LAZY.len() == 4);

    let (sender, receiver) = channel();
    let weak: Weak<u8> = Arc::downgrade(&Arc::new(1));
    let handle: JoinHandle<Result<(), SendError<u8>>> =
        Builder::new().name("sends".into()).spawn(move || sender.send(5)).unwrap();
    assert!(handle.join().unwrap().is_ok() && weak.upgrade().is_none());
    {
        let mut all: Iter<'_, u8> = receiver.iter();
        let mut now: TryIter<'_, u8> = receiver.try_iter();
        assert_eq!((all.next(), now.next()), (Some(5), None));
    }
    let (gone, timeout) = (receiver.recv(), receiver.recv_timeout(Duration::ZERO));
    assert_eq!((gone, timeout), (Err(RecvError), Err(RecvTimeoutError::Disconnected)));
    let mut rest: IntoIter<u8> = receiver.into_iter();
    assert_eq!(rest.next(), None);
    let (sender, receiver) = sync_channel(0);
    assert_eq!((sender.try_send(1), receiver.try_recv()), (Err(TrySendError::Full(1)), Err(TryRecvError::Empty)));

    COUNT.set(COUNT.get() + 1);
    LIST.with_borrow_mut(|list| list.push(1));
    assert_eq!((COUNT.replace(0), LIST.take(), COUNT.try_with(Cell::get).ok()), (2, vec![1], Some(0)));

    thread::park_timeout(Duration::ZERO);
    hint::spin_loop();
    assert!(thread::available_parallelism().unwrap().get() > 0);
    let now = SystemTime::now();
    let error: SystemTimeError = UNIX_EPOCH.duration_since(now).unwrap_err();
    assert!(Instant::now().elapsed() < Duration::from_secs(60) && error.duration() > Duration::from_secs(1));
}
