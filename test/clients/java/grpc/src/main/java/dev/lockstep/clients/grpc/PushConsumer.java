// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.grpc;

import dev.lockstep.clients.Client;
import dev.lockstep.clients.Flags;
import dev.lockstep.clients.Handling;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.PushConsumerBuilder;

/** A push consumer: the proxy hands out messages, the group's members own no queues. */
final class PushConsumer {
    private PushConsumer() {
    }

    static void run(Flags flags) throws Exception {
        ClientConfiguration configuration = Connection.of(flags);
        FilterExpression filter = Connection.filter(flags);
        String group = flags.required("group");
        String topics = flags.required("topic");
        int threads = flags.number("threads", 4);
        Client client = new Client(flags, "grpc-consumer", group);
        Handling handling = new Handling(flags, client.ledger);
        flags.done();

        Map<String, FilterExpression> subscriptions = new HashMap<>();
        for (String topic : topics.split(",")) {
            subscriptions.put(topic, filter);
        }
        PushConsumerBuilder builder = ClientServiceProvider.loadService().newPushConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(group)
            .setSubscriptionExpressions(subscriptions)
            .setConsumptionThreadCount(threads)
            .setMessageListener(message ->
                handling.handle(Received.entry(message)) ? ConsumeResult.SUCCESS : ConsumeResult.FAILURE);
        try (org.apache.rocketmq.client.apis.consumer.PushConsumer sdk = client.untilMade(builder::build)) {
            if (sdk == null) {
                return;
            }
            client.ready();
            client.stop.await();
        }
        client.ledger.close();
    }
}
