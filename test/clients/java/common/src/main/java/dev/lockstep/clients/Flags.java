// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.lockstep.clients;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Command line flags in the form --name=value; a bare --name means "true". Every flag is read once, then done() refuses what nobody read. */
public final class Flags {
    private final Map<String, String> given = new HashMap<>();
    private final List<String> known = new ArrayList<>();

    /** The arguments from the given index on. */
    public Flags(String[] args, int from) {
        for (int i = from; i < args.length; i++) {
            String arg = args[i];
            if (!arg.startsWith("--")) {
                throw new IllegalArgumentException("\"" + arg + "\" is not a flag; write --name=value");
            }
            int eq = arg.indexOf('=');
            given.put(eq < 0 ? arg.substring(2) : arg.substring(2, eq), eq < 0 ? "true" : arg.substring(eq + 1));
        }
    }

    /** The value, or the fallback (which may be null) when the flag is absent or empty. */
    public String text(String name, String fallback) {
        known.add(name);
        String value = given.remove(name);
        return value == null || value.isEmpty() ? fallback : value;
    }

    /** The value, else that of an environment variable, else the fallback. */
    public String textOrEnv(String name, String variable, String fallback) {
        String env = System.getenv(variable);
        return text(name, env == null || env.isEmpty() ? fallback : env);
    }

    /** Like text, but the flag must be given. */
    public String required(String name) {
        return must(name, text(name, null));
    }

    /** Refuses a missing value. */
    public static String must(String name, String value) {
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is required");
        }
        return value;
    }

    public int number(String name, int fallback) {
        String value = text(name, Integer.toString(fallback));
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("--" + name + " wants a whole number, not \"" + value + "\"", e);
        }
    }

    public double decimal(String name, double fallback) {
        String value = text(name, Double.toString(fallback));
        try {
            return Double.parseDouble(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("--" + name + " wants a number, not \"" + value + "\"", e);
        }
    }

    public boolean isSet(String name) {
        return Boolean.parseBoolean(text(name, "false"));
    }

    /** One of the words; the first is the default. */
    public String oneOf(String name, String... words) {
        String value = text(name, words[0]);
        for (String word : words) {
            if (word.equals(value)) {
                return value;
            }
        }
        throw new IllegalArgumentException("--" + name + " is one of " + String.join(", ", words) + ", not \"" + value + "\"");
    }

    /** Refuses flags that nobody asked for: a misspelt flag must not be ignored. */
    public void done() {
        if (!given.isEmpty()) {
            throw new IllegalArgumentException("unknown flags " + given.keySet() + "; there are " + known);
        }
    }
}
