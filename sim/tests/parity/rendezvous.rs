//! Channels with a bound, and without buffer.

worlds! {
    fn a_full_buffer_refuses() -> String {
        let (sender, receiver) = mpsc::sync_channel(2);
        let tried = (sender.try_send(1), sender.send(2), sender.try_send(3));
        let got = (receiver.recv(), sender.try_send(4), receiver.try_iter().collect::<Vec<_>>());
        drop(receiver);
        format!("{tried:?} {got:?} {:?} {:?} {sender:?}", sender.try_send(5), sender.send(6))
    }

    fn a_send_waits_for_room() -> String {
        let (sender, receiver) = mpsc::sync_channel(1);
        let second = sender.clone();
        let a = thread::spawn(move || (0..3).for_each(|i| sender.send(i).unwrap()));
        let b = thread::spawn(move || (10..13).for_each(|i| second.send(i).unwrap()));
        let got: Vec<i32> = receiver.into_iter().collect();
        a.join().unwrap();
        b.join().unwrap();
        let (low, high): (Vec<i32>, Vec<i32>) = got.into_iter().partition(|i| *i < 10);
        format!("{low:?} {high:?}")
    }

    fn a_send_that_waits_gets_its_message_back() -> String {
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send(1).unwrap();
        let waits = thread::spawn(move || sender.send(2));
        drop(receiver);
        format!("{:?}", waits.join().unwrap())
    }

    fn what_was_sent_is_received_after_the_senders_are_gone() -> String {
        let (sender, receiver) = mpsc::sync_channel(3);
        sender.send('a').unwrap();
        sender.clone().send('b').unwrap();
        drop(sender);
        let got: Vec<char> = receiver.iter().collect();
        format!("{got:?} {:?} {:?}", receiver.recv(), receiver.try_recv())
    }

    fn messages_are_dropped_with_the_receiver() -> String {
        let held = Arc::new(());
        let (sender, receiver) = mpsc::sync_channel(2);
        sender.send(Arc::clone(&held)).unwrap();
        let before = Arc::strong_count(&held);
        drop(receiver);
        let refused = sender.send(Arc::clone(&held)).is_err();
        format!("{before} {refused} {}", Arc::strong_count(&held))
    }

    fn without_buffer_both_must_be_there() -> String {
        let (sender, receiver) = mpsc::sync_channel(0);
        let alone = (sender.try_send(1), receiver.try_recv(), receiver.recv_timeout(time::Duration::from_millis(1)));
        let sends = thread::spawn(move || (0..3).map(|i| sender.send(i).is_ok()).collect::<Vec<_>>());
        let got: Vec<i32> = receiver.iter().collect();
        format!("{alone:?} {got:?} {:?} {:?}", sends.join().unwrap(), receiver.try_recv())
    }

    fn without_buffer_a_send_ends_with_the_receive() -> String {
        let (sender, receiver) = mpsc::sync_channel(0);
        let received = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&received);
        let sends = thread::spawn(move || {
            sender.send(()).unwrap();
            // The receive has begun, whether it has returned or not.
            flag.load(SeqCst)
        });
        received.store(true, SeqCst);
        receiver.recv().unwrap();
        format!("{}", sends.join().unwrap())
    }

    fn without_buffer_a_send_gets_its_message_back() -> String {
        let (sender, receiver) = mpsc::sync_channel(0);
        let second = sender.clone();
        let waits = [thread::spawn(move || sender.send(1)), thread::spawn(move || second.send(2))];
        drop(receiver);
        format!("{:?}", waits.map(|t| t.join().unwrap()))
    }

    fn without_buffer_a_receive_ends_with_the_last_sender() -> String {
        let (sender, receiver) = mpsc::sync_channel::<u8>(0);
        let second = sender.clone();
        let ends = [thread::spawn(move || drop(sender)), thread::spawn(move || drop(second))];
        let got = (receiver.recv(), receiver.recv_timeout(time::Duration::from_secs(1)), receiver.try_recv());
        ends.into_iter().for_each(|t| t.join().unwrap());
        format!("{got:?}")
    }

    fn a_try_meets_whoever_waits() -> String {
        let (sender, receiver) = mpsc::sync_channel(0);
        let sends = thread::spawn(move || {
            let mut tries = 0..;
            while sender.try_send(5).is_err() {
                tries.next();
                thread::yield_now();
            }
        });
        let got = receiver.recv();
        sends.join().unwrap();
        let (sender, receiver) = mpsc::sync_channel(0);
        let sends = thread::spawn(move || sender.send(6));
        let second = loop {
            match receiver.try_recv() {
                Err(mpsc::TryRecvError::Empty) => thread::yield_now(),
                other => break other,
            }
        };
        format!("{got:?} {second:?} {:?}", sends.join().unwrap())
    }

    fn a_destructor_may_send_while_its_thread_unwinds() -> String {
        struct Tells(mpsc::SyncSender<u8>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.send(1).unwrap();
                self.0.send(2).unwrap();
            }
        }
        let mut seen = Vec::new();
        for bound in [0, 1] {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let dies = thread::spawn(move || {
                let _tells = Tells(sender);
                panic!("after a while");
            });
            seen.push((receiver.iter().collect::<Vec<_>>(), dies.join().is_err()));
        }
        format!("{seen:?}")
    }

    fn a_destructor_may_receive_while_its_thread_unwinds() -> String {
        struct Hears(mpsc::Receiver<u8>, Arc<Mutex<Vec<u8>>>);
        impl Drop for Hears {
            fn drop(&mut self) {
                self.1.lock().unwrap().extend(self.0.iter());
            }
        }
        let heard = Arc::new(Mutex::new(Vec::new()));
        for bound in [0, 1] {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let hears = Hears(receiver, Arc::clone(&heard));
            let dies = thread::spawn(move || {
                let _hears = hears;
                panic!("at once");
            });
            (0..3).for_each(|i| sender.send(i).unwrap());
            drop(sender);
            assert!(dies.join().is_err());
        }
        format!("{:?}", heard.lock().unwrap())
    }

    all! {
        a_full_buffer_refuses,
        a_send_waits_for_room,
        a_send_that_waits_gets_its_message_back,
        what_was_sent_is_received_after_the_senders_are_gone,
        messages_are_dropped_with_the_receiver,
        without_buffer_both_must_be_there,
        without_buffer_a_send_ends_with_the_receive,
        without_buffer_a_send_gets_its_message_back,
        without_buffer_a_receive_ends_with_the_last_sender,
        a_try_meets_whoever_waits,
        a_destructor_may_send_while_its_thread_unwinds,
        a_destructor_may_receive_while_its_thread_unwinds,
    }
}
