// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

// languages returns RocketMQ's LanguageCode names by number (rocketmq.md 1.4).
func languages() [13]string {
	return [13]string{
		"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY",
		"OTHER", "HTTP", "GO", "PHP", "OMS", "RUST",
	}
}

// languageOther stands for every language that RocketMQ gave no number.
const languageOther = 7

func languageCode(name string) byte {
	for i, l := range languages() {
		if l == name {
			return byte(i)
		}
	}
	return languageOther
}

func languageName(code byte) string {
	l := languages()
	if int(code) >= len(l) {
		return l[languageOther]
	}
	return l[code]
}

func (c *Command) language() string {
	if c.Language == "" {
		return Language
	}
	return c.Language
}
