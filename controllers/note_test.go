// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

func someNote() note {
	return note{
		Record: resize.Record{Target: 64, Stage: resize.StageDraining, Since: born, Started: born},
		Note:   resize.Note{Cuts: map[string]resize.Cut{"broker-a": {To: 64, From: 66, Base: []int64{7, 9}}}},
	}
}

func noteStore(objects ...client.Object) (notes, client.Client) {
	c := fake.NewClientBuilder().WithObjects(objects...).Build()
	return notes{reader: c, live: c, writer: c, namespace: "lockstep-system"}, c
}

func noteOwner() *rocketmqv1alpha1.Topic {
	return &rocketmqv1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: types.UID("u-1")}}
}

func TestK10_NoteLivesOutsideStatusAndGoesOnSuccess(t *testing.T) {
	g, ctx := NewWithT(t), context.Background()
	s, c := noteStore()

	n, cm, err := s.load(ctx, "u-1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cm).To(BeNil())
	g.Expect(n).To(Equal(note{}))

	cm, err = s.save(ctx, noteOwner(), someNote(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cm.Name).To(Equal("lockstep-note-u-1"))
	g.Expect(cm.OwnerReferences).To(BeEmpty(), "garbage collection must not take it")
	g.Expect(cm.Annotations).To(HaveKeyWithValue(annotationNoteFor, "shop/orders"))

	got, cm, err := s.load(ctx, "u-1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(someNote()))

	_, err = s.save(ctx, noteOwner(), note{}, cm)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(cm), &corev1.ConfigMap{}))).To(BeTrue())
}

func TestK10_UnchangedNoteIsNotWrittenAgain(t *testing.T) {
	g, ctx := NewWithT(t), context.Background()
	s, _ := noteStore()
	first, err := s.save(ctx, noteOwner(), someNote(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := s.save(ctx, noteOwner(), someNote(), first)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.ResourceVersion).To(Equal(first.ResourceVersion))
	one, _ := pack(someNote())
	two, _ := pack(someNote())
	g.Expect(bytes.Equal(one, two)).To(BeTrue(), "packing is deterministic")
}

func TestK10_ForeignConfigMapIsNeverOverwritten(t *testing.T) {
	g, ctx := NewWithT(t), context.Background()
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "lockstep-system", Name: "lockstep-note-u-1"}, Data: map[string]string{"mine": "yes"}}
	s, c := noteStore(foreign)

	_, _, err := s.load(ctx, "u-1")
	g.Expect(errors.Is(err, errForeignNote)).To(BeTrue())
	_, err = s.save(ctx, noteOwner(), someNote(), nil)
	g.Expect(errors.Is(err, errForeignNote)).To(BeTrue())

	still := &corev1.ConfigMap{}
	g.Expect(c.Get(ctx, client.ObjectKeyFromObject(foreign), still)).To(Succeed())
	g.Expect(still.Data).To(HaveKeyWithValue("mine", "yes"))
}

func TestK10_ConcurrentWriteIsAConflict(t *testing.T) {
	g, ctx := NewWithT(t), context.Background()
	s, _ := noteStore()
	first, err := s.save(ctx, noteOwner(), someNote(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	newer := someNote()
	newer.Record.Stage = resize.StageProvingAgain
	_, err = s.save(ctx, noteOwner(), newer, first)
	g.Expect(err).NotTo(HaveOccurred())

	older := someNote()
	older.Record.Stage = resize.StageSettling
	_, err = s.save(ctx, noteOwner(), older, first)
	g.Expect(apierrors.IsConflict(errors.Unwrap(err))).To(BeTrue(), "a leader that slept does not overwrite")
}

func TestK10_DamagedNoteIsAnErrorNotAnEmptyNote(t *testing.T) {
	g, ctx := NewWithT(t), context.Background()
	s, c := noteStore()
	cm, err := s.save(ctx, noteOwner(), someNote(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	for name, data := range map[string][]byte{"no gzip": []byte("x"), "half": cm.BinaryData[noteKey][:len(cm.BinaryData[noteKey])/2], "nothing": nil} {
		damaged := cm.DeepCopy()
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(cm), damaged)).To(Succeed())
		damaged.BinaryData = map[string][]byte{noteKey: data}
		g.Expect(c.Update(ctx, damaged)).To(Succeed())
		_, _, err = s.load(ctx, "u-1")
		g.Expect(err).To(MatchError(ContainSubstring("nothing is changed")), name)
	}
}

func TestK10_LargestNoteFitsAConfigMap(t *testing.T) {
	g := NewWithT(t)
	n := note{Note: resize.Note{Cuts: map[string]resize.Cut{}}}
	for b := range 64 {
		cut := resize.Cut{To: 1, From: resize.MaxQueues, Closed: born, End: born.Add(time.Hour)}
		for q := range resize.MaxQueues - 1 {
			cut.Base = append(cut.Base, int64(q)*7919+int64(b)*104729+1_000_000)
		}
		n.Note.Cuts[string(rune('A'+b))] = cut
	}
	data, err := pack(n)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(data)).To(BeNumerically("<", 1<<20), "a ConfigMap holds 1 MiB")
	back, err := unpack(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back).To(Equal(n))
}
