// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients;

import java.util.concurrent.TimeUnit;

/** Spreads events evenly over time. After a stall of more than a second the missed ones are given up, so that no burst follows. */
public final class Pace {
    private static final long LONGEST_BURST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Stop stop;
    private final long periodNanos;
    private long next = System.nanoTime();

    /** A rate in events a second; 0 or less means no waiting. */
    public Pace(double rate, Stop stop) {
        this.stop = stop;
        this.periodNanos = rate <= 0 ? 0 : (long) (TimeUnit.SECONDS.toNanos(1) / rate);
    }

    /** Waits for the next event's time; false when a stop is wanted. */
    public boolean next() throws InterruptedException {
        if (periodNanos == 0) {
            return !stop.wanted();
        }
        long now = System.nanoTime();
        if (now - next > LONGEST_BURST_NANOS) {
            next = now;
        }
        long wait = next - now;
        next += periodNanos;
        return !stop.await(Math.max(0, wait), TimeUnit.NANOSECONDS);
    }
}
