// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// permReadWrite is perm 6 (rocketmq.md 3.4).
const permReadWrite = "6"

// CreateTopic creates a topic, or changes it to these numbers, on every master
// that serves, with as many read as write queues on each. Attributes are written
// "+message.type=FIFO"; 4.x ignores them.
func (c *Cluster) CreateTopic(ctx context.Context, topic string, queues int, attributes ...string) error {
	return c.UpdateTopic(ctx, topic, queues, queues, attributes...)
}

// UpdateTopic is CreateTopic with numbers of read and write queues of their own.
func (c *Cluster) UpdateTopic(ctx context.Context, topic string, read, write int, attributes ...string) error {
	ext := map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "perm": permReadWrite,
		"readQueueNums": strconv.Itoa(read), "writeQueueNums": strconv.Itoa(write),
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
		"attributes": strings.Join(attributes, ","),
	}
	if c.options.ACL != nil {
		ext = c.options.ACL.sign(ext, nil)
	}
	for _, master := range c.Masters() {
		if !master.Serving() {
			continue
		}
		response, err := ask(ctx, master.Addr, codeUpdateTopic, ext)
		if err != nil {
			return fmt.Errorf("creating topic %s on %s: %w", topic, master.Name, err)
		}
		if response.Code != responseOK {
			return fmt.Errorf("creating topic %s on %s: code %d: %s", topic, master.Name, response.Code, response.Remark)
		}
	}
	return nil
}

// Admin runs mqadmin, such as Admin(ctx, "topicList"), with the cluster's name
// servers, and returns what it printed. mqadmin exits with status 0 even when a
// command fails, so judge by the output.
func (c *Cluster) Admin(ctx context.Context, args ...string) (string, error) {
	home := filepath.Join(c.Dir, "mqadmin")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", fmt.Errorf("making a folder for mqadmin: %w", err)
	}
	if err := c.options.writeLogback(home); err != nil {
		return "", err
	}
	if c.options.ACL != nil {
		if err := c.options.writeACL(filepath.Join(home, "conf")); err != nil {
			return "", err
		}
	}
	flags := []string{
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m", "-Djava.net.preferIPv4Stack=true",
		"-Duser.home=" + home, "-Drocketmq.home.dir=" + home,
		"-Drocketmq.namesrv.addr=" + c.NameServerAddress(),
		"-cp", filepath.Join(c.lib, "*"), "org.apache.rocketmq.tools.command.MQAdminStartup",
	}
	cmd := exec.CommandContext(ctx, c.java, append(flags, args...)...)
	cmd.Env = environment(home, filepath.Dir(c.java))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("mqadmin %s: %w: %s", strings.Join(args, " "), errors.Join(ctx.Err(), err), lastLines(out, 10))
	}
	return string(out), nil
}
