// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.classic;

import dev.lockstep.clients.Client;
import dev.lockstep.clients.Flags;
import dev.lockstep.clients.Ledger;
import dev.lockstep.clients.Producing;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageQueue;

/** Sends messages, one at a time in each thread, and notes the end of every send. */
final class Producer {
    /** The property of a message for the timer of 5.x brokers; 4.x brokers deliver at once. */
    private static final String TIMER_SECONDS = "TIMER_DELAY_SEC";
    /** Carries the order key to consumers. */
    static final String ORDER_KEY = "orderKey";

    private final DefaultMQProducer sdk;
    private final Ledger ledger;
    private final int delayLevel;
    private final int timerSeconds;
    private final MessageQueue fixed;
    private final Transactions transactions;

    private Producer(DefaultMQProducer sdk, Ledger ledger, Options options, Transactions transactions) {
        this.sdk = sdk;
        this.ledger = ledger;
        this.delayLevel = options.delayLevel;
        this.timerSeconds = options.timerSeconds;
        this.fixed = options.fixed;
        this.transactions = transactions;
    }

    private static final class Options {
        final int delayLevel;
        final int timerSeconds;
        final MessageQueue fixed;
        final boolean transactional;
        final int commitMillis;

        Options(Flags flags, String topic) {
            delayLevel = flags.number("delay-level", 0);
            timerSeconds = flags.number("timer-seconds", 0);
            fixed = queue(flags.text("queue", null), topic);
            transactional = flags.isSet("transaction");
            commitMillis = flags.number("commit-ms", 0);
        }

        /** A queue written as BROKER:ID. */
        private static MessageQueue queue(String text, String topic) {
            if (text == null) {
                return null;
            }
            int colon = text.lastIndexOf(':');
            if (colon < 1) {
                throw new IllegalArgumentException("--queue wants BROKER:ID, not \"" + text + "\"");
            }
            return new MessageQueue(topic, text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        }
    }

    static void run(Flags flags) throws Exception {
        Connection connection = new Connection(flags);
        Producing producing = new Producing(flags);
        Options options = new Options(flags, producing.topic);
        String group = flags.text("group", "lockstep-producer");
        int timeout = flags.number("send-timeout-ms", 3000);
        int retries = flags.number("retries", 2);
        Client client = new Client(flags, "classic-producer", group);
        flags.done();

        final DefaultMQProducer sdk;
        Transactions transactions = null;
        if (options.transactional) {
            TransactionMQProducer transactional = new TransactionMQProducer(group, connection.hook());
            transactions = new Transactions(transactional, options.commitMillis);
            sdk = transactional;
        } else {
            sdk = new DefaultMQProducer(group, connection.hook());
        }
        connection.apply(sdk);
        sdk.setSendMsgTimeout(timeout);
        sdk.setRetryTimesWhenSendFailed(retries);
        sdk.start();
        // A producer that starts before its topic exists waits instead of noting failures.
        if (client.untilMade(() -> sdk.fetchPublishMessageQueues(producing.topic)) == null) {
            return;
        }
        client.ready();
        Producer producer = new Producer(sdk, client.ledger, options, transactions);
        if (transactions == null) {
            producing.run(client, producer::send);
        } else {
            producing.runSlow(client, producer::send);
            transactions.finish();
        }
        sdk.shutdown();
        client.ledger.close();
    }

    private void send(Producing.Item item) throws Exception {
        Message message = new Message(item.entry().topic, item.tag, item.key, item.body);
        if (delayLevel > 0) {
            message.setDelayTimeLevel(delayLevel);
        }
        if (timerSeconds > 0) {
            MessageAccessor.putProperty(message, TIMER_SECONDS, Integer.toString(timerSeconds));
        }
        if (item.orderKey != null) {
            message.putUserProperty(ORDER_KEY, item.orderKey);
        }
        SendResult result;
        if (transactions != null) {
            result = transactions.send(message, item);
        } else if (fixed != null) {
            result = sdk.send(message, fixed);
        } else if (item.orderKey != null) {
            // As applications do: the key's hash over the queues known now, so keys
            // move when the number of queues changes.
            result = sdk.send(message, (queues, m, key) ->
                queues.get(Math.floorMod(key.hashCode(), queues.size())), item.orderKey);
        } else {
            result = sdk.send(message);
        }
        ledger.note(Ledger.Event.SENT, entry(item, result));
    }

    /** A status other than SEND_OK still means that the master has the message. */
    private static Ledger.Entry entry(Producing.Item item, SendResult result) {
        Ledger.Entry entry = item.entry();
        entry.broker = result.getMessageQueue().getBrokerName();
        entry.queue = result.getMessageQueue().getQueueId();
        entry.offset = result.getQueueOffset();
        entry.messageId = result.getMsgId();
        entry.note = result.getSendStatus().name();
        return entry;
    }
}
