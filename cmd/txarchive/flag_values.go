package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/txarchive/txarchive/internal/policy"
)

// All values parse what they print, zero included: the command line of a scheduled job is made from them.

// ageValue is a flag for a duration that also accepts days and weeks: 30d, 2w, 12h, 90m, and 500ms as Go does.
type ageValue time.Duration

func (v *ageValue) Type() string { return "age" }

func (v *ageValue) String() string {
	if v == nil || *v == 0 {
		return "0"
	}
	d := time.Duration(*v)
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return d.String()
}

func (v *ageValue) Set(s string) error {
	d, err := policy.ParseDuration(s)
	if err != nil {
		if fine, bad := time.ParseDuration(s); bad == nil && fine >= 0 {
			d, err = fine, nil
		}
	}
	if err == nil {
		*v = ageValue(d)
	}
	return err
}

// sizeValue is a flag for a number of bytes: 50GB, 512MiB, 1000.
type sizeValue int64

func (v *sizeValue) Type() string { return "size" }

func (v *sizeValue) String() string {
	if v == nil {
		return "0"
	}
	return strconv.FormatInt(int64(*v), 10)
}

func (v *sizeValue) Set(s string) error {
	n, err := policy.ParseBytes(s)
	if err == nil {
		*v = sizeValue(n)
	}
	return err
}

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
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.Getenv("HOME") != "" {
		return filepath.Join(a.Getenv("HOME"), rest)
	}
	return path
}
