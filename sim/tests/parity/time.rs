//! Both clocks.

worlds! {
    fn time_passes_in_sleep() -> String {
        let start = time::Instant::now();
        thread::sleep(time::Duration::from_millis(3));
        let slept = start.elapsed() >= time::Duration::from_millis(3);
        let later = start + time::Duration::from_secs(1);
        format!("{slept} {:?} {:?}", later - start, start.checked_duration_since(later))
    }

    fn the_time_of_day_passes_in_sleep() -> String {
        let start = time::SystemTime::now();
        let brief = time::Duration::from_millis(2);
        thread::sleep(brief);
        let slept = start.elapsed().unwrap() >= brief;
        let after_epoch = start > time::UNIX_EPOCH && start.duration_since(time::SystemTime::UNIX_EPOCH).is_ok();
        format!("{slept} {after_epoch}")
    }

    fn the_time_of_day_can_be_reckoned_with() -> String {
        let hour = time::Duration::from_secs(3_600);
        let mut moment = time::UNIX_EPOCH + hour;
        let (later, earlier) = (moment.checked_add(hour), moment.checked_sub(hour));
        let error: time::SystemTimeError = moment.duration_since(later.unwrap()).unwrap_err();
        moment += hour;
        moment -= time::Duration::from_millis(1);
        let future = (time::SystemTime::now() + hour).elapsed().is_err();
        let most = time::SystemTime::UNIX_EPOCH.checked_add(time::Duration::MAX);
        format!("{moment:?} {later:?} {earlier:?} {:?} {error} {future} {most:?} {:?}",
            error.duration(), (moment - hour).duration_since(time::UNIX_EPOCH))
    }

    fn instants_can_be_reckoned_with() -> String {
        let hour = time::Duration::from_secs(3_600);
        let start = time::Instant::now();
        let mut later = start + hour;
        later += hour;
        later -= time::Duration::from_secs(1);
        let back = (later - hour).duration_since(start);
        let none = (start.saturating_duration_since(later), start.duration_since(later));
        let before = start.checked_sub(hour).map(|before| start - before);
        format!("{back:?} {none:?} {before:?} {:?} {}", start.checked_add(time::Duration::MAX), later > start)
    }

    all! {
        the_time_of_day_passes_in_sleep,
        the_time_of_day_can_be_reckoned_with,
        instants_can_be_reckoned_with,
        time_passes_in_sleep,
    }
}
