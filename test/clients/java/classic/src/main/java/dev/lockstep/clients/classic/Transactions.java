// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.classic;

import dev.lockstep.clients.Ledger;
import dev.lockstep.clients.Producing;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Transactional sends whose commit comes later: the half message is stored with
 * its queue chosen now, and committed after a time. A commit that gets lost on the
 * way is made good when the broker asks about the transaction.
 */
final class Transactions implements TransactionListener {
    private final TransactionMQProducer sdk;
    private final Ledger ledger;
    private final int commitMillis;
    private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor();
    /** Keys of half messages that are not to be committed yet. */
    private final Set<String> open = ConcurrentHashMap.newKeySet();
    /** A queue of each broker that got a transaction. */
    private final Map<String, MessageQueue> brokers = new ConcurrentHashMap<>();

    Transactions(TransactionMQProducer sdk, Ledger ledger, int commitMillis) {
        this.sdk = sdk;
        this.ledger = ledger;
        this.commitMillis = commitMillis;
        sdk.setTransactionListener(this);
    }

    void send(Message message, Producing.Item item) throws Exception {
        open.add(item.key);
        TransactionSendResult result;
        try {
            result = sdk.sendMessageInTransaction(message, item.key);
        } catch (Exception e) {
            open.remove(item.key); // the broker, should it have the half message, may commit
            throw e;
        }
        brokers.put(result.getMessageQueue().getBrokerName(), result.getMessageQueue());
        later.schedule(() -> commit(message, item, result), commitMillis, TimeUnit.MILLISECONDS);
    }

    private void commit(Message message, Producing.Item item, SendResult result) {
        open.remove(item.key);
        Ledger.Entry entry = Producer.entry(item, result);
        try {
            sdk.getDefaultMQProducerImpl().endTransaction(message, result, LocalTransactionState.COMMIT_MESSAGE, null);
        } catch (Exception e) {
            entry.note = "commit left to the broker's question: " + e;
        }
        ledger.note(Ledger.Event.SENT, entry);
    }

    /** Waits for every commit, and until the brokers have read what was sent to them. */
    void finish() throws Exception {
        later.shutdown();
        later.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        Collection<MessageQueue> queues = brokers.values();
        for (MessageQueue queue : queues) {
            // A commit has no answer. This call goes over the same connection after
            // the commits and has one.
            sdk.maxOffset(queue);
        }
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object key) {
        return LocalTransactionState.UNKNOW;
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        return open.contains(message.getKeys()) ? LocalTransactionState.UNKNOW : LocalTransactionState.COMMIT_MESSAGE;
    }
}
