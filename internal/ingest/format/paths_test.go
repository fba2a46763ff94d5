package format

import (
	"slices"
	"testing"
)

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

func TestPatchPaths(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: shop/basket.go\n+*** Add File: x\n*** Update File: rim.go\n*** Move to: lid.go \n*** Delete File: \n*** End Patch"
	if got, ok := PatchPaths("apply_patch <<EOF\n*** Add File: before\n" + patch); !ok || !slices.Equal(got, []string{"shop/basket.go", "rim.go", "lid.go"}) {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := PatchPaths("*** Add File: basket.go"); ok || got != nil {
		t.Errorf("%q without a patch", got)
	}
}
