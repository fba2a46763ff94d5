package main

import "testing"

func TestPointAt(t *testing.T) {
	if got, want := pointAt("SELECT 1,\n  数据 FROM x", 2, 3), "    数据 FROM x\n    ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
