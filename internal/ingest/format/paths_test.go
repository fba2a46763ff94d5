package format

import "testing"

func TestFileURI(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///home/ada/my%20shop": "/home/ada/my shop", "file:///c%3A/Users/ada": "c:/Users/ada", "vscode-remote://ssh/home/ada": "",
		"file:///50%": "/50%", "file:///a%zz": "/a%zz", "": "",
	} {
		if got := FileURI(uri); got != want {
			t.Errorf("%q: %q, want %q", uri, got, want)
		}
	}
}
