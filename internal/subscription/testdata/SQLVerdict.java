// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.filter.parser.SelectorParser;

/**
 * Says of each line of standard input, in which \n, \r, \t and \\ are escaped,
 * whether a released broker's own parser takes it as a SQL92 expression.
 * sql92.tsv was made with it:
 *
 *   java -cp 'rocketmq-5.5.0/lib/*' SQLVerdict.java < expressions
 */
public class SQLVerdict {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null;) {
            String text = line.replace("\\\\", "\u0001").replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t").replace("\u0001", "\\");
            String verdict = "taken";
            try {
                SelectorParser.parse(text);
            } catch (Throwable e) {
                verdict = "refused";
            }
            System.out.println(verdict + "\t" + line);
        }
    }
}
