package main

import (
	"testing"

	"github.com/txarchive/txarchive/internal/printer"
)

func TestUnquoted(t *testing.T) {
	a := &app{Printer: printer.Printer{Getenv: func(name string) string { return map[string]string{"HOME": "/home/ada", "x": "it's"}[name] }}}
	for in, want := range map[string]string{
		`tool:Bash`:          `tool:Bash`,
		`'x tool:Ba`:         `x tool:Ba`,
		`"x tool:Ba`:         `x tool:Ba`,
		`'a'"b"c\ d`:         `abc d`,
		`"say \"so\" \n"`:    `say "so" \n`,
		`'$HOME'"'"`:         `$HOME'`,
		`$HOME/x ${x}`:       `/home/ada/x it's`,
		`"$x" \$x`:           `it's $x`,
		`$(rm x)` + "`rm x`": `$(rm x)` + "`rm x`",
		`'(rm x); $(rm x)'`:  `(rm x); $(rm x)`,
		`\`:                  `\`,
		``:                   ``,
	} {
		if got := a.unquote(in); got != want {
			t.Errorf("%s is read as %s, want %s", in, got, want)
		}
	}
}
