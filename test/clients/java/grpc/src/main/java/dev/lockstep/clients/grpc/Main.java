// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients.grpc;

import dev.lockstep.clients.Client;
import dev.lockstep.clients.Flags;

/** Producer, push consumer and simple consumer on the gRPC SDK; they need a proxy. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        Client.main(() -> {
            String what = args.length == 0 ? "" : args[0];
            Flags flags = new Flags(args, Math.min(1, args.length));
            switch (what) {
                case "produce":
                    Producer.run(flags);
                    break;
                case "consume":
                    PushConsumer.run(flags);
                    break;
                case "consume-simple":
                    SimpleConsumer.run(flags);
                    break;
                case "warm":
                    Warm.run();
                    break;
                default:
                    throw new IllegalArgumentException("want produce, consume or consume-simple, not \"" + what + "\"");
            }
        });
    }
}
