// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.classic;

import dev.lockstep.clients.Flags;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.remoting.RPCHook;

/** How a client of the classic SDK reaches the cluster and what it calls itself. */
final class Connection {
    private final String nameServers;
    private final String instance;
    private final String clientIp;
    private final boolean tls;
    private final int routeMillis;
    private final RPCHook hook;

    Connection(Flags flags) {
        nameServers = Flags.must("namesrv", flags.textOrEnv("namesrv", "NAMESRV_ADDR", null));
        instance = flags.text("instance", null);
        clientIp = flags.textOrEnv("client-ip", "POD_IP", null);
        tls = flags.isSet("tls");
        // The SDK's default is 30 s (rocketmq.md 7). "Never" models a client that
        // caches its route for ever: the first read at the start is its last.
        routeMillis = flags.isSet("never-refresh-route") ? Integer.MAX_VALUE : flags.number("route-ms", 30_000);
        String key = flags.text("access-key", null);
        String secret = flags.text("secret-key", null);
        hook = key == null ? null : new AclClientRPCHook(new SessionCredentials(key, secret));
    }

    /** Signs requests, or null. */
    RPCHook hook() {
        return hook;
    }

    void apply(ClientConfig config) {
        config.setNamesrvAddr(nameServers);
        config.setPollNameServerInterval(routeMillis);
        config.setUseTLS(tls);
        config.setVipChannelEnabled(false);
        if (clientIp != null) {
            config.setClientIP(clientIp);
        }
        if (instance != null) {
            config.setInstanceName(instance);
        }
    }
}
