package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
)

func TestFetchWithoutCurl(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	u, err := url.Parse("https://me:secret@example.com/prices.json")
	must(t, err)
	_, err = fetch(t.Context(), u)
	f, ok := err.(*failure.Error)
	if !ok || f.Code != failure.ExitUsage || !strings.Contains(f.Hint, "https://me:xxxxx@example.com/prices.json") {
		t.Errorf("without curl: %v", err)
	}
}
