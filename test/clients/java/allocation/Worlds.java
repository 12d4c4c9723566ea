// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Shares the queues of the worlds on its input by the classes of the SDK on its
 * class path, and says who gets what. The test of internal/allocation that asks
 * runs it as a source file, {@code java -cp 'lib/*' Worlds.java}; numbers are
 * big-endian, texts are their length and UTF-8.
 *
 * <p>A world is: a strategy, queues, client ids, whether to sort both first as a
 * consumer does, and the ids of the clients that allocate. The answer is: the
 * name of the strategy, the queues and ids in their order, and for each client 0
 * and its queues, or 1 and what it throws.
 */
final class Worlds {
    private final DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    private final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));

    public static void main(String[] args) throws IOException {
        Worlds worlds = new Worlds();
        try {
            while (true) {
                worlds.answer(worlds.in.readUnsignedByte());
                worlds.out.flush();
            }
        } catch (EOFException end) {
            worlds.out.flush();
        }
    }

    private void answer(int kind) throws IOException {
        AllocateMessageQueueStrategy strategy = strategy(kind);
        List<MessageQueue> queues = queues();
        List<String> clients = texts();
        if (in.readBoolean()) {
            Collections.sort(queues);
            Collections.sort(clients);
        }
        List<String> selves = texts();
        write(strategy.getName());
        write(queues);
        out.writeInt(clients.size());
        for (String client : clients) {
            write(client);
        }
        for (String self : selves) {
            List<MessageQueue> share;
            try {
                share = strategy.allocate("group", self, queues, clients);
            } catch (RuntimeException thrown) {
                out.writeByte(1);
                write(String.valueOf(thrown));
                continue;
            }
            out.writeByte(0);
            write(share);
        }
    }

    private AllocateMessageQueueStrategy strategy(int kind) throws IOException {
        switch (kind) {
            case 0:
                return new AllocateMessageQueueAveragely();
            case 1:
                return new AllocateMessageQueueAveragelyByCircle();
            case 2:
                AllocateMessageQueueByConfig config = new AllocateMessageQueueByConfig();
                config.setMessageQueueList(queues());
                return config;
            case 3:
                AllocateMessageQueueByMachineRoom room = new AllocateMessageQueueByMachineRoom();
                if (in.readBoolean()) {
                    room.setConsumeridcs(new HashSet<>(texts()));
                }
                return room;
            case 4:
                Prefix resolver = new Prefix(text());
                return new AllocateMachineRoomNearby(strategy(in.readUnsignedByte()), resolver);
            case 5:
                return new AllocateMessageQueueConsistentHash(in.readInt());
            case 6:
                return new AllocateMessageQueueConsistentHash(in.readInt(), Worlds::collide);
            default:
                throw new IOException("there is no strategy " + kind);
        }
    }

    /** A hash with few values. */
    private static long collide(String key) {
        long sum = 0;
        for (byte b : key.getBytes(StandardCharsets.UTF_8)) {
            sum = (sum * 31 + (b & 0xFF)) % 23;
        }
        return sum - 11;
    }

    /** Rooms by the part of a name before a separator. */
    private static final class Prefix implements AllocateMachineRoomNearby.MachineRoomResolver {
        private final String separator;

        Prefix(String separator) {
            this.separator = separator;
        }

        private String room(String name) {
            int end = name.indexOf(separator);
            return end < 0 ? null : name.substring(0, end);
        }

        @Override
        public String brokerDeployIn(MessageQueue queue) {
            return room(queue.getBrokerName());
        }

        @Override
        public String consumerDeployIn(String client) {
            return room(client);
        }
    }

    private String text() throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private List<String> texts() throws IOException {
        int size = in.readInt();
        List<String> texts = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            texts.add(text());
        }
        return texts;
    }

    private List<MessageQueue> queues() throws IOException {
        int size = in.readInt();
        List<MessageQueue> queues = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            queues.add(new MessageQueue(text(), text(), in.readInt()));
        }
        return queues;
    }

    private void write(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private void write(List<MessageQueue> queues) throws IOException {
        out.writeInt(queues.size());
        for (MessageQueue queue : queues) {
            write(queue.getTopic());
            write(queue.getBrokerName());
            out.writeInt(queue.getQueueId());
        }
    }
}
