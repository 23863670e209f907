//! Channels.

worlds! {
    fn channel_keeps_order_and_disconnects() -> String {
        let (sender, receiver) = mpsc::channel();
        let second = sender.clone();
        let a = thread::spawn(move || (0..3).for_each(|i| sender.send(i).unwrap()));
        a.join().unwrap();
        let b = thread::spawn(move || (10..12).for_each(|i| second.send(i).unwrap()));
        let got: Vec<i32> = receiver.iter().collect();
        b.join().unwrap();
        let empty = receiver.try_recv();
        let (sender, receiver) = mpsc::channel();
        let nothing = receiver.try_recv();
        drop(receiver);
        format!("{got:?} {empty:?} {nothing:?} {:?} {:?}", sender.send(1), receiver_error())
    }

    fn receiver_error() -> Result<u8, mpsc::RecvError> {
        let (sender, receiver) = mpsc::channel::<u8>();
        drop(sender);
        receiver.recv()
    }

    fn a_receive_may_time_out() -> String {
        let brief = time::Duration::from_millis(1);
        let (sender, receiver) = mpsc::channel();
        let empty = (receiver.recv_timeout(brief), receiver.recv_timeout(time::Duration::ZERO));
        sender.send(1).unwrap();
        let there = receiver.recv_timeout(time::Duration::ZERO);
        let start = time::Instant::now();
        let waited = receiver.recv_timeout(brief).is_err() && start.elapsed() >= brief;
        drop(sender);
        format!("{empty:?} {there:?} {waited} {:?}", receiver.recv_timeout(brief))
    }

    fn a_message_comes_before_its_timeout() -> String {
        let (sender, receiver) = mpsc::channel();
        let sends = thread::spawn(move || {
            (0..3).for_each(|i| sender.send(i).unwrap());
        });
        let mut got = Vec::new();
        let end = loop {
            match receiver.recv_timeout(time::Duration::from_secs(3_600)) {
                Ok(message) => got.push(message),
                // Inside a run the sender may be slower than an hour.
                Err(mpsc::RecvTimeoutError::Timeout) => continue,
                Err(end) => break end,
            }
        };
        sends.join().unwrap();
        format!("{got:?} {end:?}")
    }

    fn iterators_end_where_they_should() -> String {
        let (sender, receiver) = mpsc::channel();
        (0..3).for_each(|i| sender.send(i).unwrap());
        let now: Vec<i32> = receiver.try_iter().collect();
        (3..6).for_each(|i| sender.send(i).unwrap());
        let first = receiver.iter().next();
        drop(sender);
        let mut by_reference = Vec::new();
        for message in &receiver {
            by_reference.push(message);
        }
        let again = (receiver.iter().next(), receiver.try_iter().next());
        let shown = format!("{:?} {:?}", receiver.iter(), receiver.try_iter());
        let mut owned = receiver.into_iter();
        format!("{now:?} {first:?} {by_reference:?} {again:?} {shown} {owned:?} {:?}", owned.next())
    }

    fn errors_are_stds() -> String {
        let (sender, receiver) = mpsc::channel::<u8>();
        let timeout = receiver.recv_timeout(time::Duration::ZERO).unwrap_err();
        let empty = receiver.try_recv().unwrap_err();
        let text = format!("{sender:?} {receiver:?} {timeout} {empty}");
        drop(receiver);
        let refused = sender.send(1).unwrap_err();
        let (sender, receiver) = mpsc::sync_channel(0);
        let full = sender.try_send(2).unwrap_err();
        drop(sender);
        let gone = (receiver.recv().unwrap_err(), receiver.recv_timeout(time::Duration::ZERO).unwrap_err());
        format!("{text} {refused} {} {full} {full:?} {} {}", refused.0, gone.0, gone.1)
    }

    fn a_message_in_flight_is_dropped_with_the_receiver() -> String {
        let held = Arc::new(());
        let (sender, receiver) = mpsc::channel();
        sender.send(Arc::clone(&held)).unwrap();
        drop(receiver);
        format!("{} {}", Arc::strong_count(&held), sender.send(held).is_err())
    }

    all! {
        a_receive_may_time_out,
        a_message_comes_before_its_timeout,
        iterators_end_where_they_should,
        errors_are_stds,
        a_message_in_flight_is_dropped_with_the_receiver,
        channel_keeps_order_and_disconnects,
    }
}
