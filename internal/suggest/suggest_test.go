package suggest

import (
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/query"
)

func TestLoosened(t *testing.T) {
	for in, want := range map[string]string{
		"project:acme":                "project:*acme*",
		"word model:opus,gpt-5":       "word model:*opus*,gpt-5",
		"project:*acme* format:cod":   "project:*acme* format:*cod*",
		"project:*acme*":              "",
		`project:""`:                  "",
		"word":                        "",
		"":                            "",
		"role:user kind:message x":    "",
		"project:acme OR model:opus":  "",
		"touches:writer.go status:ok": "touches:*writer.go* status:ok",
	} {
		tree, err := query.Parse(in, time.Time{}, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := relaxed(tree).String(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
