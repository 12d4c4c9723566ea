// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// TestSQL_AsReleasedBrokersHaveIt compares with what the parsers of 4.9.7,
// 5.3.3 and 5.5.0 said of each expression (testdata/SQLVerdict.java).
func TestSQL_AsReleasedBrokersHaveIt(t *testing.T) {
	raw, err := os.ReadFile("testdata/sql92.tsv")
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t")
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(lines) < 600 {
		t.Fatalf("only %d expressions", len(lines))
	}
	taken := 0
	for _, line := range lines {
		f := strings.SplitN(line, "\t", 4)
		on49, on533, on550, sql := f[0], f[1], f[2], unescape.Replace(f[3])
		r := CheckSQL(sql)
		if ours := r.Refused == ""; ours != (on533 == "taken") || ours != (on550 == "taken") {
			t.Errorf("%q: 5.3.3 %s, 5.5.0 %s, we say %+v", sql, on533, on550, r)
		}
		lower := strings.ToLower(sql)
		if since5 := strings.Contains(lower, "contains") || strings.Contains(lower, "swith"); !since5 && on49 != on550 {
			t.Errorf("%q: 4.9.7 says %s and 5.5.0 %s", sql, on49, on550)
		}
		if r.Refused == "" {
			taken++
		}
	}
	t.Logf("%d expressions, %d taken", len(lines), taken)
}

func TestSQL_SaysWhyAndWhere(t *testing.T) {
	for sql, want := range map[string]SQLReport{
		"  ":                         {Refused: "it is empty"},
		"color = 'red":               {Refused: `at "'red" no token begins`},
		"a = 0.0":                    {Refused: "0.0 is not a fraction that brokers take: they refuse zero written as a fraction, and what is too large or too small"},
		"a = NULL":                   {Refused: "NULL cannot be compared by = or <>; use IS NULL"},
		"a > 'x'":                    {Refused: "only numbers and properties can be compared by <, <=, >, >= and BETWEEN"},
		"a BETWEEN 9 AND 1":          {Refused: "BETWEEN has a lower end above its upper end"},
		"a IN (1)":                   {Refused: "text is expected before 1"},
		"1 IN ('x')":                 {Refused: "IN needs a property on its left"},
		"a = 1 AND":                  {Refused: "a property, a number, a text or ( is expected before the end"},
		"a = 1 b = 2":                {Ignored: "b = 2"},
		"a = 007":                    {Ignored: "07"},
		"a LIKE 'x%'":                {Ignored: "LIKE 'x%'"},
		"a = 1 -- never":             {Ignored: "-- never"},
		"a CONTAINS 'x' AND b = 'y'": {Since5: []string{"CONTAINS"}},
		"a NOT STARTSWITH 'x' OR a ENDSWITH 'y' OR b ENDSWITH 'z'": {Since5: []string{"STARTSWITH", "ENDSWITH"}},
		strings.Repeat("(", 300) + "a" + strings.Repeat(")", 300):  {Refused: "it is nested more than 200 deep"},
		strings.Repeat("NOT ", 300) + "a":                          {Refused: "it is nested more than 200 deep"},
	} {
		t.Run(shorten(sql), func(t *testing.T) { NewWithT(t).Expect(CheckSQL(sql)).To(Equal(want)) })
	}
}

// TestSQL_NeverPanics also shows that what is ignored is a tail of the text.
func TestSQL_NeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sql := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-c0-9.' ()=<>,*/eE\-\n]|not |and |or |in |is |null |between |contains )*`)).Draw(t, "sql")
		r := CheckSQL(sql)
		if r.Refused != "" && r.Ignored != "" {
			t.Fatalf("%q is refused and read in part", sql)
		}
		if !strings.HasSuffix(sql, r.Ignored) {
			t.Fatalf("%q does not end with %q", sql, r.Ignored)
		}
	})
}

// TestSQL_SpacingDoesNotMatter: blanks and comments between tokens change
// neither the verdict nor equality.
func TestSQL_SpacingDoesNotMatter(t *testing.T) {
	parts := []string{"a", "b1", "'x y'", "''", "1", "2.5", "(", ")", "=", "<>", ",", "NOT", "and", "Or", "in", "is", "NULL", "between", "contains"}
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.SampledFrom(parts), 1, 10).Draw(t, "tokens")
		gap := rapid.SliceOfN(rapid.SampledFrom([]string{" ", "\t ", "\n", " /* c */ ", " --c\n"}), len(tokens), len(tokens)).Draw(t, "gaps")
		plain, spaced := strings.Join(tokens, " "), ""
		for i := range tokens {
			spaced += gap[i] + tokens[i]
		}
		a, b := CheckSQL(plain), CheckSQL(spaced)
		if a.Refused != b.Refused || (a.Ignored == "") != (b.Ignored == "") {
			t.Fatalf("%q: %+v, %q: %+v", plain, a, spaced, b)
		}
		if !(Filter{Type: SQL92, SQL: plain}).Equal(Filter{Type: SQL92, SQL: spaced}) {
			t.Fatalf("%q and %q differ", plain, spaced)
		}
	})
}
