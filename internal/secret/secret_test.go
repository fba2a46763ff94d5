package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// The texts are put together at run time, so that no scanner takes this file for a leak.
var (
	githubToken = "ghp_" + "vJ7rK2mQ9xT4bN8wL1cY5dF3hZ6pS0gAeUiO"
	awsKey      = "AKIA" + "QYLPMN5HHH7FPZAM"
	anthropic   = "sk-ant-" + "api03-" + "RVG2bgKFEBbpU74DQmnZT5M8GSPB9v7S7TNLVUu_2--ZF-sXwakRMRgTF8_p9VAUqzV-4kNcdsUdeLQVS87CFCfuTmnvg" + "AA"
	pem         = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA4f5wg5l2hKsTeNem/V41fGnJm6gOdrj8ym3rFkEjWT2btZb5\n", 20) + "-----END RSA " + "PRIVATE KEY-----"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // rule: secret
	}{
		{"nothing", "the quick brown fox", nil},
		{"empty", "", nil},
		{"a word that rules begin with", "ghp_ is what tokens of GitHub begin with", nil},
		{"token", "git clone https://x:" + githubToken + "@github.com/a/b", []string{"github-pat: " + githubToken}},
		{"in JSON", `{"env":{"GITHUB_TOKEN":"` + githubToken + `"}}`, []string{"github-pat: " + githubToken}},
		{"in escaped JSON", `{\"GITHUB_TOKEN\":\"` + githubToken + `\"}`, []string{"github-pat: " + githubToken}},
		{"two", awsKey + " and " + githubToken, []string{"aws-access-token: " + awsKey, "github-pat: " + githubToken}},
		{"vendor", "key=" + anthropic + "\n", []string{"anthropic-api-key: " + anthropic}},
		{"many lines", "cat id_rsa\n" + pem + "\ndone", []string{"private-key: " + pem}},
		{"between bytes that are no text", "\xff\xfe" + awsKey + "\x00\xff", []string{"aws-access-token: " + awsKey}},
		{"after letters that grow in lower case", "İİİ " + awsKey, []string{"aws-access-token: " + awsKey}},
		{"an example", "AKIA" + "IOSFODNN7EXAMPLE", nil},
		{"a word of no surprise", "password = aaaaaaaaaaaaaaaa", nil},
		{"a name", "api_key = os.environ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, m := range Find(c.text) {
				got = append(got, m.Rule+": "+c.text[m.Start:m.End])
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestRules(t *testing.T) {
	names := map[string]bool{}
	for line := range strings.Lines(embedded) {
		var r Rule
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.ID != everywhere {
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
		}
		if names[r.ID] {
			t.Errorf("%s twice", r.ID)
		}
		names[r.ID] = true
	}
	for _, name := range []string{everywhere, "github-pat", "private-key", "jwt", "aws-access-token", "generic-api-key"} {
		if !names[name] {
			t.Errorf("no rule %s", name)
		}
	}
	for _, r := range rules() {
		r.once.Do(r.compile) // panics on what does not compile
		r.pattern()
	}
}

func TestRedact(t *testing.T) {
	text := "token " + githubToken + ", key " + awsKey + "."
	if got, want := Redact(text), "token [redacted: github-pat], key [redacted: aws-access-token]."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if text := "nothing to hide"; Redact(text) != text {
		t.Error("a text without secrets was changed")
	}
}

// A secret is found wherever it stands in a long stream, once, with its line.
func TestScanEverywhere(t *testing.T) {
	rng := seedtest.Rand(t)
	filler := strings.Repeat("some words of a transcript, a line of them\n", 3*chunk/43)
	for range 6 {
		places := []int{rng.IntN(len(filler)), chunk + rng.IntN(tail+context), chunk + tail - len(githubToken)/2}
		at := places[rng.IntN(len(places))]
		text := filler[:at] + "\n" + githubToken + "\n" + filler[at:]
		var got []Found
		err := Scan(iotest.HalfReader(strings.NewReader(text)), func(f Found) bool { got = append(got, f); return true })
		want := Found{Rule: "github-pat", Line: int64(strings.Count(text[:at+1], "\n")) + 1, Offset: int64(at) + 1, Size: len(githubToken)}
		if err != nil || len(got) != 1 || got[0] != want {
			t.Fatalf("at %d: %v, %v; want %v", at, got, err, want)
		}
	}
}

func TestScanEnds(t *testing.T) {
	text := strings.Repeat(githubToken+"\n", 3)
	n := 0
	if err := Scan(strings.NewReader(text), func(Found) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	n = 0
	if err := Scan(io.MultiReader(strings.NewReader(text), iotest.ErrReader(iotest.ErrTimeout)), func(Found) bool { n++; return true }); err != iotest.ErrTimeout || n != 3 {
		t.Errorf("%d before an error, %v", n, err)
	}
}

// Matches lie in the text, in order and apart; a text without any stays as it is.
func FuzzFind(f *testing.F) {
	for _, text := range []string{githubToken, awsKey + githubToken, pem, "password: hunter2hunter2", "\xff" + anthropic} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, m := range Find(text) {
			if m.Start < end || m.End <= m.Start || m.End > len(text) {
				t.Fatalf("match %v of %d bytes, after %d", m, len(text), end)
			}
			end = m.End
		}
		if before, after := len(Find(text)), Redact(text); before == 0 && after != text {
			t.Fatal("changed without a secret")
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat(`{"type":"tool_use","name":"Bash","input":{"command":"cat config/api_keys.go","token":3}} some words of output`+"\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Find(text)
	}
}
