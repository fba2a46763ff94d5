package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
)

const (
	timeLayout  = "20060102T150405.000000Z"
	checkDigits = 16
)

// packID returns the part of a pack's name that is known when the pack is begun.
func packID(writer string, now time.Time) (string, error) {
	now = now.UTC()
	if writer == "" || len(writer) > 32 || strings.Trim(writer, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return "", fmt.Errorf("invalid writer id %q: want 1 to 32 of a-z and 0-9", writer)
	}
	if now.Year() < 0 || now.Year() > 9999 {
		return "", fmt.Errorf("packs cannot be named by the year %d", now.Year())
	}
	return now.Format(timeLayout) + "-" + writer, nil
}

// MonotonicTime returns the time at which to begin a pack whose facts must count as the newest: now, or just after newest if that
// is later, because another machine's clock may be ahead.
func MonotonicTime(now, newest time.Time) time.Time {
	if least := newest.Add(time.Millisecond); now.Before(least) {
		return least
	}
	return now
}

// validID reports whether packID could have made id, so that it is safe to use in names.
func validID(id string) bool {
	if len(id) < len(timeLayout)+2 || id[len(timeLayout)] != '-' {
		return false
	}
	created, err := time.Parse(timeLayout, id[:len(timeLayout)])
	if err != nil {
		return false
	}
	again, err := packID(id[len(timeLayout)+1:], created)
	return err == nil && again == id
}

// packName returns the name of the pack in a store.
func packName(id, check string) string {
	return id[:4] + "/" + id[4:6] + "/" + id + "-" + check
}

const (
	manifestDir = ".txarchive"
	tailSuffix  = 1 + 8 + 1 + 16 // "@<root8>.<offset>"
	maxPart     = 255            // NAME_MAX of every file system that matters
	maxName     = 1000           // below PATH_MAX of macOS, leaving space for the directory that a pack is extracted into
)

// nameOf returns the name of the tar entry that holds an extent of a version.
func nameOf(v *blob.Version, e *blob.Extent) string {
	return entryName(v.Source, v.Path, v.Number, v.Root, e.Offset)
}

// entryName returns the name of the tar entry that holds the extent at offset of a version: "<source>/<path>" for
// the first extent of version 1, "<source>/<path>@<root8>.<offset, 16 digits>" for all others.
//
// Names that tar could not extract as they are get escaped: "%", control bytes, parts that are "." or ".." and an
// "@" that would look like the suffix above become %XX; an empty part (an absolute path) becomes "%-"; a part
// or a path that is too long is cut and ends in "%~" and a hash of the whole. Bytes that are not UTF-8 stay, except in
// names too long for a ustar header, where they become %XX too: GNU tar warns about the PAX header that would declare
// them. No two names of originals share an entry name. The manifest has the real names.
func entryName(source, path string, version int, root blob.Ref, offset int64) string {
	name := ""
	if isPlain(source, path) {
		name = source + "/" + path
	} else if name = entryBase(source, path, mustEscape); len(name)+tailSuffix > maxUstar && !utf8.ValidString(name) {
		name = entryBase(source, path, mustEscapeInPAX)
	}
	if version == 1 && offset == 0 {
		return name
	}
	return fmt.Sprintf("%s@%s.%016d", name, root.Short(), offset)
}

// isPlain is a fast check, true for most names, that a name needs no escaping: it is short, in ASCII, and no part or byte
// of it is escaped.
func isPlain(source, path string) bool {
	if source == "" || source[0] == '.' || len(source)+len(path) > maxPart-tailSuffix || strings.IndexByte(source, '/') >= 0 || plainPrefix(source) < len(source) {
		return false
	}
	for part := 0; ; {
		end := part + plainPrefix(path[part:])
		if part == end || path[part] == '.' && strings.Trim(path[part:end], ".") == "" {
			return false
		}
		if end == len(path) {
			return end-part < tailSuffix || !isTailSuffix(path[end-tailSuffix:])
		}
		if path[end] != '/' {
			return false
		}
		part = end + 1
	}
}

