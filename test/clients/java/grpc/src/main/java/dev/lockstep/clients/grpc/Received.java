// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.grpc;

import dev.lockstep.clients.Ledger;
import java.util.Iterator;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.java.message.MessageViewImpl;

/** What is known of a received message. */
final class Received {
    /** Fields of a receipt handle, separated by spaces: broker name, queue id and offset come last but three, two and one. */
    private static final int HANDLE_FIELDS = 9;

    private Received() {
    }

    static Ledger.Entry entry(MessageView message) {
        Iterator<String> keys = message.getKeys().iterator();
        Ledger.Entry entry = new Ledger.Entry(keys.hasNext() ? keys.next() : "");
        entry.topic = message.getTopic();
        entry.messageId = message.getMessageId().toString();
        entry.tag = message.getTag().orElse(null);
        entry.redelivered = message.getDeliveryAttempt() - 1;
        entry.orderKey = message.getMessageGroup().orElse(null);
        if (message instanceof MessageViewImpl) {
            place(entry, ((MessageViewImpl) message).getReceiptHandle());
        }
        return entry;
    }

    /** The SDK does not tell the queue of a message, but the handle that it acknowledges with holds it. */
    private static void place(Ledger.Entry entry, String handle) {
        String[] fields = handle.split(" ");
        if (fields.length < HANDLE_FIELDS) {
            return;
        }
        try {
            int queue = Integer.parseInt(fields[6]);
            long offset = Long.parseLong(fields[7]);
            entry.broker = fields[5];
            entry.queue = queue;
            entry.offset = offset;
        } catch (NumberFormatException e) {
            entry.note = "queue unknown: " + handle;
        }
    }
}
