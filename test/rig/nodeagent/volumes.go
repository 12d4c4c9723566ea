// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

const defaultFileMode = 0o644

// volumes keeps the volumes of one Pod on disk, one folder each.
type volumes struct {
	dir    string
	env    environment
	tokens tokenSource
}

// path is the folder of a volume. A hostPath volume is where it is.
func (v volumes) path(name string) string {
	for _, volume := range v.env.pod.Spec.Volumes {
		if volume.Name == name && volume.HostPath != nil {
			return volume.HostPath.Path
		}
	}
	return filepath.Join(v.dir, name)
}

// sync writes every volume as its sources are now. It goes on after an error, so
// that one missing ConfigMap does not keep the others old.
func (v volumes) sync(ctx context.Context) error {
	var errs []error
	for _, volume := range v.env.pod.Spec.Volumes {
		if err := v.syncOne(ctx, volume); err != nil {
			errs = append(errs, fmt.Errorf("volume %s: %w", volume.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (v volumes) syncOne(ctx context.Context, volume corev1.Volume) error {
	switch {
	case volume.HostPath != nil:
		return nil
	case volume.EmptyDir != nil:
		return os.MkdirAll(v.path(volume.Name), 0o777)
	}
	files, err := v.files(ctx, volume)
	if err != nil {
		return err
	}
	_, err = writeAtomically(v.path(volume.Name), files)
	return err
}

// files returns what a volume that is filled by the API holds.
func (v volumes) files(ctx context.Context, volume corev1.Volume) (map[string]file, error) {
	namespace := v.env.pod.Namespace
	switch {
	case volume.ConfigMap != nil:
		s := volume.ConfigMap
		data, err := v.env.objects.configMap(namespace, s.Name, s.Optional)
		return project(data, err, s.Items, s.DefaultMode, s.Optional)
	case volume.Secret != nil:
		s := volume.Secret
		data, err := v.env.objects.secret(namespace, s.SecretName, s.Optional)
		return project(data, err, s.Items, s.DefaultMode, s.Optional)
	case volume.DownwardAPI != nil:
		return v.downward(volume.DownwardAPI.Items, volume.DownwardAPI.DefaultMode)
	case volume.Projected != nil:
		return v.projected(ctx, volume.Projected)
	}
	return nil, errors.New("this kind of volume is not supported by the rig")
}

func (v volumes) projected(ctx context.Context, p *corev1.ProjectedVolumeSource) (map[string]file, error) {
	all := map[string]file{}
	for _, source := range p.Sources {
		files, err := v.source(ctx, source, p.DefaultMode)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, files)
	}
	return all, nil
}

func (v volumes) source(ctx context.Context, source corev1.VolumeProjection, mode *int32) (map[string]file, error) {
	namespace := v.env.pod.Namespace
	switch {
	case source.ConfigMap != nil:
		s := source.ConfigMap
		data, err := v.env.objects.configMap(namespace, s.Name, s.Optional)
		return project(data, err, s.Items, mode, s.Optional)
	case source.Secret != nil:
		s := source.Secret
		data, err := v.env.objects.secret(namespace, s.Name, s.Optional)
		return project(data, err, s.Items, mode, s.Optional)
	case source.DownwardAPI != nil:
		return v.downward(source.DownwardAPI.Items, mode)
	case source.ServiceAccountToken != nil:
		token, err := v.tokens.token(ctx, source.ServiceAccountToken)
		return map[string]file{source.ServiceAccountToken.Path: {content: []byte(token), mode: 0o600}}, err
	}
	return nil, errors.New("this kind of projected source is not supported by the rig")
}

func (v volumes) downward(items []corev1.DownwardAPIVolumeFile, mode *int32) (map[string]file, error) {
	files := map[string]file{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("%s: only fieldRef is supported by the rig", item.Path)
		}
		value, err := v.env.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		files[item.Path] = file{content: []byte(value), mode: fileMode(item.Mode, mode)}
	}
	return files, nil
}

// project picks the keys that items name, or all of them when there are none.
func project(data map[string][]byte, err error, items []corev1.KeyToPath, mode *int32, optional *bool) (map[string]file, error) {
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	if len(items) == 0 {
		for key, content := range data {
			files[key] = file{content: content, mode: fileMode(nil, mode)}
		}
		return files, nil
	}
	for _, item := range items {
		content, found := data[item.Key]
		if !found && isTrue(optional) {
			continue
		}
		if !found {
			return nil, fmt.Errorf("there is no key %q", item.Key)
		}
		files[item.Path] = file{content: content, mode: fileMode(item.Mode, mode)}
	}
	return files, nil
}

func fileMode(own, common *int32) os.FileMode {
	switch {
	case own != nil:
		return os.FileMode(*own)
	case common != nil:
		return os.FileMode(*common)
	}
	return defaultFileMode
}
