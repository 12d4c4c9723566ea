// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.classic;

import dev.lockstep.clients.Flags;
import dev.lockstep.clients.Stop;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** Loads what a producer and a consumer load at their start, without a cluster, so that the JVM can write its class data archive. */
final class Warm {
    /** The discard port: nobody listens. */
    private static final String NOBODY = "--namesrv=127.0.0.1:9";

    private Warm() {
    }

    static void run() throws Exception {
        new Stop();
        Connection connection = new Connection(new Flags(new String[] {NOBODY}, 0));
        DefaultMQProducer producer = new DefaultMQProducer("warm", connection.hook());
        connection.apply(producer);
        producer.start();
        try {
            producer.fetchPublishMessageQueues("warm");
        } catch (MQClientException e) {
            System.err.println("as expected: " + e.getMessage());
        }
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("warm");
        connection.apply(consumer);
        consumer.subscribe("warm", "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        try {
            consumer.start();
        } catch (IllegalStateException e) {
            System.err.println("as expected: " + e.getMessage());
        }
        consumer.shutdown();
        producer.shutdown();
    }
}
