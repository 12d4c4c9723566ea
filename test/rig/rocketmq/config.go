// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// writeProperties writes a Java properties file with sorted keys. A misspelt key
// is ignored by the servers without a word (rocketmq.md 9.3).
func writeProperties(path string, properties map[string]string) error {
	var text bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		fmt.Fprintf(&text, "%s=%s\n", key, strings.ReplaceAll(properties[key], `\`, `\\`))
	}
	return writeFile(path, text.Bytes())
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("writing a server's configuration: %w", err)
	}
	return nil
}

func (o Options) nameServerProperties(s *Server) map[string]string {
	properties := map[string]string{
		"listenPort":   strconv.Itoa(s.ports.listen()),
		"bindAddress":  loopback,
		"kvConfigPath": filepath.Join(s.Dir, "kv.json"),
	}
	maps.Copy(properties, o.NameServerProperties)
	return properties
}

// brokerProperties is the smallest configuration of rocketmq.md 9.3, with topics
// made only on request and SQL92 filters allowed.
func (o Options) brokerProperties(s *Server, nameServers string) map[string]string {
	store := filepath.Join(s.Dir, "store")
	properties := map[string]string{
		"brokerClusterName": o.ClusterName,
		"brokerName":        s.BrokerName,
		"brokerId":          strconv.Itoa(s.BrokerID),
		"brokerRole":        "ASYNC_MASTER",
		"namesrvAddr":       nameServers,
		"brokerIP1":         loopback,
		"brokerIP2":         loopback,
		"bindAddress":       loopback,
		"listenPort":        strconv.Itoa(s.ports.listen()),
		"storePathRootDir":  store, "storePathCommitLog": filepath.Join(store, "commitlog"),
		"mappedFileSizeCommitLog":    strconv.Itoa(16 << 20),
		"mappedFileSizeConsumeQueue": "60000",
		"mappedFileSizeTimerLog":     strconv.Itoa(1 << 20),
		"maxIndexNum":                "10000",
		"maxHashSlotNum":             "1000",
		"diskMaxUsedSpaceRatio":      "95",
		"autoCreateTopicEnable":      "false",
		"enablePropertyFilter":       "true",
	}
	maps.Copy(properties, patientProperties())
	if !o.is4() {
		maps.Copy(properties, quietProperties())
	}
	if s.BrokerID > 0 {
		properties["brokerRole"] = "SLAVE"
	}
	if o.ACL != nil {
		maps.Copy(properties, o.aclProperties())
	}
	maps.Copy(properties, o.BrokerProperties)
	return properties
}

// patientProperties keep brokers on a busy machine from refusing messages that
// waited 200 ms for a processor ("[TIMEOUT_CLEAN_QUEUE]broker busy").
func patientProperties() map[string]string {
	return map[string]string{
		"waitTimeMillsInSendQueue":        "10000",
		"waitTimeMillsInTransactionQueue": "10000",
		"osPageCacheBusyTimeOutMills":     "10000",
	}
}

// quietProperties keep an idle 5.x broker from using a quarter of a processor,
// and a whole one at its start and after its first transaction.
func quietProperties() map[string]string {
	return map[string]string{
		// The flush compares all 37 MiB of the timer wheel byte by byte, by default
		// every second. After a crash, timer messages delivered since the last flush
		// are delivered again.
		"timerFlushIntervalMs": "20000",
		// The service that writes transaction metrics spins until its first interval
		// is over, by default 10 s.
		"transactionMetricFlushInterval": "500",
		// The service that marks transactions as done never sleeps again once its
		// interval has passed after a mark (3 s by default). So: write each mark at
		// once (a size of more than 1 byte) and let the interval be long.
		"transactionOpMsgMaxSize":    "1",
		"transactionOpBatchInterval": "3600000",
	}
}

// proxyConfig is the JSON of rocketmq.md 9.5.
func (o Options) proxyConfig(s *Server, nameServers string) ([]byte, error) {
	config := map[string]any{
		"rocketMQClusterName": o.ClusterName,
		"proxyMode":           "CLUSTER",
		"namesrvAddr":         nameServers,
		"localServeAddr":      loopback,
		"tlsTestModeEnable":   false,
		"tlsKeyPath":          s.cluster.keyFile(),
		"tlsCertPath":         s.cluster.CertificateFile(),
		"grpcServerPort":      s.ports.grpc(),
		"remotingListenPort":  s.ports.remoting(),
	}
	if o.ACL != nil {
		maps.Copy(config, o.aclProxyConfig())
	}
	maps.Copy(config, o.ProxyConfig)
	return json.MarshalIndent(config, "", "  ")
}

// logback is what programs of 4.x want to find below ROCKETMQ_HOME; 5.x brings its
// own, which writes below user.home.
const logback = `<configuration>
  <appender name="file" class="ch.qos.logback.core.FileAppender">
    <file>%s</file>
    <encoder><pattern>%%d{HH:mm:ss.SSS} %%-5level %%thread %%logger{0} %%msg%%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="file"/></root>
</configuration>
`

func (o Options) writeLogback(home string) error {
	if !o.is4() {
		return nil
	}
	for _, program := range []string{"namesrv", "broker", "tools"} {
		text := fmt.Sprintf(logback, filepath.Join(home, "logs", program+".log"))
		if err := writeFile(filepath.Join(home, "conf", "logback_"+program+".xml"), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// writeConfig writes all files that the server reads, so that a restart finds
// the same.
func (o Options) writeConfig(s *Server, nameServers string) error {
	conf := filepath.Join(s.Dir, "conf")
	if err := o.writeLogback(s.Dir); err != nil {
		return err
	}
	if o.ACL != nil {
		if err := o.writeACL(conf); err != nil {
			return err
		}
	}
	switch s.Kind {
	case NameServer:
		return writeProperties(s.config(), o.nameServerProperties(s))
	case Broker:
		return writeProperties(s.config(), o.brokerProperties(s, nameServers))
	default:
		data, err := o.proxyConfig(s, nameServers)
		if err != nil {
			return fmt.Errorf("encoding the configuration of %s: %w", s.Name, err)
		}
		return writeFile(s.config(), data)
	}
}
