package disk

import (
	"net/url"
	"path/filepath"
)

// URI is the name of a file as SQLite takes it, with a query (https://sqlite.org/uri.html). The drive of a path stands behind an
// empty host there.
func URI(path, query string) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && slashed[0] != '/' {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query}).String()
}
