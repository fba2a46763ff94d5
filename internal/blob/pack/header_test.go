package pack

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

var headerNames = []string{
	"a", "runs/a.jsonl", strings.Repeat("n", 100), strings.Repeat("p", 155) + "/" + strings.Repeat("n", 100),
	strings.Repeat("n", 101), "s/" + strings.Repeat("n", 101), strings.Repeat("p", 156) + "/n",
	strings.Repeat("deep/", 60) + "file", "数据库/会话.jsonl", strings.Repeat("数据库", 40) + "/x", "latin1 \xe9\xff",
	strings.Repeat("é", 120), "with space/and=sign", strings.Repeat("d/", 400) + "x",
}

// TestHeaders reads every header with Go's own tar reader and with ours.
func TestHeaders(t *testing.T) {
	for _, name := range headerNames {
		for _, link := range []string{"", "short", strings.Repeat("target/", 40) + "x", "é" + strings.Repeat("y", 99)} {
			h := newHeader(name, link, 0, time.Unix(1795000000, 5), 0o640)
			if link == "" {
				h.size = 700
			}
			data := h.append(nil)
			got, size, ok := parseHeader(append(data[:len(data):len(data)], "content"...))
			if !ok || got != h || size != len(data) {
				t.Errorf("%q: read back %+v, %d of %d, %v", name, got, size, len(data), ok)
			}
			_, _, fits := splitName(name)
			if plain := len(data) == blockSize; plain != (fits && len(link) <= 100) {
				t.Errorf("%q takes %d bytes", name, len(data))
			}
			std, err := tar.NewReader(bytes.NewReader(appendPadding(append(data, make([]byte, h.size)...), h.size))).Next()
			if err != nil {
				t.Errorf("%q: %v", name, err)
				continue
			}
			if std.Name != name || std.Linkname != link || std.Size != h.size || std.Mode != 0o640 || !std.ModTime.Equal(time.Unix(1795000000, 0)) {
				t.Errorf("%q: archive/tar reads %+v", name, std)
			}
		}
	}
}

func TestHeaderLimits(t *testing.T) {
	for _, test := range []struct {
		mtime time.Time
		mode  uint32
		want  header
	}{
		{time.Unix(-5, 0), 0, header{name: "a", mtime: 0, mode: 0o400}},
		{time.Unix(1<<40, 0), 0o7777, header{name: "a", mtime: maxTarSize, mode: 0o777}},
	} {
		h := newHeader("a", "", 0, test.mtime, test.mode)
		if h != test.want {
			t.Errorf("got %+v, want %+v", h, test.want)
		}
		if _, err := tar.NewReader(bytes.NewReader(h.append(nil))).Next(); err != nil && err != io.EOF {
			t.Error(err)
		}
	}
}

// FuzzParseHeader checks that only headers that this package writes are accepted.
func FuzzParseHeader(f *testing.F) {
	for _, name := range headerNames {
		f.Add(newHeader(name, "", 5, time.Unix(7, 0), 0o600).append(nil))
		f.Add(newHeader(name, strings.Repeat(name, 2), 0, time.Unix(7, 0), 0o600).append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, size, ok := parseHeader(data)
		if ok && !bytes.Equal(h.append(nil), data[:size]) {
			t.Errorf("%+v is not the header that was read", h)
		}
	})
}
