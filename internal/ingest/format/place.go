package format

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Place is a directory or file where a program keeps files of a format by default.
type Place struct {
	Name string // of the source that it becomes: "claude-code"
	// Path begins with ~ for the home directory or with a $VARIABLE that the program reads to find its files. It is
	// slash-separated on every system.
	Path string
	// List says that the variable may have several directories, separated by commas.
	List bool
	// Holds is a file that identifies the place, if other programs use the same directory; else "".
	Holds string
	// Listed says that Path is a JSON file in which the program lists its directories: these are the places.
	Listed Listing
	// Deletes describes to users what the program itself deletes and when; "" if nothing.
	Deletes string
}

// Listing names two members of the objects in a JSON file: a directory, and the directory that Dir, if it is relative, is relative to.
type Listing struct{ Base, Dir string }

// Dirs returns the directories in a file, slash-separated, in order. It leaves out relative ones without a base.
func (l Listing) Dirs(file []byte) (all []string) {
	v, err := jsontext.Parse(jsontext.TrimBOM(file))
	if err != nil {
		return nil
	}
	jsontext.AppendText(nil, v, func(dst []byte, _ int, _ string, v jsontext.Value) ([]byte, bool) {
		dir, base := slashed(v.Get(l.Dir).Str()), slashed(v.Get(l.Base).Str())
		if dir == "" {
			return dst, false
		}
		if !isAbs(dir) {
			dir = path.Join(base, dir)
		}
		if dir = path.Clean(dir); isAbs(dir) && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
		return dst, false
	})
	return all
}

// isAbs reports whether a slash-separated path is absolute, on any system.
func isAbs(p string) bool { return path.IsAbs(p) || len(p) > 2 && p[1] == ':' && p[2] == '/' }

// slashed replaces the separators in a path of Windows.
func slashed(p string) string {
	if isAbs(p) {
		return p
	}
	if s := strings.ReplaceAll(p, `\`, "/"); isAbs(s) {
		return s
	}
	return p
}

// ConfigHomes are the directories of user settings on Linux, macOS and Windows.
var ConfigHomes = []string{"~/.config", "$XDG_CONFIG_HOME", "~/Library/Application Support", "~/AppData/Roaming", "$APPDATA"}

// At returns copies of the place with the given paths.
func (p Place) At(paths ...string) (all []Place) {
	for _, p.Path = range paths {
		all = append(all, p)
	}
	return all
}

// Placed is a Format whose program has default places.
type Placed interface {
	// Places returns the default places, for all systems.
	Places() []Place
}

// Expand returns the paths of a place for a home directory and an environment, slash-separated; none if the path
// begins with a variable that is not set. If the variable already ends in the rest of the path, the rest is not appended: some
// programs accept both their directory and the one inside it.
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

// Top returns the root of the source, in the form of Path. The user may have named this directory differently than the program does.
func (h Head) Top() string { return cmp.Or(h.Dir, ".") }

// Top is like Head.Top.
func (in Input) Top() string { return cmp.Or(in.Dir, ".") }

// Below returns the path of the file relative to its source.
func (h Head) Below() string { return below(h.Dir, h.Path) }

// Below is like Head.Below.
func (in Input) Below() string { return below(in.Dir, in.Path) }

func below(dir, file string) string { return strings.TrimPrefix(strings.TrimPrefix(file, dir), "/") }

// Stem returns the name of a file without its extension.
func Stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }
