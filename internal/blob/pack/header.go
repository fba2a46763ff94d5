package pack

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	blockSize  = 512
	maxTarSize = 1<<33 - 1 // 11 octal digits
	maxUstar   = 100       // bytes of a name without prefix, and of a link
	typeFile   = '0'
	typeLink   = '1'
	typePAX    = 'x'
	paxName    = "././@PaxHeader"
)

// header holds the fields of a tar header that packs use. All others have fixed values.
type header struct {
	name  string
	link  string // the entry that this one is a hard link to; "" for files
	size  int64
	mode  uint32
	mtime int64 // seconds, 0 to maxTarSize
}

func newHeader(name, link string, size int64, mtime time.Time, mode uint32) header {
	return header{
		name: name, link: link, size: size,
		// The owner can read what tar extracts, whatever the original's mode. The manifest has the exact mode.
		mode:  mode&0o777 | 0o400,
		mtime: min(max(mtime.Unix(), 0), maxTarSize),
	}
}

// append appends h as a ustar block, preceded by PAX records if ustar cannot hold the names.
func (h header) append(dst []byte) []byte {
	prefix, name, fits := splitName(h.name)
	if !fits || len(h.link) > maxUstar {
		dst = h.appendPAX(dst)
	}
	if !fits {
		// For readers without PAX: as much of the name as fits.
		prefix, name = "", strings.TrimRight(h.name[:maxUstar], "/")
	}
	flag := byte(typeFile)
	if h.link != "" {
		flag = typeLink
	}
	return appendBlock(dst, prefix, name, h.link[:min(len(h.link), maxUstar)], flag, h.size, h.mode, h.mtime)
}

func (h header) appendPAX(dst []byte) []byte {
	var records []byte
	if _, _, fits := splitName(h.name); !fits {
		records = appendRecord(records, "path", h.name)
	}
	if len(h.link) > maxUstar {
		records = appendRecord(records, "linkpath", h.link)
	}
	dst = appendBlock(dst, "", paxName, "", typePAX, int64(len(records)), 0o600, 0)
	return appendPadding(append(dst, records...), int64(len(records)))
}

// appendRecord appends "<length> key=value\n". The length includes its own digits.
func appendRecord(dst []byte, key, value string) []byte {
	size := len(key) + len(value) + len(" =\n")
	total := size + len(strconv.Itoa(size))
	total = size + len(strconv.Itoa(total))
	return fmt.Appendf(dst, "%d %s=%s\n", total, key, value)
}

func appendBlock(dst []byte, prefix, name, link string, flag byte, size int64, mode uint32, mtime int64) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, blockSize)...)
	b := dst[start:]
	copy(b, name)
	octal(b[100:108], int64(mode))
	octal(b[108:116], 0)
	octal(b[116:124], 0)
	octal(b[124:136], size)
	octal(b[136:148], mtime)
	copy(b[148:156], "        ")
	b[156] = flag
	copy(b[157:257], link)
	copy(b[257:265], "ustar\x0000")
	octal(b[329:337], 0)
	octal(b[337:345], 0)
	copy(b[345:500], prefix)
	sum := int64(0)
	for _, c := range b {
		sum += int64(c)
	}
	octal(b[148:155], sum)
	return dst
}

// octal fills a field with octal digits and a final NUL.
func octal(field []byte, v int64) {
	for i := len(field) - 2; i >= 0; i-- {
		field[i] = '0' + byte(v&7)
		v >>= 3
	}
	field[len(field)-1] = 0
}

// splitName splits a name into ustar's prefix and name, at the first slash that lets both fit.
func splitName(name string) (prefix, rest string, fits bool) {
	if len(name) <= maxUstar {
		return "", name, true
	}
	from := len(name) - maxUstar - 1
	i := strings.IndexByte(name[from:], '/')
	if i < 0 || from+i > 155 || from+i+1 == len(name) || from+i == 0 {
		return "", "", false
	}
	return name[:from+i], name[from+i+1:], true
}

// padding returns how many zeros follow size bytes of content.
func padding(size int64) int64 { return -size & (blockSize - 1) }

func appendPadding(dst []byte, size int64) []byte {
	return append(dst, make([]byte, padding(size))...)
}

// parseHeader parses the header of an entry, including PAX records, and returns its length. It accepts only what
// append writes, byte for byte.
func parseHeader(data []byte) (h header, size int, ok bool) {
	rest := data
	var path, link string
	if len(rest) >= blockSize && rest[156] == typePAX {
		n, good := octalValue(rest[124:136])
		rest = rest[blockSize:]
		if !good || n > int64(len(rest)) || n+padding(n) > int64(len(rest)) {
			return header{}, 0, false
		}
		if path, link, ok = parseRecords(string(rest[:n])); !ok {
			return header{}, 0, false
		}
		rest = rest[n+padding(n):]
	}
	if len(rest) < blockSize {
		return header{}, 0, false
	}
	h, ok = parseBlock(rest)
	if path != "" {
		h.name = path
	}
	if link != "" {
		h.link = link
	}
	size = len(data) - len(rest) + blockSize
	if !ok || len(h.name) > 2*maxName || !bytes.Equal(h.append(nil), data[:size]) {
		return header{}, 0, false
	}
	return h, size, true
}

func parseBlock(b []byte) (h header, ok bool) {
	h.name = text(b[:100])
	if prefix := text(b[345:500]); prefix != "" {
		h.name = prefix + "/" + h.name
	}
	h.link = text(b[157:257])
	mode, ok1 := octalValue(b[100:108])
	size, ok2 := octalValue(b[124:136])
	mtime, ok3 := octalValue(b[136:148])
	h.mode, h.size, h.mtime = uint32(mode), size, mtime
	return h, ok1 && ok2 && ok3 && h.name != ""
}

func parseRecords(s string) (path, link string, ok bool) {
	for s != "" {
		digits, _, found := strings.Cut(s, " ")
		n, err := strconv.Atoi(digits)
		if !found || err != nil || n <= len(digits)+1 || n > len(s) || s[n-1] != '\n' {
			return "", "", false
		}
		key, value, found := strings.Cut(s[len(digits)+1:n-1], "=")
		if !found {
			return "", "", false
		}
		switch key {
		case "path":
			path = value
		case "linkpath":
			link = value
		}
		s = s[n:]
	}
	return path, link, true
}

func text(field []byte) string {
	if i := bytes.IndexByte(field, 0); i >= 0 {
		field = field[:i]
	}
	return string(field)
}

func octalValue(field []byte) (int64, bool) {
	v, err := strconv.ParseInt(text(field), 8, 64)
	return v, err == nil && v >= 0
}
