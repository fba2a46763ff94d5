package blob

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRefText(t *testing.T) {
	ref := RefOf([]byte("abc"))
	out, err := json.Marshal(ref)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`
	if string(out) != want {
		t.Errorf("got %s, want %s", out, want)
	}
	var back Ref
	if err := json.Unmarshal(out, &back); err != nil || back != ref {
		t.Errorf("read back %v, %v", back, err)
	}
	if ref.Short() != "ba7816bf" {
		t.Errorf("short form %s", ref.Short())
	}
	for _, bad := range []string{"", "ba78", strings.Repeat("zz", 32), ref.String() + "0", ref.String() + "00"} {
		if back.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q is taken for a reference", bad)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"2026/11/20261121T014712.123456Z-a1-0123456789abcdef": true,
		"a": true, "a/b_c": true,
		"": false, "/a": false, "a/": false, "a//b": false, "../a": false, "a/..": false, ".a": false, "a/.b": false,
		"a b": false, "a\\b": false, "a\x00": false, "é": false, "a:b": false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v", name, got)
		}
	}
}
