// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// identity is what the agent decides about a Pod and fields refer to.
type identity struct{ podIP, hostIP string }

// environment builds the environment of containers of one Pod.
type environment struct {
	pod     *corev1.Pod
	who     identity
	objects objects
	// base is what every container of the agent gets, see Options.Env.
	base map[string]string
}

// of returns the environment of a container as a map. Values are expanded; paths
// are not rewritten yet. A missing ConfigMap, Secret or key is an error unless
// the reference is optional.
func (e environment) of(c *corev1.Container) (map[string]string, error) {
	env := maps.Clone(e.base)
	if env == nil {
		env = map[string]string{}
	}
	env["HOSTNAME"] = hostname(e.pod)
	for _, source := range c.EnvFrom {
		data, err := e.from(source)
		if err != nil {
			return nil, err
		}
		for key, value := range data {
			env[source.Prefix+key] = string(value)
		}
	}
	for _, v := range c.Env {
		value, set, err := e.value(v, env)
		if err != nil {
			return nil, fmt.Errorf("variable %s of container %s: %w", v.Name, c.Name, err)
		}
		if set {
			env[v.Name] = value
		}
	}
	return env, nil
}

func (e environment) from(source corev1.EnvFromSource) (map[string][]byte, error) {
	switch {
	case source.ConfigMapRef != nil:
		return e.objects.configMap(e.pod.Namespace, source.ConfigMapRef.Name, source.ConfigMapRef.Optional)
	case source.SecretRef != nil:
		return e.objects.secret(e.pod.Namespace, source.SecretRef.Name, source.SecretRef.Optional)
	}
	return nil, nil
}

// value returns the value of a variable; set is false for an optional reference
// to something that is not there.
func (e environment) value(v corev1.EnvVar, env map[string]string) (value string, set bool, err error) {
	from := v.ValueFrom
	switch {
	case from == nil:
		return expand(v.Value, func(name string) (string, bool) {
			value, known := env[name]
			return value, known
		}), true, nil
	case from.FieldRef != nil:
		value, err = e.field(from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		data, err := e.objects.configMap(e.pod.Namespace, ref.Name, ref.Optional)
		return key(data, err, "ConfigMap", ref.Name, ref.Key, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		data, err := e.objects.secret(e.pod.Namespace, ref.Name, ref.Optional)
		return key(data, err, "Secret", ref.Name, ref.Key, ref.Optional)
	}
	return "", false, fmt.Errorf("this kind of valueFrom is not supported by the rig")
}

func key(data map[string][]byte, err error, kind, name, key string, optional *bool) (string, bool, error) {
	if err != nil {
		return "", false, err
	}
	value, found := data[key]
	if !found && !isTrue(optional) {
		return "", false, fmt.Errorf("%s %s has no key %q", kind, name, key)
	}
	return string(value), found, nil
}

// field resolves the field paths that Kubernetes allows in variables and in
// downward API volumes.
func (e environment) field(path string) (string, error) {
	pod := e.pod
	if name, subscript, found := splitSubscript(path); found {
		switch name {
		case "metadata.labels":
			return pod.Labels[subscript], nil
		case "metadata.annotations":
			return pod.Annotations[subscript], nil
		}
		return "", fmt.Errorf("field %q is not supported by the rig", path)
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return formatMap(pod.Labels), nil
	case "metadata.annotations":
		return formatMap(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return e.who.podIP, nil
	case "status.hostIP", "status.hostIPs":
		return e.who.hostIP, nil
	}
	return "", fmt.Errorf("field %q is not supported by the rig", path)
}

// splitSubscript splits metadata.labels['app'] into its two parts.
func splitSubscript(path string) (name, subscript string, found bool) {
	name, rest, found := strings.Cut(path, "['")
	if !found || !strings.HasSuffix(rest, "']") {
		return "", "", false
	}
	return name, strings.TrimSuffix(rest, "']"), true
}

// formatMap writes labels or annotations as the kubelet does in a file.
func formatMap(m map[string]string) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, fmt.Sprintf("%s=%q", key, m[key]))
	}
	return strings.Join(lines, "\n")
}

// hostname is the host name of a Pod as the kubelet makes it.
func hostname(pod *corev1.Pod) string {
	name := pod.Spec.Hostname
	if name == "" {
		name = pod.Name
	}
	if len(name) > maxHostname {
		name = strings.TrimRight(name[:maxHostname], "-.")
	}
	return name
}

// maxHostname is the limit of Linux and of DNS.
const maxHostname = 63

// commandLine returns the program and its arguments, expanded but with the paths
// of the container. The rig has no images, so there is no default command.
func commandLine(c *corev1.Container, env map[string]string) ([]string, error) {
	if len(c.Command) == 0 {
		return nil, fmt.Errorf("container %s has no command: the rig runs no images, so the command must be set", c.Name)
	}
	var line []string
	for _, text := range slices.Concat(c.Command, c.Args) {
		line = append(line, expand(text, func(name string) (string, bool) {
			value, known := env[name]
			return value, known
		}))
	}
	return line, nil
}
