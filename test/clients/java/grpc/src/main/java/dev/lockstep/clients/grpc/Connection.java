// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.grpc;

import dev.lockstep.clients.Flags;
import java.time.Duration;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientConfigurationBuilder;
import org.apache.rocketmq.client.apis.StaticSessionCredentialsProvider;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.FilterExpressionType;

/** How a client of the gRPC SDK reaches the proxies. */
final class Connection {
    private Connection() {
    }

    static ClientConfiguration of(Flags flags) {
        ClientConfigurationBuilder builder = ClientConfiguration.newBuilder()
            .setEndpoints(Flags.must("endpoints", flags.textOrEnv("endpoints", "PROXY_ENDPOINTS", null)))
            .enableSsl(flags.isSet("tls"))
            .setRequestTimeout(Duration.ofMillis(flags.number("send-timeout-ms", 3000)));
        String key = flags.text("access-key", null);
        String secret = flags.text("secret-key", null);
        if (key != null) {
            builder.setCredentialProvider(new StaticSessionCredentialsProvider(key, secret));
        }
        return builder.build();
    }

    static FilterExpression filter(Flags flags) {
        String text = flags.text("filter", "*");
        boolean sql = flags.oneOf("filter-type", "tag", "sql").equals("sql");
        return new FilterExpression(text, sql ? FilterExpressionType.SQL92 : FilterExpressionType.TAG);
    }
}
