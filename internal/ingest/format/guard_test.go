package format

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// buggy is a format that yields an event for line 7 and then fails.
type buggy struct{ fail func() }

func (buggy) Name() string                               { return "buggy" }
func (buggy) Version() int                               { return 1 }
func (b buggy) Detect(Head) Claim                        { b.fail(); return Claim{Strength: Certain} }
func (b buggy) Text(string, []byte, int) (string, error) { b.fail(); return "the text", nil }
func (b buggy) Withholds(Head) bool                      { b.fail(); return true }
func (b buggy) InZip(string) bool                        { b.fail(); return true }
func (b buggy) Parse(Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		yield(&transcript.Event{Origin: transcript.Origin{Line: 7}}, nil)
		b.fail()
	}
}

// TestBugs has formats that panic: the error says where, and quotes nothing.
func TestBugs(t *testing.T) {
	const secret = "what was said"
	for name, c := range map[string]struct {
		fail func()
		want string
	}{
		"bounds": {func() { _ = secret[len(secret)+len(t.Name()):] }, `a bug in txarchive's reader of buggy, please report it: runtime error: slice bounds out of range \[21:13\] at format/guard_test\.go:\d+, format/guard_test\.go:\d+`},
		"nil":    {func() { _ = *(*int)(nil) }, `nil pointer dereference at format/guard_test\.go:\d+`},
		"error":  {func() { panic(errors.New(secret)) }, `please report it: \*errors\.errorString at format/guard_test\.go:\d+`},
		"text":   {func() { panic(secret) }, `please report it: string at format/guard_test\.go:\d+`},
	} {
		t.Run(name, func(t *testing.T) {
			f, like := buggy{c.fail}, regexp.MustCompile(c.want)
			claim, err := Detect(f, Head{})
			var bug *Bug
			if !errors.As(err, &bug) || !like.MatchString(err.Error()) || strings.Contains(err.Error(), secret) || claim != (Claim{}) {
				t.Errorf("Detect: %+v, %v", claim, err)
			}
			if yes, err := Withholds(f, Head{}); !errors.As(err, &bug) || !like.MatchString(err.Error()) || yes {
				t.Errorf("Withholds: %v, %v", yes, err)
			}
			if yes, err := InZip(f, ""); !errors.As(err, &bug) || !like.MatchString(err.Error()) || yes {
				t.Errorf("InZip: %v, %v", yes, err)
			}
			text, err := Text(f, "", nil, 0)
			if !errors.As(err, &bug) || !like.MatchString(err.Error()) || strings.Contains(err.Error(), secret) || text != "" {
				t.Errorf("Text: %q, %v", text, err)
			}
			var got []string
			for r, err := range Records(f, Input{}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%T", r))
				if p, ok := r.(*transcript.Problem); ok && (!like.MatchString(p.Reason) || strings.Contains(p.Reason, secret) || !strings.HasSuffix(p.Reason, "line 7)")) {
					t.Error(p.Reason)
				}
			}
			if want := "[*transcript.Event *transcript.Problem]"; fmt.Sprint(got) != want {
				t.Errorf("%s, want %s", got, want)
			}
			for range Records(f, Input{}) {
				break // nobody asks for what comes after
			}
		})
	}
	if c, err := Detect(buggy{func() {}}, Head{}); c.Strength != Certain || err != nil {
		t.Error(c, err)
	}
	if text, err := Text(buggy{func() {}}, "", nil, 0); text != "the text" || err != nil {
		t.Error(text, err)
	}
}

// TestConsumersPanic: a panic of the one who reads the records is not the format's.
func TestConsumersPanic(t *testing.T) {
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("recovered %v", p)
		}
	}()
	for range Records(buggy{func() {}}, Input{}) {
		panic("mine")
	}
}
