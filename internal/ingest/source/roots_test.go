package source

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// sourceFacts are facts of sources.
type sourceFacts []blob.Fact

func (s sourceFacts) Facts(context.Context, string) iter.Seq2[blob.Fact, error] {
	return func(yield func(blob.Fact, error) bool) {
		for _, f := range s {
			if !yield(f, nil) {
				return
			}
		}
	}
}

func TestResolve(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/runs/one", "b/runs", "old", "link-target", "some/below"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"b/alone.jsonl", "some/one.json", "some/two.json", "some/below/three.json"} {
		if err := os.WriteFile(filepath.Join(top, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("link-target", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	in := func(p string) string { return filepath.Join(top, p) }
	var known sourceFacts
	removed := time.Unix(1, 0)
	for name, s := range map[string]Source{"home": {Root: in("a")}, "gone": {Root: in("gone")}, "old": {Root: in("was"), Removed: &removed},
		"few": {Root: in("some"), Only: []string{"one.json"}}, "less": {Root: in("c"), Exclude: []string{"private/"}}} {
		b, _ := json.Marshal(s)
		known = append(known, blob.Fact{Kind: Fact, Key: name, Value: b})
	}
	for _, c := range []struct {
		name string
		dirs []string
		want []Root
		err  error
	}{
		{"the root of a source", []string{"a"}, []Root{{"home", in("a"), ".", false, nil}}, nil},
		{"inside a source", []string{"a/runs/one/"}, []Root{{"home", in("a"), "runs/one", false, nil}}, nil},
		{"new", []string{"b/runs"}, []Root{{"runs", in("b/runs"), ".", false, nil}}, nil},
		{"nested, inner first", []string{"b/runs", "b"}, []Root{{"b", in("b"), ".", false, nil}}, nil},
		{"same twice", []string{"b", "b/."}, []Root{{"b", in("b"), ".", false, nil}}, nil},
		{"the name of a removed source is taken", []string{"old"}, []Root{{"old-2", in("old"), ".", false, nil}}, nil},
		{"a file", []string{"b/alone.jsonl"}, []Root{{"b", in("b"), "alone.jsonl", false, nil}}, nil},
		{"two files", []string{"some/two.json", "some/one.json"}, []Root{{"few", in("some"), "two.json", false, nil}, {"few", in("some"), "one.json", false, nil}}, nil},
		{"of a directory of which files are followed", []string{"some/below/three.json"}, []Root{{"below", in("some/below"), "three.json", false, nil}}, nil},
		{"the same as a directory", []string{"some/below"}, []Root{{"below", in("some/below"), ".", false, nil}}, nil},
		{"a directory of which files were followed", []string{"some"}, []Root{{"few", in("some"), ".", false, nil}}, nil},
		{"a link", []string{"link"}, []Root{{"link-target", in("link-target"), ".", false, nil}}, nil},
		{"a source that is missing", []string{"gone/x"}, []Root{{"gone", in("gone"), "x", false, nil}}, nil},
		{"beside what is left out", []string{"c/public"}, []Root{{"less", in("c"), "public", false, []string{"private/"}}}, nil},
		{"missing", []string{"none"}, nil, fs.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			dirs := make([]string, len(c.dirs))
			for i, d := range c.dirs {
				dirs[i] = top + "/" + d
			}
			got, err := Resolve(t.Context(), known, dirs)
			if !errors.Is(err, c.err) || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v\nwant %v, %v", got, err, c.want, c.err)
			}
		})
	}
	t.Run("left out", func(t *testing.T) {
		var err *ExcludedError
		if got, e := Resolve(t.Context(), known, []string{top + "/c/private/deep"}); !errors.As(e, &err) || err.Pattern != "private/" || err.Source != "less" {
			t.Errorf("got %v, %v", got, e)
		}
	})
	t.Run("followed", func(t *testing.T) {
		got, err := Followed(t.Context(), known)
		want := []Root{{"few", in("some"), "one.json", true, nil}, {"gone", in("gone"), ".", false, nil}, {"home", in("a"), ".", false, nil},
			{"less", in("c"), ".", false, []string{"private/"}}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	})
}
