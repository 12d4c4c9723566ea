// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.grpc;

import dev.lockstep.clients.Client;
import dev.lockstep.clients.Flags;
import dev.lockstep.clients.Ledger;
import dev.lockstep.clients.Producing;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.message.Message;
import org.apache.rocketmq.client.apis.message.MessageBuilder;
import org.apache.rocketmq.client.apis.producer.ProducerBuilder;
import org.apache.rocketmq.client.apis.producer.SendReceipt;
import org.apache.rocketmq.client.apis.producer.Transaction;
import org.apache.rocketmq.client.apis.producer.TransactionResolution;

/**
 * Sends messages, one at a time in each thread, and notes the end of every send.
 * The topic's message type must fit: DELAY for --timer-seconds, FIFO for
 * --order-keys, TRANSACTION for --transaction. The proxy chooses the queue and does
 * not say which, so the ledger has none.
 */
final class Producer {
    private final org.apache.rocketmq.client.apis.producer.Producer sdk;
    private final Ledger ledger;
    private final int timerSeconds;
    /** Keys of transactions that are not to be committed yet; null for plain sends. */
    private final Set<String> open;
    private final int commitMillis;

    private Producer(org.apache.rocketmq.client.apis.producer.Producer sdk, Ledger ledger, int timerSeconds,
        Set<String> open, int commitMillis) {
        this.sdk = sdk;
        this.ledger = ledger;
        this.timerSeconds = timerSeconds;
        this.open = open;
        this.commitMillis = commitMillis;
    }

    static void run(Flags flags) throws Exception {
        ClientConfiguration configuration = Connection.of(flags);
        Producing producing = new Producing(flags);
        int timerSeconds = flags.number("timer-seconds", 0);
        boolean transactional = flags.isSet("transaction");
        int commitMillis = flags.number("commit-ms", 0);
        int attempts = flags.number("retries", 2) + 1;
        Client client = new Client(flags, "grpc-producer", "");
        flags.done();
        Set<String> open = ConcurrentHashMap.newKeySet();

        ProducerBuilder builder = ClientServiceProvider.loadService().newProducerBuilder()
            .setClientConfiguration(configuration)
            .setTopics(producing.topic)
            .setMaxAttempts(attempts);
        if (transactional) {
            // Only a transaction whose commit was sent, and got lost, is to commit.
            builder.setTransactionChecker(message -> message.getKeys().stream().anyMatch(open::contains)
                ? TransactionResolution.UNKNOWN : TransactionResolution.COMMIT);
        }
        org.apache.rocketmq.client.apis.producer.Producer sdk = client.untilMade(builder::build);
        if (sdk == null) {
            return;
        }
        client.ready();
        Producer producer = new Producer(sdk, client.ledger, timerSeconds, transactional ? open : null, commitMillis);
        if (transactional) {
            producing.runSlow(client, producer::send);
        } else {
            producing.run(client, producer::send);
        }
        sdk.close();
        client.ledger.close();
    }

    private void send(Producing.Item item) throws Exception {
        Ledger.Entry entry = item.entry();
        MessageBuilder message = ClientServiceProvider.loadService().newMessageBuilder()
            .setTopic(entry.topic).setKeys(item.key).setBody(item.body);
        if (item.tag != null) {
            message.setTag(item.tag);
        }
        if (item.orderKey != null) {
            message.setMessageGroup(item.orderKey);
        }
        if (timerSeconds > 0) {
            message.setDeliveryTimestamp(System.currentTimeMillis() + TimeUnit.SECONDS.toMillis(timerSeconds));
        }
        SendReceipt receipt = open == null ? sdk.send(message.build()) : sendInTransaction(message.build(), item.key);
        entry.messageId = receipt.getMessageId().toString();
        ledger.note(Ledger.Event.SENT, entry);
    }

    private SendReceipt sendInTransaction(Message message, String key) throws Exception {
        open.add(key);
        try {
            Transaction transaction = sdk.beginTransaction();
            SendReceipt receipt = sdk.send(message, transaction);
            TimeUnit.MILLISECONDS.sleep(commitMillis);
            open.remove(key);
            transaction.commit();
            return receipt;
        } finally {
            open.remove(key);
        }
    }
}
