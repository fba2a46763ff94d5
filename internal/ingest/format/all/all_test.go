package all

import (
	"errors"
	"regexp"
	"testing"
)

func TestRegistry(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	seen := map[string]bool{}
	for _, f := range Formats() {
		switch {
		case !name.MatchString(f.Name()):
			t.Errorf("name %q is no facet", f.Name())
		case seen[f.Name()]:
			t.Errorf("two formats are called %q", f.Name())
		case f.Version() < 1:
			t.Errorf("%s: version %d, want 1 or more: 0 is what was never parsed", f.Name(), f.Version())
		}
		seen[f.Name()] = true
		if got, ok := Lookup(f.Name()); !ok || got.Name() != f.Name() {
			t.Errorf("Lookup(%q) = %v, %v", f.Name(), got, ok)
		}
	}
	for _, name := range []string{"awf", "flow-studio", "chibi", "leslie", "devflow"} {
		if !seen[name] {
			t.Errorf("no format %q", name)
		}
	}
}

func TestDecodeUnknown(t *testing.T) {
	if _, err := Decode("none such", "", nil, 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want ErrUnknown", err)
	}
}
