package main

import (
	"net/url"
	"strings"
	"testing"
)

func TestFetchWithoutCurl(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	u, err := url.Parse("https://me:secret@example.com/prices.json")
	must(t, err)
	_, err = fetch(t.Context(), u)
	f, ok := err.(*failure)
	if !ok || f.code != exitUsage || !strings.Contains(f.hint, "https://me:xxxxx@example.com/prices.json") {
		t.Errorf("without curl: %v", err)
	}
}
