package main

import "testing"

// TestMakers holds the names of makers to those of the commands that they make.
func TestMakers(t *testing.T) {
	for _, h := range commandGroups() {
		for _, m := range h.commands {
			root := newRootCommand(newApp(), m.name)
			if c := root.Commands(); len(c) != 1 || c[0].Name() != m.name {
				t.Errorf("of %s %d commands are made", m.name, len(c))
			}
		}
	}
}

func TestCalledIn(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"search", []string{"search", "help"}},
		{"search", []string{"--archive", "list", "--json", "-q", "search", "--limit", "3"}},
		{"list", []string{"--archive=x", "list", "--nonsense"}},
		{"report", []string{"report", "run"}},
		{"", nil},
		{"", []string{"--version"}},
		{"", []string{"--help", "search"}},
		{"", []string{"help", "search"}},
		{"", []string{"--limit", "search"}},
		{"", []string{"--archive"}},
		{"", []string{"__complete", "search", ""}},
		{"", []string{"completion", "bash"}},
		{"", []string{"serach"}},
		{"", []string{"-q", "-x", "search"}},
	} {
		if got := calledCommand(c.args); got != c.want {
			t.Errorf("%q calls %q, not %q", c.args, got, c.want)
		}
	}
}
