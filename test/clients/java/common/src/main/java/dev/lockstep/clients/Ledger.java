// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The file in which a client notes what happened to each message: one line an
 * event, tab-separated, written with one write call, so that a killed client
 * leaves at most one torn line. test/ledger reads it; the columns are described
 * there. A client that cannot write its ledger ends: its run proves nothing.
 */
public final class Ledger implements AutoCloseable {
    /** What happened. */
    public enum Event {
        /** The server confirmed that it has the message; for a transaction, it was committed after that. */
        SENT("sent-ok"),
        /** The send failed or its end is unknown: the server may have the message all the same. */
        SEND_FAILED("sent-fail"),
        /** The handler is done with the message; the server is told afterwards. */
        CONSUMED("consumed"),
        /** The handler refused the message, which is to come again. */
        REFUSED("refused");

        private final String word;

        Event(String word) {
            this.word = word;
        }
    }

    private final FileChannel file;
    private final String client;
    private final String group;

    private Ledger(FileChannel file, String client, String group) {
        this.file = file;
        this.client = client;
        this.group = group;
    }

    /** Opens a ledger for appending. When path is a folder, the file is named after the client. */
    public static Ledger open(String path, String client, String group) throws IOException {
        Path target = Path.of(path);
        if (Files.isDirectory(target)) {
            target = target.resolve(client + ".ledger");
        }
        boolean torn = endsTorn(target);
        Ledger ledger = new Ledger(FileChannel.open(target, StandardOpenOption.CREATE, StandardOpenOption.APPEND), client, group);
        if (torn) { // a killed client's last line must not swallow the next
            ledger.write("\n");
        }
        return ledger;
    }

    private static boolean endsTorn(Path path) throws IOException {
        if (!Files.exists(path) || Files.size(path) == 0) {
            return false;
        }
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            file.read(last, file.size() - 1);
            return last.get(0) != '\n';
        }
    }

    /** Notes one event. A queue or offset below 0 means unknown. */
    public void note(Event event, Entry e) {
        write(System.currentTimeMillis() + "\t" + event.word + "\t" + clean(e.key) + "\t" + clean(e.topic) + "\t"
            + clean(group) + "\t" + clean(e.broker) + "\t" + e.queue + "\t" + e.offset + "\t" + clean(e.messageId) + "\t" + clean(e.tag) + "\t"
            + e.redelivered + "\t" + clean(e.orderKey) + "\t" + clean(client) + "\t" + clean(e.note) + "\n");
    }

    private synchronized void write(String text) {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        try {
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
        } catch (IOException e) {
            System.err.println("cannot write the ledger: " + e);
            Runtime.getRuntime().halt(3);
            throw new UncheckedIOException(e);
        }
    }

    private static String clean(String text) {
        return text == null ? "" : text.replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    }

    @Override
    public synchronized void close() throws IOException {
        file.force(true);
        file.close();
    }

    /** What is known of a message. */
    public static final class Entry {
        public final String key;
        public String topic;
        public String broker;
        public int queue = -1;
        public long offset = -1;
        public String messageId;
        public String tag;
        /** How often the message had been delivered to the group before. */
        public int redelivered;
        public String orderKey;
        public String note;

        public Entry(String key) {
            this.key = key;
        }
    }
}
