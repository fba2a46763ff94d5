package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// pathValue is a flag whose value is a path. Shells make ~/ of the home directory, but not behind the = of --to=~/back, and a
// directory that is called ~ is a trap for whoever removes it.
type pathValue struct {
	a  *app
	to *string
}

// pathVar adds a flag for a path.
func (a *app) pathVar(f *pflag.FlagSet, to *string, name, usage string) {
	f.Var(pathValue{a, to}, name, usage)
}

func (v pathValue) String() string {
	if v.to == nil {
		return ""
	}
	return *v.to
}

// Type is that of any text: so help and manual pages show it as they show others.
func (v pathValue) Type() string { return "string" }

// Set implements pflag.Value.
func (v pathValue) Set(s string) error {
	*v.to = v.a.atHome(s)
	return nil
}

// atHome is a path with ~/ as the home directory, where there is one.
func (a *app) atHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.getenv("HOME") != "" {
		return filepath.Join(a.getenv("HOME"), rest)
	}
	return path
}
