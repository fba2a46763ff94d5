package index

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFacet(t *testing.T) {
	for _, c := range []struct{ field, value, want string }{
		{"tool", "Bash", ":tool:bash"},
		{"tool", "mcp:Read File", ":tool:mcp_read_file"},
		{"model", "claude-opus-4.5", ":model:claude-opus-4.5"},
		{"path", "src/health.py", ":path:src/health.py"},
		{"agent", "ÉTÉ 数据", ":agent:été_数据"},
		{"type", "a\"b\x00c\xff", ":type:a_b_c\xef\xbf\xbd"},
		{"tool", strings.Repeat("x", 100), ":tool:" + strings.Repeat("x", 58)},
		{"tool", strings.Repeat("x", 57) + "数", ":tool:" + strings.Repeat("x", 57)},
		{"tool", strings.Repeat("x", 55) + "数", ":tool:" + strings.Repeat("x", 55) + "数"},
		{"tool", "", ":tool:"},
	} {
		if got := Facet(c.field, c.value); got != c.want {
			t.Errorf("%q: %q, want %q", c.value, got, c.want)
		}
	}
}

func FuzzFacet(f *testing.F) {
	f.Add("tool", "Bash")
	f.Fuzz(func(t *testing.T, field, value string) {
		got := Facet("tool", value)
		if len(got) > facetSize || strings.ContainsAny(got, " \"'`\n\t\x00") || Facet("tool", strings.TrimPrefix(got, ":tool:")) != got {
			t.Errorf("%q gives %q", value, got)
		}
		if utf8.ValidString(value) && !utf8.ValidString(got) {
			t.Errorf("%q gives %q, cut inside a character", value, got)
		}
	})
}
