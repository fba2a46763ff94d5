package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// pathValue is a flag whose value is a path. Shells expand ~/ but not after the = of --to=~/back, and a directory named ~ is a trap for
// whoever removes it.
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

// Type returns the type of any text, so that help and manual pages show it like others.
func (v pathValue) Type() string { return "string" }

// Set implements pflag.Value.
func (v pathValue) Set(s string) error {
	*v.to = v.a.expandHome(s)
	return nil
}

// expandHome replaces ~/ at the start of a path by the home directory.
func (a *app) expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.getenv("HOME") != "" {
		return filepath.Join(a.getenv("HOME"), rest)
	}
	return path
}