// plainPrefix returns how many leading bytes are printable ASCII other than '/' and '%'.
func plainPrefix(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '/' || c == '%' {
			return i
		}
	}
	return len(s)
}

// escaper escapes names. It reports whether the first byte of s, which is not empty, must be escaped.
type escaper func(s string) bool

func mustEscape(s string) bool { return s[0] < ' ' || s[0] == 0x7f || s[0] == '%' }

func mustEscapeInPAX(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && size == 1 || mustEscape(s)
}

// entryBase returns the escaped entry name without the suffix of a tail.
func entryBase(source, path string, esc escaper) string {
	name := esc.part(source, maxPart)
	switch {
	case source == manifestDir:
		name = "%2E" + name[1:]
	case strings.Contains(source, "/"): // a source must be one part
		name = cutPart(strings.ReplaceAll(esc.escape(source), "/", "%2F"), source, maxPart)
	}
	return name + "/" + esc.path(path, maxName-len(name)-1)
}

func (esc escaper) path(path string, limit int) string {
	parts := strings.Split(path, "/")
	last := len(parts) - 1
	for i, part := range parts[:last] {
		parts[i] = esc.part(part, maxPart)
	}
	// The last part leaves space for the suffix of its tails.
	final := parts[last]
	if at := len(final) - tailSuffix; at >= 0 && isTailSuffix(final[at:]) {
		parts[last] = cutPart(esc.escape(final[:at])+"%40"+final[at+1:], final, maxPart-tailSuffix)
	} else {
		parts[last] = esc.part(final, maxPart-tailSuffix)
	}
	name := strings.Join(parts, "/")
	if len(name) > limit-tailSuffix {
		sum := sha256.Sum256([]byte(path))
		name = "%~" + hex.EncodeToString(sum[:16]) + "/" + parts[last]
	}
	return name
}

func (esc escaper) part(part string, limit int) string {
	switch part {
	case "":
		return "%-"
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return cutPart(esc.escape(part), part, limit)
}

// escape replaces the bytes that must be escaped with %XX.
func (esc escaper) escape(s string) string {
	if s == "" || !esc.any(s) {
		return s
	}
	out := make([]byte, 0, len(s)+32)
	for len(s) > 0 {
		if esc(s) {
			out = fmt.Appendf(out, "%%%02X", s[0])
			s = s[1:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		out, s = append(out, s[:size]...), s[size:]
	}
	return string(out)
}

func (esc escaper) any(s string) bool {
	for len(s) > 0 {
		if esc(s) {
			return true
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return false
}

// cutPart shortens an escaped part to limit bytes and replaces what it cuts with a hash of the original.
func cutPart(escaped, original string, limit int) string {
	if len(escaped) <= limit {
		return escaped
	}
	sum := sha256.Sum256([]byte(original))
	mark := "%~" + hex.EncodeToString(sum[:8])
	cut := escaped[:limit-len(mark)]
	// Do not split an escape or a character.
	if i := strings.LastIndexByte(cut, '%'); i >= 0 && len(cut)-i < 3 {
		cut = cut[:i]
	}
	for n := 0; n < utf8.UTFMax && len(cut) > 0; n++ {
		if r, size := utf8.DecodeLastRuneInString(cut); r != utf8.RuneError || size > 1 {
			break
		}
		cut = cut[:len(cut)-1]
	}
	return cut + mark
}

// isTailSuffix reports whether s has the form "@<root8>.<offset>".
func isTailSuffix(s string) bool {
	if len(s) != tailSuffix || s[0] != '@' || s[9] != '.' {
		return false
	}
	return strings.Trim(s[1:9], "0123456789abcdef") == "" && strings.Trim(s[10:], "0123456789") == ""
}

// SplitTail splits the suffix of a tail or a later version from an entry name. base is "" if there is none.
func SplitTail(name string) (base, root string, offset int64) {
	at := len(name) - tailSuffix
	if at < 0 || !isTailSuffix(name[at:]) {
		return "", "", 0
	}
	offset, err := strconv.ParseInt(name[at+10:], 10, 64)
	if err != nil {
		return "", "", 0
	}
	return name[:at], name[at+1 : at+9], offset
}
