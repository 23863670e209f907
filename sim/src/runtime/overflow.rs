//! Names the thread that ran over its stack.
//!
//! A controlled thread's stack ends in a guard page; without this the process would die of a bare SIGSEGV, since
//! std's own handler knows only the stacks of OS threads.

#[cfg(unix)]
mod imp {
    use std::sync::Once;

    use super::super::rt::{MAX_THREADS, try_current};
    use super::super::signal::Replaced;
    use super::super::stack;

    static INSTALL: Once = Once::new();
    static BEFORE: [Replaced; 2] = [const { Replaced::new() }; 2];
    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

    pub(crate) fn install() {
        INSTALL.call_once(|| {
            for (signal, before) in SIGNALS.iter().zip(&BEFORE) {
                // SAFETY: the handler is async-signal-safe: it reads, writes to stderr and aborts.
                unsafe { before.replace(*signal, handler as *const (), libc::SA_SIGINFO | libc::SA_ONSTACK) }
            }
        });
    }

    extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid siginfo.
        let address = unsafe { (*info).si_addr() } as usize;
        if let Some(slot) = stack::guard_hit(address) {
            let r = try_current();
            let (number, seed, step) = if r.is_null() || slot >= MAX_THREADS {
                (0, 0, 0)
            } else {
                // SAFETY: non-null means this OS thread's runtime; plain reads.
                unsafe { (u64::from((*r).number[slot]), (*r).seed, u64::from((*r).step())) }
            };
            say("error: stack overflow in controlled thread number ");
            say_number(number);
            say(" (0 is main), seed ");
            say_number(seed);
            say(", step ");
            say_number(step);
            say(
                "\n  a controlled thread has 256 KiB of stack: look for endless recursion or very large local arrays\n",
            );
            // SAFETY: ends the process.
            unsafe { libc::abort() }
        }
        // Not ours: put the old handler back and let the fault happen again.
        for (s, before) in SIGNALS.iter().zip(&BEFORE) {
            if *s == signal {
                before.put_back(signal);
            }
        }
    }

    fn say(text: &str) {
        // SAFETY: writes a valid buffer to stderr; a failure cannot be told to anybody.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    }

    fn say_number(mut n: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        say(std::str::from_utf8(&digits[at..]).unwrap_or("?"));
    }
}

#[cfg(not(unix))]
mod imp {
    pub(crate) fn install() {}
}

pub(crate) use imp::install;
