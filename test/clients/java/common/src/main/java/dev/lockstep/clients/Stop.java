// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import sun.misc.Signal;

/** The wish to stop: SIGTERM, SIGINT, or the client's own. The client then finishes what it began and exits with status 0. */
public final class Stop {
    private final CountDownLatch latch = new CountDownLatch(1);

    /** Installs the signal handlers. */
    public Stop() {
        Signal.handle(new Signal("TERM"), s -> latch.countDown());
        Signal.handle(new Signal("INT"), s -> latch.countDown());
    }

    public void now() {
        latch.countDown();
    }

    public boolean wanted() {
        return latch.getCount() == 0;
    }

    /** Waits until a stop is wanted. */
    public void await() throws InterruptedException {
        latch.await();
    }

    /** Waits for the time given and returns true when a stop is wanted. */
    public boolean await(long time, TimeUnit unit) throws InterruptedException {
        return latch.await(time, unit);
    }
}
