package jsontext

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReaderWithoutNaN compares the reader with the function, line by line, whatever is read at once.
func TestReaderWithoutNaN(t *testing.T) {
	for _, line := range []string{
		`{"a":NaN,"b":[-Infinity,Infinity,-1,-0.5],"c":"NaN \" -Infinity"}`, `NaN`, `-Infinit`, `{"a":"\\",NaN:"\\\"NaN"}`, `{"not closed: NaN`, `["N",-`, ``,
		strings.Repeat(" ", nanWindow-3) + `-Infinity "` + strings.Repeat("NaN", nanWindow) + `"`,
	} {
		want := string(WithoutNaN([]byte(line))) + "\n" + `""  `
		for _, r := range []io.Reader{strings.NewReader(line + "\nNaN "), iotest.OneByteReader(strings.NewReader(line + "\nNaN "))} {
			got, err := io.ReadAll(ReaderWithoutNaN(r))
			if err != nil || string(got) != want {
				t.Errorf("%.60s: %.200s %v", line, got, err)
			}
		}
	}
	broken := io.MultiReader(strings.NewReader("[N"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got, err := io.ReadAll(ReaderWithoutNaN(broken)); string(got) != "[N" || err != io.ErrUnexpectedEOF {
		t.Errorf("%q %v", got, err)
	}
}
