// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.classic;

import dev.lockstep.clients.Producing;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Transactional sends whose local transaction takes a time: the half message is
 * stored with its queue chosen now, and committed when that time is over. A commit
 * that gets lost on the way is made good when the broker asks about the transaction.
 */
final class Transactions implements TransactionListener {
    private final TransactionMQProducer sdk;
    private final int commitMillis;
    /** Keys of half messages that are not to be committed yet. */
    private final Set<String> open = ConcurrentHashMap.newKeySet();
    /** A queue of each broker that got a transaction. */
    private final Map<String, MessageQueue> brokers = new ConcurrentHashMap<>();

    Transactions(TransactionMQProducer sdk, int commitMillis) {
        this.sdk = sdk;
        this.commitMillis = commitMillis;
        sdk.setTransactionListener(this);
    }

    /** Returns when the commit has been sent. */
    SendResult send(Message message, Producing.Item item) throws Exception {
        open.add(item.key);
        try {
            SendResult result = sdk.sendMessageInTransaction(message, item.key);
            brokers.put(result.getMessageQueue().getBrokerName(), result.getMessageQueue());
            return result;
        } finally {
            open.remove(item.key);
        }
    }

    /** Waits until the brokers have read what was sent to them. */
    void finish() throws Exception {
        for (MessageQueue queue : brokers.values()) {
            // A commit has no answer. This call goes over the same connection after
            // the commits and has one.
            sdk.maxOffset(queue);
        }
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object key) {
        try {
            TimeUnit.MILLISECONDS.sleep(commitMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        open.remove((String) key);
        return LocalTransactionState.COMMIT_MESSAGE;
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        return open.contains(message.getKeys()) ? LocalTransactionState.UNKNOW : LocalTransactionState.COMMIT_MESSAGE;
    }
}
