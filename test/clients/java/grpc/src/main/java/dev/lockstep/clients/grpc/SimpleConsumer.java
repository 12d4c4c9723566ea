// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.grpc;

import dev.lockstep.clients.Client;
import dev.lockstep.clients.Flags;
import dev.lockstep.clients.Handling;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientException;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumerBuilder;
import org.apache.rocketmq.client.apis.message.MessageView;

/** A consumer that asks for messages itself and acknowledges each. */
final class SimpleConsumer {
    private static final int BATCH = 16;
    private static final Duration WAIT = Duration.ofSeconds(5);
    private static final Duration INVISIBLE = Duration.ofSeconds(30);

    private SimpleConsumer() {
    }

    static void run(Flags flags) throws Exception {
        ClientConfiguration configuration = Connection.of(flags);
        FilterExpression filter = Connection.filter(flags);
        String group = flags.required("group");
        String topics = flags.required("topic");
        Client client = new Client(flags, "grpc-simple-consumer", group);
        Handling handling = new Handling(flags, client.ledger);
        flags.done();

        Map<String, FilterExpression> subscriptions = new HashMap<>();
        for (String topic : topics.split(",")) {
            subscriptions.put(topic, filter);
        }
        SimpleConsumerBuilder builder = ClientServiceProvider.loadService().newSimpleConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(group)
            .setAwaitDuration(WAIT)
            .setSubscriptionExpressions(subscriptions);
        try (org.apache.rocketmq.client.apis.consumer.SimpleConsumer sdk = client.untilMade(builder::build)) {
            if (sdk == null) {
                return;
            }
            client.ready();
            while (!client.stop.wanted()) {
                receive(sdk, handling);
            }
        }
        client.ledger.close();
    }

    private static void receive(org.apache.rocketmq.client.apis.consumer.SimpleConsumer sdk, Handling handling) {
        List<MessageView> messages;
        try {
            messages = sdk.receive(BATCH, INVISIBLE);
        } catch (ClientException e) {
            System.err.println("receiving: " + e.getMessage());
            return;
        }
        for (MessageView message : messages) {
            if (!handling.handle(Received.entry(message))) {
                continue; // it becomes visible again by itself
            }
            try {
                sdk.ack(message);
            } catch (ClientException e) {
                System.err.println("acknowledging: " + e.getMessage());
            }
        }
    }
}
