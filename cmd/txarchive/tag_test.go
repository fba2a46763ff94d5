package main

import (
	"strings"
	"testing"
)

func TestTagWords(t *testing.T) {
	for tag, ok := range map[string]bool{"release": true, "v1.2": true, "要点": true, "a/b": true, "": false, "a b": false, "a,b": false,
		"*": false, `"a"`: false, "-a": false, "a\x1b[1m": false, strings.Repeat("x", 101): false} {
		if err := checkTag(tag); (err == nil) != ok {
			t.Errorf("%q: %v", tag, err)
		}
	}
}
