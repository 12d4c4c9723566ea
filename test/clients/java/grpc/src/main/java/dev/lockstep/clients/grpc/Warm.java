// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.grpc;

import dev.lockstep.clients.Flags;
import dev.lockstep.clients.Stop;
import java.util.Map;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;

/** Loads what a consumer loads at its start, without a proxy, so that the JVM can write its class data archive. */
final class Warm {
    /** The discard port: nobody listens. */
    private static final String NOBODY = "--endpoints=127.0.0.1:9";

    private Warm() {
    }

    static void run() {
        new Stop();
        ClientConfiguration configuration = Connection.of(new Flags(new String[] {NOBODY}, 0));
        try {
            ClientServiceProvider.loadService().newPushConsumerBuilder()
                .setClientConfiguration(configuration)
                .setConsumerGroup("warm")
                .setSubscriptionExpressions(Map.of("warm", new FilterExpression("*")))
                .setMessageListener(message -> ConsumeResult.SUCCESS)
                .build();
        } catch (Exception e) {
            System.err.println("as expected: " + e.getMessage());
        }
    }
}
