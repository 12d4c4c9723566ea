// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The flags of every consumer's handler: how long it takes and how often it refuses. */
public final class Handling {
    private final Ledger ledger;
    private final int millis;
    private final double refuse;

    public Handling(Flags flags, Ledger ledger) {
        this.ledger = ledger;
        millis = flags.number("handle-ms", 0);
        refuse = flags.decimal("refuse", 0);
    }

    /** Handles a message: takes its time, notes the outcome, and returns false when the message is refused. */
    public boolean handle(Ledger.Entry entry) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            // The consumer is stopping: the message was not handled and will come again.
            Thread.currentThread().interrupt();
            return false;
        }
        boolean accept = refuse <= 0 || ThreadLocalRandom.current().nextDouble() >= refuse;
        ledger.note(accept ? Ledger.Event.CONSUMED : Ledger.Event.REFUSED, entry);
        return accept;
    }
}
