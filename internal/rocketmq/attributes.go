// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// signs returns the attributes of a request that turn current into wanted, with
// the sign that brokers need before each key: + to set, - to remove. Attributes
// that are already right are left out, for brokers take a repeated one for a
// change (case O12). An empty result means that nothing is to be sent, which
// keeps what is there (rocketmq.md 3.4, case Q28).
func signs(current, wanted map[string]string) (map[string]string, error) {
	signed := map[string]string{}
	for key, value := range wanted {
		if err := validAttribute(key, value); err != nil {
			return nil, err
		}
		if old, ok := current[key]; !ok || old != value {
			signed["+"+key] = value
		}
	}
	for key := range current {
		if _, ok := wanted[key]; !ok {
			signed["-"+key] = ""
		}
	}
	return signed, nil
}

// signedText is the form signed attributes have in a header field:
// "+key=value,-key", sorted.
func signedText(signed map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(signed)) {
		if strings.HasPrefix(key, "-") {
			parts = append(parts, key)
			continue
		}
		parts = append(parts, key+"="+signed[key])
	}
	return strings.Join(parts, ",")
}

// validAttribute refuses what the header's form cannot carry, and blanks, which
// break the broker's own file (rocketmq.md 3.4).
func validAttribute(key, value string) error {
	if key == "" || strings.ContainsAny(key, "+-=, \t\r\n") {
		return fmt.Errorf("attribute key %.100q is empty or has a blank, a comma, an equals sign or a sign", key)
	}
	if value == "" || strings.ContainsAny(value, "=, \t\r\n") {
		return fmt.Errorf("the value of attribute %s is empty or has a blank, a comma or an equals sign", key)
	}
	return nil
}
