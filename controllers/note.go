// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

const (
	// labelNote marks the ConfigMaps that are notes of ours; the value is the
	// kind of object they belong to.
	labelNote = rocketmqv1alpha1.GroupName + "/note"
	// annotationNoteFor says which object a note belongs to, for people.
	annotationNoteFor = rocketmqv1alpha1.GroupName + "/note-for"
	noteKey           = "progress.json.gz"
	// maxNote bounds what is unpacked: a note of 64 brokers with 1024 retired
	// queues each is under 2 MiB.
	maxNote = 8 << 20
)

// errForeignNote says that a ConfigMap with the name of a note is not ours; it
// is never overwritten (rule K10).
var errForeignNote = errors.New("a ConfigMap with the name of Lockstep's note exists and is not Lockstep's")

// note is what is kept of one object's change outside its status, because a
// restore from a backup loses status (rule K10).
type note struct {
	Record resize.Record `json:"record"`
	Note   resize.Note   `json:"note"`
}

func (n note) empty() bool { return n.Note.Empty() && n.Record.Stage == resize.StageSteady }

// begun says that something was sent for the change: an object with such a note
// is not new to the topic, whatever its status says.
func (n note) begun() bool {
	for _, b := range n.Record.Brokers {
		if b.Sent.Present {
			return true
		}
	}
	return len(n.Note.Cuts) > 0 || len(n.Note.Leaving) > 0
}

// notes reads and writes notes in the operator's own namespace, so that no
// right on ConfigMaps elsewhere is needed.
type notes struct {
	// reader is a cache that sees what was written through the same client; a
	// topic at rest asks nobody. live looks past it.
	reader, live client.Reader
	writer       client.Writer
	namespace    string
}

// noteName is the name of an object's note. It has no ownerReference: garbage
// collection must not take it with an object that is deleted and restored.
func noteName(uid types.UID) string { return "lockstep-note-" + string(uid) }

// load returns the note of an object and the ConfigMap it came from; without a
// note both are zero.
func (s notes) load(ctx context.Context, uid types.UID) (note, *corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: s.namespace, Name: noteName(uid)}
	err := s.reader.Get(ctx, key, cm)
	if apierrors.IsNotFound(err) {
		return note{}, nil, nil
	}
	if err != nil {
		return note{}, nil, fmt.Errorf("reading note %s: %w", key, err)
	}
	if _, ours := cm.Labels[labelNote]; !ours {
		return note{}, nil, fmt.Errorf("%s: %w; rename or delete it", key, errForeignNote)
	}
	n, err := unpack(cm.BinaryData[noteKey])
	if err != nil {
		return note{}, nil, fmt.Errorf("note %s cannot be read (%w); without it retired queues are not known, so nothing is changed; restore it, or delete it to have them found again", key, err)
	}
	return n, cm, nil
}

// save writes the note, or deletes it when it is empty. The ConfigMap is the
// one that load returned, so a write of somebody else in between is a conflict
// and not overwritten.
func (s notes) save(ctx context.Context, topic *rocketmqv1alpha1.Topic, n note, was *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	name := noteName(topic.UID)
	if n.empty() {
		if was == nil {
			return nil, nil
		}
		err := s.writer.Delete(ctx, was, client.Preconditions{UID: &was.UID, ResourceVersion: &was.ResourceVersion})
		if client.IgnoreNotFound(err) != nil {
			return was, fmt.Errorf("deleting note %s: %w", name, err)
		}
		return nil, nil
	}
	data, err := pack(n)
	if err != nil {
		return was, err
	}
	if was == nil {
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: s.namespace,
				Labels:      map[string]string{labelNote: "Topic"},
				Annotations: map[string]string{annotationNoteFor: topic.Namespace + "/" + topic.Name},
			},
			BinaryData: map[string][]byte{noteKey: data},
		}
		err := s.writer.Create(ctx, cm)
		if apierrors.IsAlreadyExists(err) {
			return nil, s.inTheWay(ctx, client.ObjectKeyFromObject(cm), err)
		}
		if err != nil {
			return nil, fmt.Errorf("writing note %s: %w", name, err)
		}
		return cm, nil
	}
	if bytes.Equal(was.BinaryData[noteKey], data) {
		return was, nil
	}
	cm := was.DeepCopy()
	cm.BinaryData = map[string][]byte{noteKey: data}
	if err := s.writer.Update(ctx, cm); err != nil {
		return was, fmt.Errorf("writing note %s: %w", name, err)
	}
	return cm, nil
}

// inTheWay says what a note collided with: somebody else's ConfigMap, which the
// cache of notes does not show, or a note that another process just wrote.
func (s notes) inTheWay(ctx context.Context, key client.ObjectKey, collision error) error {
	there := &corev1.ConfigMap{}
	if err := s.live.Get(ctx, key, there); err != nil {
		return fmt.Errorf("writing note %s: %w", key.Name, errors.Join(collision, err))
	}
	if _, ours := there.Labels[labelNote]; !ours {
		return fmt.Errorf("%s: %w; rename or delete it", key, errForeignNote)
	}
	return fmt.Errorf("writing note %s: another process wrote it first: %w", key.Name, collision)
}

// pack is deterministic: the same note gives the same bytes, so that an
// unchanged note is not written again.
func pack(n note) ([]byte, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("packing a note: %w", err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("packing a note: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing a note: %w", err)
	}
	return b.Bytes(), nil
}

func unpack(data []byte) (note, error) {
	var n note
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return n, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxNote+1))
	if err != nil {
		return n, err
	}
	if len(text) > maxNote {
		return n, fmt.Errorf("it is larger than %d bytes", maxNote)
	}
	return n, json.Unmarshal(text, &n)
}
