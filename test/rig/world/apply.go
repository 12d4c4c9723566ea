// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// fieldOwner is the field manager of what the world applies.
const fieldOwner = "lockstep-world"

// Apply applies objects by server-side apply and remembers those that were not
// there before, so that Stop can remove them from an existing cluster.
func (w *World) Apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		name := fmt.Sprintf("%s %s", object.GetKind(), client.ObjectKeyFromObject(object))
		there := object.DeepCopy()
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(object), there)
		isNew := apierrors.IsNotFound(err)
		if err != nil && !isNew {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		if err := w.Client.Apply(ctx, configuration, client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s: %w", name, err)
		}
		if isNew {
			w.mu.Lock()
			w.created = append(w.created, object)
			w.mu.Unlock()
		}
	}
	return nil
}

// ApplyYAML applies every object of a manifest.
func (w *World) ApplyYAML(ctx context.Context, manifest []byte) error {
	objects, err := decode(manifest)
	if err != nil {
		return err
	}
	return w.Apply(ctx, objects...)
}

// ApplyKustomization applies what a folder's kustomization.yaml lists under
// resources, folders in it included. The files of config/ need no more of
// kustomize than that.
func (w *World) ApplyKustomization(ctx context.Context, dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		return fmt.Errorf("reading what to apply: %w", err)
	}
	var listed struct{ Resources []string }
	if err := yaml.Unmarshal(data, &listed); err != nil {
		return fmt.Errorf("reading kustomization.yaml of %s: %w", dir, err)
	}
	for _, resource := range listed.Resources {
		path := filepath.Join(dir, resource)
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("reading what to apply: %w", err)
		}
		if info.IsDir() {
			err = w.ApplyKustomization(ctx, path)
		} else {
			err = w.applyFile(ctx, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *World) applyFile(ctx context.Context, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading what to apply: %w", err)
	}
	if err := w.ApplyYAML(ctx, data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// decode reads the objects of a manifest.
func decode(manifest []byte) ([]*unstructured.Unstructured, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("decoding a manifest: %w", err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}
