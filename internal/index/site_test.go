package index

import (
	"path"
	"testing"
	"time"
)

func TestBelow(t *testing.T) {
	for _, c := range []struct{ dir, at, want string }{
		{"", ".", "."},
		{"", "runs/one", "runs/one"},
		{"/swarm/runs", "/swarm/runs", "."},
		{"/swarm/runs", "/swarm/runs/one", "one"},
		{"/swarm/run", "/swarm/runs/one", "../runs/one"},
		{"/swarm/runs", "/swarm", ".."},
		{"/swarm/runs", "/", "../.."},
		{"/", "/one", "one"},
		{"C:", "C:/one", "one"},
		{"C:/one", "C:", ".."},
		{"C:/one", "other", "other"},
	} {
		got := RelPath(c.dir, c.at)
		if got != c.want {
			t.Errorf("%q below %q: %q, want %q", c.at, c.dir, got, c.want)
		}
		if back := path.Join(c.dir, got); c.at != "other" && back != c.at {
			t.Errorf("%q below %q, and back: %q", c.at, c.dir, back)
		}
	}
}

// TestScope has nested sources that are added one by one; scopes keep their names.
func TestScope(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC) }
	all := Sites{
		{Source: "notes", Root: "/home/ada/.chibi/contexts/notes", Host: "one", Added: at(0)},
		{Source: "other", Root: "/home/ada/work/.chibi", Added: at(1)},
		{Source: "home", Root: "/home/ada", Host: "one", Added: at(2)},
		{Source: "elsewhere", Root: "/home/ada", Host: "two", Added: at(3)},
		{Source: "windows", Root: "C:/Users/ada", Added: at(4)},
		{Source: "old", Added: at(5)},
	}
	for _, c := range []struct{ source, root, want string }{
		{"notes", "../..", "notes/../.."},
		{"notes", ".", "notes/."},
		{"other", ".", "other/."},
		{"home", ".chibi", "notes/../.."},
		{"home", "work/.chibi", "other/."},
		{"home", "third/.chibi", "home/third/.chibi"},
		{"elsewhere", ".chibi", "elsewhere/.chibi"},
		{"windows", ".chibi", "windows/.chibi"},
		{"old", ".chibi", "old/.chibi"},
		{"unknown", ".", "unknown/."},
	} {
		if got := all.Scope(c.source, c.root); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.root, c.source, got, c.want)
		}
	}
}

// TestScopeOfUnknownSource wants a scope to have the same name before and after the fact of its source is read.
func TestScopeOfUnknownSource(t *testing.T) {
	known := Sites{{Source: "s", Root: "/home/ada/runs"}}
	for _, root := range []string{"", ".", "a/b"} {
		if before, after := Sites(nil).Scope("s", root), known.Scope("s", root); before != after {
			t.Errorf("%q is %q, and then %q", root, before, after)
		}
	}
}
