package format

import (
	"slices"
	"testing"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"ONE": "/data/one", "INSIDE": "/data/one/projects/", "MANY": "/a, ~/b,,/c/projects,/a", "ODD": "/with,comma"}
	for _, c := range []struct {
		place Place
		home  string
		want  []string
	}{
		{Place{Path: "~/.tool"}, "/home/ada", []string{"/home/ada/.tool"}},
		{Place{Path: "~/.tool"}, "", nil},
		{Place{Path: "$UNSET/projects"}, "/home/ada", nil},
		{Place{Path: "$ONE/projects"}, "/home/ada", []string{"/data/one/projects"}},
		{Place{Path: "$ONE"}, "", []string{"/data/one"}},
		{Place{Path: "$INSIDE/projects"}, "/home/ada", []string{"/data/one/projects"}},
		{Place{Path: "$MANY/projects", List: true}, "/home/ada", []string{"/a/projects", "/home/ada/b/projects", "/c/projects"}},
		{Place{Path: "$ODD/x"}, "/home/ada", []string{"/with,comma/x"}},
	} {
		if got := c.place.Expand(c.home, func(name string) string { return env[name] }); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.place, got, c.want)
		}
	}
}

func TestListing(t *testing.T) {
	l := Listing{Base: "path", Dir: "data_dir"}
	for file, want := range map[string][]string{
		`{"projects":[{"path":"/home/ada/shop","data_dir":"/home/ada/shop/.crush"},{"path":"/home/ada/inn","data_dir":".crush"},{"data_dir":"nowhere"},{"path":"/x"}]}`: {
			"/home/ada/shop/.crush", "/home/ada/inn/.crush"},
		`[{"path":"C:\\shop","data_dir":".crush"},{"data_dir":"D:\\data\\x"},{"data_dir":"D:/data/x/"}]`: {"C:/shop/.crush", "D:/data/x"},
		`{"path":"/a","data_dir":7}`: nil,
		`{"projects":[`:              nil,
	} {
		if got := l.Dirs([]byte(file)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
