// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The flags of every producer and the loop around its send. */
public final class Producing {
    public final String topic;
    public final double rate;
    public final int count;
    public final int threads;
    public final int orderKeys;
    private final String[] tags;
    private final byte[] body;
    private final AtomicLong failed = new AtomicLong();

    public Producing(Flags flags) {
        topic = flags.required("topic");
        rate = flags.decimal("rate", 10);
        count = flags.number("count", 0);
        threads = flags.number("threads", 2);
        orderKeys = flags.number("order-keys", 0);
        String list = flags.text("tags", null);
        tags = list == null ? new String[0] : list.split(",");
        body = "x".repeat(flags.number("body-size", 64)).getBytes(StandardCharsets.UTF_8);
    }

    /** One message to send. */
    public final class Item {
        public final String key;
        /** Null when the producer sends no tags. */
        public final String tag;
        /** Null when the producer does not order. */
        public final String orderKey;
        public final byte[] body;

        private Item(String key, long n, int thread) {
            this.key = key;
            this.tag = tags.length == 0 ? null : tags[(int) (n % tags.length)];
            // A thread has order keys of its own, so that messages of one key are
            // sent one after the other.
            this.orderKey = orderKeys == 0 ? null : "k" + (thread + threads * (n % Math.max(1, orderKeys / threads)));
            this.body = Producing.this.body;
        }

        public Ledger.Entry entry() {
            Ledger.Entry e = new Ledger.Entry(key);
            e.topic = topic;
            e.tag = tag;
            e.orderKey = orderKey;
            return e;
        }
    }

    /** Sends one message, and returns when its end is known and noted. */
    public interface Sender {
        void send(Item item) throws Exception;
    }

    /** Sends until --count is reached or a stop is wanted, and returns when every send has ended. */
    public void run(Client client, Sender sender) throws InterruptedException {
        send(client, sender, Runnable::run);
    }

    /** Like run, for sends that take long: each has a thread of its own, so that the rate is kept. */
    public void runSlow(Client client, Sender sender) throws InterruptedException {
        ExecutorService each = Executors.newCachedThreadPool();
        send(client, sender, each);
        each.shutdown();
        each.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    }

    private void send(Client client, Sender sender, Executor executor) throws InterruptedException {
        String prefix = client.keyPrefix();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int index = i;
            // Thread i sends messages i, i+threads, …
            Thread thread = new Thread(() -> sendAll(client, sender, executor, prefix, index), "sender-" + i);
            thread.start();
            all.add(thread);
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    private void sendAll(Client client, Sender sender, Executor executor, String prefix, int thread) {
        Pace pace = new Pace(rate / threads, client.stop);
        try {
            for (long n = 0; (count == 0 || thread + n * threads < count) && pace.next(); n++) {
                Item item = new Item(prefix + (thread + n * threads), n, thread);
                executor.execute(() -> sendOne(client, sender, item));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void sendOne(Client client, Sender sender, Item item) {
        try {
            sender.send(item);
        } catch (Exception e) {
            Ledger.Entry entry = item.entry();
            entry.note = e.toString();
            client.ledger.note(Ledger.Event.SEND_FAILED, entry);
            if (failed.incrementAndGet() == 1) {
                e.printStackTrace(); // the first one in full, the rest in the ledger
            }
        }
    }
}
