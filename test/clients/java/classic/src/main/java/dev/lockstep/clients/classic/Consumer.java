// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.classic;

import dev.lockstep.clients.Client;
import dev.lockstep.clients.Flags;
import dev.lockstep.clients.Handling;
import dev.lockstep.clients.Ledger;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/** A push consumer. Each message is handed to the handler alone. */
final class Consumer {
    private static final int SHUTDOWN_MILLIS = 20_000;

    private Consumer() {
    }

    static void run(Flags flags) throws Exception {
        Connection connection = new Connection(flags);
        String group = flags.required("group");
        String topics = flags.required("topic");
        String filter = flags.text("filter", "*");
        boolean sql = flags.oneOf("filter-type", "tag", "sql").equals("sql");
        boolean orderly = flags.isSet("orderly");
        boolean broadcast = flags.isSet("broadcast");
        boolean first = flags.oneOf("from", "first", "last").equals("first");
        int threads = flags.number("threads", 4);
        int maxReconsume = flags.number("max-reconsume", -1);
        AllocateMessageQueueStrategy strategy = strategy(flags.oneOf("strategy", "averagely", "circle", "consistent-hash"));
        Client client = new Client(flags, "classic-consumer", group);
        Handling handling = new Handling(flags, client.ledger);
        flags.done();

        DefaultMQPushConsumer sdk = client.untilMade(() -> {
            DefaultMQPushConsumer made = new DefaultMQPushConsumer(group, connection.hook(), strategy);
            connection.apply(made);
            made.setConsumeFromWhere(first ? ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET : ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
            made.setConsumeThreadMin(threads);
            made.setConsumeThreadMax(threads);
            made.setConsumeMessageBatchMaxSize(1);
            made.setMaxReconsumeTimes(maxReconsume);
            made.setAwaitTerminationMillisWhenShutdown(SHUTDOWN_MILLIS);
            if (broadcast) {
                broadcast(made);
            }
            for (String topic : topics.split(",")) {
                if (sql) {
                    made.subscribe(topic, MessageSelector.bySql(filter));
                } else {
                    made.subscribe(topic, filter);
                }
            }
            if (orderly) {
                made.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                    handle(handling, messages, context.getMessageQueue().getBrokerName())
                        ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
            } else {
                made.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                    handle(handling, messages, context.getMessageQueue().getBrokerName())
                        ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
            }
            start(made);
            return made;
        });
        if (sdk == null) {
            return;
        }
        client.ready();
        client.stop.await();
        sdk.shutdown();
        client.ledger.close();
    }

    /** Starting asks a name server, and fails when it does not answer; what was half started must not stay. */
    private static void start(DefaultMQPushConsumer sdk) throws MQClientException {
        try {
            sdk.start();
        } catch (MQClientException | IllegalStateException e) {
            sdk.shutdown();
            throw e;
        }
    }

    private static boolean handle(Handling handling, List<MessageExt> messages, String broker) {
        boolean all = true;
        for (MessageExt message : messages) {
            Ledger.Entry entry = new Ledger.Entry(message.getKeys());
            entry.topic = message.getTopic();
            entry.broker = broker;
            entry.queue = message.getQueueId();
            entry.offset = message.getQueueOffset();
            entry.messageId = message.getMsgId();
            entry.tag = message.getTags();
            entry.redelivered = message.getReconsumeTimes();
            entry.orderKey = message.getUserProperty(Producer.ORDER_KEY);
            all &= handling.handle(entry);
        }
        return all;
    }

    private static AllocateMessageQueueStrategy strategy(String name) {
        switch (name) {
            case "circle":
                return new AllocateMessageQueueAveragelyByCircle();
            case "consistent-hash":
                return new AllocateMessageQueueConsistentHash();
            default:
                return new AllocateMessageQueueAveragely();
        }
    }

    /** The enum of message models lives in another package in 4.x than in 5.x; this source serves both. */
    private static void broadcast(DefaultMQPushConsumer sdk) throws ReflectiveOperationException {
        Class<?> model = sdk.getMessageModel().getClass();
        Object value = model.getField("BROADCASTING").get(null);
        sdk.getClass().getMethod("setMessageModel", model).invoke(sdk, value);
    }
}
