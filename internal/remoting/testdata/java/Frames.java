// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Writes frames and bodies with RocketMQ's own encoder; see ../README.md.
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.*;

public class Frames {
    static Path dir;

    public static void main(String[] args) throws Exception {
        dir = Files.createDirectories(Paths.get(args[0]));
        System.setProperty(RemotingCommand.REMOTING_VERSION_KEY, args[1]);
        for (SerializeType type : SerializeType.values()) {
            frames(type);
        }
        Object runningInfo = runningInfo();
        Files.write(dir.resolve("ref-running-info.body"), RemotingSerializable.encode(runningInfo));
        Files.write(dir.resolve("ref-map.body"), RemotingSerializable.encode(oddMap()));
        loops();
    }

    static void frames(SerializeType type) throws Exception {
        String name = type.name().toLowerCase();
        HashMap<String, String> fields = new HashMap<>();
        for (String field : ("topic=T,defaultTopic=TBW102,readQueueNums=8,writeQueueNums=8,perm=6,"
            + "topicFilterType=SINGLE_TAG,topicSysFlag=0,order=false").split(",")) {
            fields.put(field.split("=")[0], field.split("=")[1]);
        }
        fields.put("attributes", "+message.type=FIFO");
        RemotingCommand request = RemotingCommand.createRequestCommand(17, null);
        request.setExtFields(fields);
        frame("request-" + name, request, type, 7);

        frame("response-" + name, RemotingCommand.createResponseCommand(0, null), type, 7);

        RemotingCommand odd = RemotingCommand.createResponseCommand(1, "\u8ba2\u5355 \"\u00e9\" \1\13\t\n\u2028 \\ / ' < \ud83d\ude00");
        odd.setBody(new byte[] {0, 1, (byte) 255});
        odd.markOnewayRPC();
        HashMap<String, String> oddFields = new HashMap<>();
        oddFields.put("empty", "");
        oddFields.put("\u540d", "\u5024\0");
        odd.setExtFields(oddFields);
        frame("odd-" + name, odd, type, Integer.MIN_VALUE);
    }

    static void frame(String name, RemotingCommand command, SerializeType type, int opaque) throws Exception {
        command.setSerializeTypeCurrentRPC(type);
        command.setOpaque(opaque);
        ByteBuffer buffer = command.encode();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        Files.write(dir.resolve(name + ".frame"), bytes);
    }

    // Two queues that hold one shared object.
    static Object runningInfo() throws Exception {
        Class<?> queueInfo = body("ProcessQueueInfo");
        Class<?> runningInfo = body("ConsumerRunningInfo");
        Object shared = queueInfo.getDeclaredConstructor().newInstance();
        queueInfo.getMethod("setCachedMsgCount", int.class).invoke(shared, 5);
        TreeMap<MessageQueue, Object> queues = new TreeMap<>();
        queues.put(new MessageQueue("T-1_x", "broker-a", 0), shared);
        queues.put(new MessageQueue("T-1_x", "broker-a", 1), shared);
        Properties properties = new Properties();
        properties.put("k", "v\13\1'/\\\177\u2028");
        Object info = runningInfo.getDeclaredConstructor().newInstance();
        runningInfo.getMethod("setMqTable", TreeMap.class).invoke(info, queues);
        runningInfo.getMethod("setProperties", Properties.class).invoke(info, properties);
        return info;
    }

    // The package of bodies changed with 5.0.
    static Class<?> body(String name) throws Exception {
        try {
            return Class.forName("org.apache.rocketmq.remoting.protocol.body." + name);
        } catch (ClassNotFoundException e) {
            return Class.forName("org.apache.rocketmq.common.protocol.body." + name);
        }
    }

    static Map<Object, Object> oddMap() {
        Map<String, Object> shared = new HashMap<>();
        shared.put("x", 1);
        Map<Object, Object> map = new LinkedHashMap<>();
        map.put(1, "int");
        map.put(2L, "long");
        map.put(true, "bool");
        map.put("s.t r/[0]", shared);
        map.put("list", Arrays.asList(shared, shared));
        map.put("nan", Double.NaN);
        map.put("d", 1.0d);
        map.put("big", 1e300);
        map.put("n", null);
        map.put(3, shared);
        map.put((byte) 4, shared);
        map.put("ctl", "\0\7\13\37\177\u2028\ud800");
        return map;
    }

    // fastjson 2 overflows on these and writes nothing.
    static void loops() throws Exception {
        Map<String, Object> self = new HashMap<>();
        self.put("self", self);
        Map<String, Object> parent = new HashMap<>();
        Map<String, Object> child = new HashMap<>();
        parent.put("child", child);
        child.put("parent", parent);
        try {
            Files.write(dir.resolve("ref-self.body"), RemotingSerializable.encode(self));
            Files.write(dir.resolve("ref-parent.body"), RemotingSerializable.encode(parent));
        } catch (RuntimeException e) {
            System.err.println("no loops: " + e.getMessage());
        }
    }
}
