package format

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// TestTree sorts nodes, each "key parent time", a time of 0 being unknown.
func TestTree(t *testing.T) {
	var tree Tree
	for in, want := range map[string]string{
		"":                              "",
		"c b 3,b a 2,a - 1":             "a b c",     // listed from the end
		"a - 1,c a 9,b a 5,d b 7":       "a b d c",   // the later branch last
		"a - 1,b a 0,c a 0":             "a b c",     // as listed, without times
		"a - 3,b gone 2,c c 1":          "a b c",     // without a parent, as listed
		"a - 1,x y 2,y x 3,b a 4":       "a b x y",   // a cycle
		"a - 1,b a 2,a - 5,c b 3,b - 4": "a b c",     // keys twice: the last counts
		"a - 1,c b 0,b a 4,d a 3,e c 9": "a d b c e", // an unknown time is the parent's
		"a - 1," + strings.Repeat("a - 1,", 3) + "b a 2": "a b",
	} {
		tree.Reset()
		var keys []string
		for _, node := range strings.FieldsFunc(in, func(r rune) bool { return r == ',' }) {
			f := strings.Fields(node)
			i, ok := tree.Add(f[0], strings.Trim(f[1], "-"), transcript.Time{UnixMicro: int64(f[2][0] - '0'), Valid: f[2] != "0"})
			if !ok || i > len(keys) {
				t.Fatalf("%s: %d, %v", in, i, ok)
			}
			if i == len(keys) {
				keys = append(keys, f[0])
			}
		}
		var got []string
		for _, i := range tree.Sort() {
			got = append(got, keys[i])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
