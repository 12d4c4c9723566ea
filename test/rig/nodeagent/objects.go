// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// objects reads what Pods refer to, from caches that follow the API server.
type objects struct {
	configMaps corelisters.ConfigMapLister
	secrets    corelisters.SecretLister
}

// configMap returns the data of a ConfigMap, nil when it is optional and not there.
func (o objects) configMap(namespace, name string, optional *bool) (map[string][]byte, error) {
	object, err := o.configMaps.ConfigMaps(namespace).Get(name)
	if absent, err := tolerate(err, "ConfigMap", namespace, name, optional); absent || err != nil {
		return nil, err
	}
	return configMapData(object), nil
}

// secret returns the data of a Secret, nil when it is optional and not there.
func (o objects) secret(namespace, name string, optional *bool) (map[string][]byte, error) {
	object, err := o.secrets.Secrets(namespace).Get(name)
	if absent, err := tolerate(err, "Secret", namespace, name, optional); absent || err != nil {
		return nil, err
	}
	return object.Data, nil
}

func configMapData(object *corev1.ConfigMap) map[string][]byte {
	data := map[string][]byte{}
	for key, value := range object.Data {
		data[key] = []byte(value)
	}
	for key, value := range object.BinaryData {
		data[key] = value
	}
	return data
}

func tolerate(err error, kind, namespace, name string, optional *bool) (absent bool, _ error) {
	switch {
	case err == nil:
		return false, nil
	case apierrors.IsNotFound(err) && isTrue(optional):
		return true, nil
	default:
		return false, fmt.Errorf("reading %s %s/%s: %w", kind, namespace, name, err)
	}
}

func isTrue(b *bool) bool { return b != nil && *b }
