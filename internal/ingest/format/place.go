package format

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Place is a directory, or a file, where a program keeps what a format reads.
type Place struct {
	Name string // of the source that it makes: "claude-code"
	// Path begins with ~ for the home directory or with a $VARIABLE, which the program reads to find its files. It has
	// slashes on every system.
	Path string
	// List says that the variable may name several directories, with commas between them.
	List bool
	// Holds is a file in it without which it is nobody's: others keep files in the same directory. "" if none do.
	Holds string
	// Deletes is what the program itself deletes and when, for people; "" if nothing.
	Deletes string
}

// ConfigHomes are where programs keep their settings: Linux, macOS, Windows.
var ConfigHomes = []string{"~/.config", "$XDG_CONFIG_HOME", "~/Library/Application Support", "~/AppData/Roaming", "$APPDATA"}

// At gives the same for several paths.
func (p Place) At(paths ...string) (all []Place) {
	for _, p.Path = range paths {
		all = append(all, p)
	}
	return all
}

// Placed is a format whose program has default places.
type Placed interface {
	Places() []Place
}

// Expand gives the paths that a place stands for with a home directory and an environment, slash-separated: none when it
// begins with a variable that is not set. A variable that already ends in what would follow it is the path itself: some
// programs take both their directory and the one inside of it.
func (p Place) Expand(home string, env func(string) string) []string {
	first, rest, _ := strings.Cut(p.Path, "/")
	var tops []string
	switch name, variable := strings.CutPrefix(first, "$"); {
	case first == "~" && home != "":
		tops = []string{home}
	case !variable || env(name) == "":
	case p.List:
		tops = strings.Split(env(name), ",")
	default:
		tops = []string{env(name)}
	}
	var all []string
	for _, top := range tops {
		if top = strings.TrimSpace(top); top == "" {
			continue
		}
		if below, ok := strings.CutPrefix(top, "~/"); ok {
			top = path.Join(home, below)
		}
		if top = path.Clean(top); rest != "" && !strings.HasSuffix("/"+top, "/"+rest) {
			top = path.Join(top, rest)
		}
		if !slices.Contains(all, top) {
			all = append(all, top)
		}
	}
	return all
}

// Top is the root of the source as a Path has it: a directory that may be called otherwise than its program does.
func (h Head) Top() string { return cmp.Or(h.Dir, ".") }

// Top is as that of a Head.
func (in Input) Top() string { return cmp.Or(in.Dir, ".") }

// Below is the path of a file in its source.
func (h Head) Below() string { return below(h.Dir, h.Path) }

// Below is as that of a Head.
func (in Input) Below() string { return below(in.Dir, in.Path) }

func below(dir, file string) string { return strings.TrimPrefix(strings.TrimPrefix(file, dir), "/") }
