// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"maps"
	"slices"
)

// Header fields of ACL 1.0 and 2.0; both use the same (rocketmq.md 2.1, 2.2).
const (
	ExtAccessKey     = "AccessKey"
	ExtSecurityToken = "SecurityToken"
	ExtSignature     = "Signature"
)

// Sign sets the ACL fields of c. Everything else in ExtFields and the body must
// be final: both are signed. It does nothing when there is no access key.
func Sign(c *Command, cred Credentials) {
	if cred.AccessKey == "" {
		return
	}
	ext := maps.Clone(c.ExtFields)
	if ext == nil {
		ext = map[string]string{}
	}
	ext[ExtAccessKey] = cred.AccessKey
	delete(ext, ExtSecurityToken)
	if cred.SecurityToken != "" {
		ext[ExtSecurityToken] = cred.SecurityToken
	}
	c.ExtFields = ext
	ext[ExtSignature] = Signature(c, cred.SecretKey)
}

// Signature returns what the field Signature of c must be: the HMAC-SHA1 of the
// values of all other fields in the order of their keys, then the body.
func Signature(c *Command, secretKey string) string {
	mac := hmac.New(sha1.New, []byte(secretKey))
	for _, k := range slices.Sorted(maps.Keys(c.ExtFields)) {
		if k != ExtSignature {
			mac.Write([]byte(c.ExtFields[k]))
		}
	}
	mac.Write(c.Body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
