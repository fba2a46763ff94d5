package source

import (
	"strings"
	"testing"
)

// TestExcluding expects what git does with the same patterns in a .gitignore, except for braces, which git does not support.
func TestExcluding(t *testing.T) {
	for _, c := range []struct {
		pattern string
		left    string // paths that are left out, by a blank; a directory has a slash behind it
		taken   string
	}{
		{"*.tmp", "a.tmp x/b.tmp x/y.tmp/z", "a.tmpx tmp x/tmp/a"},
		{"private", "private private/ private/a x/private/y/z", "privates x/privat"},
		{"private/", "private/ x/private/ x/private/y", "private x/private"},
		{"/private", "private private/a", "x/private x/private/a"},
		{"x/y", "x/y x/y/z", "y z/x/y x/yy"},
		{"/x/*/log", "x/a/log x/a/log/b", "x/log x/a/b/log a/x/b/log"},
		{"x/**/log", "x/log x/a/log x/a/b/log x/a/b/log/c", "log y/x/log"},
		{"**/log", "log a/log a/b/log", "logs a/logs"},
		{"x/**", "x/ x/a x/a/b", "y/x/a"},
		{"*", "a a/b", "."},
		{"run-[0-9]?", "run-12 a/run-3x/b", "run-1 run-x2 run-123"},
		{"{a,b}.jsonl", "a.jsonl x/b.jsonl", "c.jsonl ab.jsonl"},
		{`\*`, "* a/*", "a b"},
		{"clients-*/", "clients-x/ clients-x/a", "clients-x clients"},
		{"/-home-ada-*/", "-home-ada-x/ -home-ada-x/a.jsonl", "-home-eve/a.jsonl"},
		{"客户*", "客户一 a/客户/b", "客"},
	} {
		if err := CheckPattern(c.pattern); err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		}
		for want, paths := range map[string]string{c.pattern: c.left, "": c.taken} {
			for _, p := range strings.Fields(paths) {
				bare := strings.TrimSuffix(p, "/")
				if got := (Patterns{"nothing-like-it", c.pattern}).Match(bare, bare != p); got != want {
					t.Errorf("%s is left out by %q, want %q", p, got, want)
				}
			}
		}
	}
	for _, bad := range []string{"", "/", "!a", "..", "../a", "a/../b", "a//b", "/a//", "a/./b", "[a", "{a", "[[:alpha:]]", "a***"} {
		if err := CheckPattern(bad); err == nil {
			t.Errorf("%q is taken for a pattern", bad)
		}
	}
}
