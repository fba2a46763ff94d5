package format

import (
	"strconv"
	"strings"
)

// FileURI returns the path of a file: URI, "" for any other URI.
func FileURI(uri string) string {
	dir, ok := strings.CutPrefix(uri, "file://")
	if !ok {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(dir); i++ {
		if dir[i] == '%' && i+2 < len(dir) {
			if n, err := strconv.ParseUint(dir[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(dir[i])
	}
	if dir = b.String(); len(dir) > 2 && dir[0] == '/' && dir[2] == ':' {
		dir = dir[1:] // a Windows drive
	}
	return strings.ToValidUTF8(dir, "\uFFFD")
}
