// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Account is an access key's secret and rights: an account of ACL 1.0 on 4.9, a
// user of ACL 2.0 on 5.x.
type Account struct {
	Secret string
	// Admin may do everything; others only what brokers do not check: reading
	// on 4.9, what has no policy check on 5.x (rocketmq-live.md 7).
	Admin bool
}

// SetAccounts replaces the accounts, as a rotation of secrets does; nil switches
// access control off. Name servers have none.
func (c *Cluster) SetAccounts(accounts map[string]Account) {
	c.enter()
	defer c.mu.Unlock()
	c.opts.Accounts = maps.Clone(accounts)
}

// authorise judges a call to a broker; nil lets it pass.
func (b *Broker) authorise(rq *request) *reply {
	accounts := b.c.opts.Accounts
	if accounts == nil {
		return nil
	}
	key := rq.Args["AccessKey"]
	account, known := accounts[key]
	signed := hmac.Equal([]byte(rq.Args["Signature"]), []byte(signature(rq, account.Secret)))
	if b.version.five() {
		return authorise2(rq, key, account, known, signed)
	}
	deny := func(format string, args ...any) *reply {
		return answer(systemError, "org.apache.rocketmq.acl.common.AclException: "+fmt.Sprintf(format, args...))
	}
	switch {
	case key == "":
		return deny("No accessKey is configured")
	case !known:
		return deny("No acl config for %s", key)
	case !signed:
		return deny("Check signature failed for accessKey=%s", key)
	case !account.Admin && slices.Contains([]int{codeUpdateTopic, codeUpdateConfig, codeDeleteTopic, codeUpdateGroup, codeDeleteGroup}, rq.Code):
		return deny("Need admin permission for request code=%d, but accessKey=%s is not", rq.Code, key)
	}
	return nil
}

func authorise2(rq *request, key string, account Account, known, signed bool) *reply {
	switch {
	case key == "":
		return answer(noPermission, "username cannot be null.")
	case !known:
		return answer(noPermission, "User:"+key+" is not found.")
	case !signed:
		return answer(noPermission, "check signature failed.")
	case account.Admin:
		return nil
	}
	resource := ""
	switch rq.Code {
	case codeUpdateTopic, codeTopicConfig, codeTopicStats, codeMaxOffset, codeWhoConsumes, codeDeleteTopic,
		codeQueryOffset, codeUpdateOffset, codePull:
		resource = "Topic:" + rq.Args["topic"]
	case codeGroupConfig, codeConnections, codeRunningInfo, codeDeleteGroup:
		resource = "Group:" + rq.Args["group"] + rq.Args["consumerGroup"] + rq.Args["groupName"]
	case codeAllProducers:
		resource = "Cluster:*"
	default:
		return nil // brokers check nothing here
	}
	return answer(noPermission, fmt.Sprintf("User:%s has no permission to access %s from 127.0.0.1, no matched policies.", key, resource))
}

// signature is what the caller must send: the values of all other fields in the
// order of their names, and the body (rocketmq.md 2.1).
func signature(rq *request, secret string) string {
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(rq.Args)) {
		if k != "Signature" {
			text.WriteString(rq.Args[k])
		}
	}
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write([]byte(text.String() + rq.Body))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
