// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"github.com/lockstep-dev/lockstep/test/rig/world"
)

//go:embed manifests/*.yaml
var manifestFiles embed.FS

// The names of the story.
const (
	topicName   = "TOPIC_SHOP_ORDER"
	topicObject = "orders"
	clusterName = "shop"
	wide        = 128
	narrow      = 64
)

// places are the names and addresses that the manifests are filled with.
type places struct {
	// Platform is the namespace of the BrokerCluster, Shop that of all else.
	Platform, Shop string
	NameServers    []string
	Proxy          string
}

func placesOf(w *world.World, existing bool) places {
	p := places{Platform: "rocketmq", Shop: "shop", NameServers: w.RocketMQ.NameServerAddresses(), Proxy: w.RocketMQ.Proxies[0].Addr}
	if existing {
		// Names that are hardly anybody's.
		p.Platform, p.Shop = "lockstep-demo-rocketmq", "lockstep-demo-shop"
	}
	return p
}

// render fills a manifest in and keeps a copy in the folder, for the reader.
func render(p places, name, folder string) (text []byte, path string, err error) {
	source, err := manifestFiles.ReadFile("manifests/" + name)
	if err != nil {
		return nil, "", fmt.Errorf("reading manifest %s: %w", name, err)
	}
	parsed, err := template.New(name).Option("missingkey=error").Parse(string(source))
	if err != nil {
		return nil, "", fmt.Errorf("reading manifest %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, p); err != nil {
		return nil, "", fmt.Errorf("filling manifest %s in: %w", name, err)
	}
	path, err = keep(folder, name, out.Bytes())
	return out.Bytes(), path, err
}

// keep writes a manifest into the folder.
func keep(folder, name string, text []byte) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("making the folder of manifests: %w", err)
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return "", fmt.Errorf("keeping manifest %s: %w", name, err)
	}
	return path, nil
}
