// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** What all clients share: their name, their ledger, readiness and the end of the program. */
public final class Client {
    private static final int RETRY_MILLIS = 1000;

    public final String name;
    public final Ledger ledger;
    public final Stop stop = new Stop();
    private final String readyFile;

    /** Reads --name (else POD_NAME, else made from the process id), --ledger (else LEDGER) and --ready-file. */
    public Client(Flags flags, String kind, String group) throws IOException {
        name = flags.textOrEnv("name", "POD_NAME", kind + "-" + ProcessHandle.current().pid());
        String path = flags.textOrEnv("ledger", "LEDGER", null);
        readyFile = flags.text("ready-file", null);
        ledger = Ledger.open(Flags.must("ledger", path), name, group);
    }

    /** Says that the client works: a line on standard output, and the file of --ready-file. */
    public void ready() throws IOException {
        System.out.println("ready " + name);
        if (readyFile != null) {
            Files.writeString(Path.of(readyFile), name + "\n");
        }
    }

    /**
     * Makes what needs the cluster, again and again until it works: clients may start before the servers or the topic
     * are there, or on a machine too busy to answer in time. Null when a stop is wanted first.
     */
    public <T> T untilMade(Callable<T> maker) throws InterruptedException {
        while (!stop.wanted()) {
            try {
                return maker.call();
            } catch (Exception e) {
                System.err.println("trying again: " + e);
                stop.await(RETRY_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
        return null;
    }

    /** A prefix for message keys that no other run of this or another client uses. */
    public String keyPrefix() {
        return name + "." + Long.toString(System.currentTimeMillis(), 36) + ".";
    }

    /** A program's body. */
    public interface Body {
        void run() throws Exception;
    }

    /** Runs a program: status 0 when it ended as wanted, 2 for wrong flags, 1 for anything else. */
    public static void main(Body body) {
        int status = 0;
        try {
            body.run();
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            status = 2;
        } catch (Throwable e) {
            e.printStackTrace();
            status = 1;
        }
        System.out.flush();
        // Some SDK threads are no daemons; nothing of the client is left to do.
        System.exit(status);
    }
}
