// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command client is a producer and a push consumer on rocketmq-client-go v2, for
// tests. Its flags and its ledger are those of the Java clients:
//
//	client consume --namesrv=HOST:PORT --group=G --topic=T --ledger=FILE
//	client produce --namesrv=HOST:PORT --topic=T --ledger=FILE --rate=10
//	client allocate <WORLDS >SHARES
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/apache/rocketmq-client-go/v2/rlog"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	rlog.SetLogLevel("warn")
	what := ""
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	switch what {
	case "produce":
		return produce(ctx, args)
	case "consume":
		return consume(ctx, args)
	case "allocate":
		return allocate(args)
	default:
		return fmt.Errorf("want produce, consume or allocate, not %q", what)
	}
}

// common are the flags that both programs have.
type common struct {
	flags     *flag.FlagSet
	namesrv   string
	topic     string
	group     string
	name      string
	instance  string
	ledger    string
	readyFile string
	accessKey string
	secretKey string
}

func newCommon(kind, group string) *common {
	c := &common{flags: flag.NewFlagSet(kind, flag.ContinueOnError)}
	f := c.flags
	f.StringVar(&c.namesrv, "namesrv", os.Getenv("NAMESRV_ADDR"), "name servers HOST:PORT;HOST:PORT")
	f.StringVar(&c.topic, "topic", "", "topic; several with commas for consumers")
	f.StringVar(&c.group, "group", group, "producer or consumer group")
	f.StringVar(&c.name, "name", env("POD_NAME", fmt.Sprintf("%s-%d", kind, os.Getpid())), "name of this client")
	f.StringVar(&c.instance, "instance", "", "instance name in the client id (default: the name)")
	f.StringVar(&c.ledger, "ledger", os.Getenv("LEDGER"), "ledger file, or a folder for NAME.ledger")
	f.StringVar(&c.readyFile, "ready-file", "", "file to write when ready")
	f.StringVar(&c.accessKey, "access-key", "", "access key")
	f.StringVar(&c.secretKey, "secret-key", "", "secret key")
	return c
}

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

// parse reads the flags and opens the ledger.
func (c *common) parse(args []string) (*ledger, error) {
	if err := c.flags.Parse(args); err != nil {
		return nil, err
	}
	if rest := c.flags.Args(); len(rest) > 0 {
		return nil, fmt.Errorf("%q is not a flag; write --name=value", rest[0])
	}
	for name, value := range map[string]string{
		"namesrv": c.namesrv, "topic": c.topic, "group": c.group, "ledger": c.ledger,
	} {
		if value == "" {
			return nil, fmt.Errorf("--%s is required", name)
		}
	}
	if c.instance == "" {
		c.instance = c.name
	}
	return openLedger(c.ledger, c.name, c.group)
}

func (c *common) nameServers() []string { return strings.Split(c.namesrv, ";") }

// ready says that the client works.
func (c *common) ready() error {
	fmt.Println("ready", c.name)
	if c.readyFile == "" {
		return nil
	}
	return os.WriteFile(c.readyFile, []byte(c.name+"\n"), 0o600)
}
