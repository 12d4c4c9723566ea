// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

const (
	authenticationPackage = "org.apache.rocketmq.auth.authentication.provider."
	authorizationPackage  = "org.apache.rocketmq.auth.authorization.provider."
	proxyAuthPackage      = "org.apache.rocketmq.proxy.auth."
)

// aclProperties switches access control on at a broker's first boot.
func (o Options) aclProperties() map[string]string {
	if !o.acl2() {
		return map[string]string{"aclEnable": "true"}
	}
	return map[string]string{
		"authenticationEnabled":          "true",
		"authenticationProvider":         authenticationPackage + "DefaultAuthenticationProvider",
		"authenticationMetadataProvider": authenticationPackage + "LocalAuthenticationMetadataProvider",
		"initAuthenticationUser":         fmt.Sprintf(`{"username":%q,"password":%q}`, o.ACL.AccessKey, o.ACL.SecretKey),
		"innerClientAuthenticationCredentials": fmt.Sprintf(
			`{"accessKey":%q,"secretKey":%q}`, o.ACL.AccessKey, o.ACL.SecretKey),
		"authorizationEnabled":          "true",
		"authorizationProvider":         authorizationPackage + "DefaultAuthorizationProvider",
		"authorizationMetadataProvider": authorizationPackage + "LocalAuthorizationMetadataProvider",
	}
}

// aclProxyConfig lets a proxy ask the brokers about users and policies.
func (o Options) aclProxyConfig() map[string]any {
	// The proxy signs its own calls only when told to; with ACL 1.0 it takes the
	// credentials of tools.yml.
	config := map[string]any{"enableAclRpcHookForClusterMode": true}
	if !o.acl2() {
		config["enableACL"] = true
		return config
	}
	for key, value := range o.aclProperties() {
		config[key] = value
	}
	delete(config, "initAuthenticationUser")
	config["authenticationEnabled"], config["authorizationEnabled"] = true, true
	config["authenticationMetadataProvider"] = proxyAuthPackage + "ProxyAuthenticationMetadataProvider"
	config["authorizationMetadataProvider"] = proxyAuthPackage + "ProxyAuthorizationMetadataProvider"
	return config
}

// writeACL writes the accounts of ACL 1.0 and the credentials that a slave and
// mqadmin sign with.
func (o Options) writeACL(conf string) error {
	tools := fmt.Sprintf("accessKey: %q\nsecretKey: %q\n", o.ACL.AccessKey, o.ACL.SecretKey)
	if err := writeFile(filepath.Join(conf, "tools.yml"), []byte(tools)); err != nil {
		return err
	}
	plain := fmt.Sprintf("globalWhiteRemoteAddresses: []\naccounts:\n- accessKey: %q\n  secretKey: %q\n  whiteRemoteAddress:\n  admin: true\n",
		o.ACL.AccessKey, o.ACL.SecretKey)
	return writeFile(filepath.Join(conf, "plain_acl.yml"), []byte(plain))
}

// sign returns the header fields with AccessKey and Signature added: HMAC-SHA1
// over all values in the order of their keys, then the body (rocketmq.md 2.1).
func (c *Credentials) sign(ext map[string]string, body []byte) map[string]string {
	signed := maps.Clone(ext)
	if signed == nil {
		signed = map[string]string{}
	}
	signed["AccessKey"] = c.AccessKey
	mac := hmac.New(sha1.New, []byte(c.SecretKey))
	for _, key := range slices.Sorted(maps.Keys(signed)) {
		mac.Write([]byte(signed[key]))
	}
	mac.Write(body)
	signed["Signature"] = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return signed
}
