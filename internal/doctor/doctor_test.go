package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
)

func TestCheck(t *testing.T) {
	c := &Check{State: Fine, Says: "all is well"}
	c.conclude(Problem, "something is wrong", "mend it")
	if c.State != Fine || c.Says != "all is well" || c.Hint != nil {
		t.Errorf("nothing was found, and the check says %+v", c)
	}
	for i := range maxItems + 5 {
		c.add(fmt.Sprint(i))
	}
	c.conclude(Problem, "something is wrong", "")
	if c.State != Problem || c.Hint != nil || c.Count != maxItems+5 || len(c.Items) != maxItems || c.Items[0] != "0" {
		t.Errorf("%+v", c)
	}
	if c.conclude(Damage, "more is", "mend it"); c.Hint == nil || *c.Hint != "mend it" {
		t.Errorf("%+v", c)
	}
}

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		states []string
		want   string
	}{{nil, Fine}, {[]string{Fine, Note, Fine}, Note}, {[]string{Problem, Note}, Problem}, {[]string{Damage, Problem}, Damage}} {
		var checks []*Check
		for _, s := range c.states {
			checks = append(checks, &Check{State: s})
		}
		if got := Worst(checks); got != c.want {
			t.Errorf("%v: %s, want %s", c.states, got, c.want)
		}
	}
}

func TestRootState(t *testing.T) {
	dir := t.TempDir()
	if got := rootState(dir); got != "present" {
		t.Errorf("%s is %s", dir, got)
	}
	if got := rootState(filepath.Join(dir, "none")); got != "missing" {
		t.Errorf("a directory that is not there is %s", got)
	}
	if err := os.Chmod(dir, 0); err == nil && os.Getuid() > 0 {
		if got := rootState(dir); got != "not readable" {
			t.Errorf("a closed directory is %s", got)
		}
	}
}

func TestRemedy(t *testing.T) {
	if got := remedy(&index.Problem{Kind: "scan", Reason: "symbolic link"}); got == remedies["scan"] || got == "" {
		t.Errorf("a link: %q", got)
	}
	if got := remedy(&index.Problem{Kind: "scan", Reason: "permission denied"}); got != remedies["scan"] {
		t.Errorf("a path: %q", got)
	}
	if got := remedy(&index.Problem{Kind: "parse"}); got != "" {
		t.Errorf("a parser: %q", got)
	}
}
