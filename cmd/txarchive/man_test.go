package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestManualPages looks at every page: roff would take a line of text that begins with a full stop for a request, and leave it out.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	if err := writeMan(newRootCommand(newApp()), dir, "Nov 2026"); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "txarchive*.1"))
	if err != nil || len(pages) < 40 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	request := regexp.MustCompile(`^\.(nh|TH|SH|SS|PP|EX|EE)( |$)`)
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !request.MatchString(line) {
				t.Errorf("%s: %q is no request", filepath.Base(page), line)
			}
		}
		for _, title := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SEE ALSO"} {
			if !strings.Contains(string(b), "\n.SH "+title+"\n") {
				t.Errorf("%s has no %s", filepath.Base(page), title)
			}
		}
	}
	if got, want := roff("the `list`. Nothing"), `the \fBlist\fR\&. Nothing`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
