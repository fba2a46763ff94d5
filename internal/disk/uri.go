package disk

import (
	"net/url"
	"path/filepath"
)

// URI returns the name of a file as a URI for SQLite, with a query (https://sqlite.org/uri.html). A Windows drive follows an
// empty host.
func URI(path, query string) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && slashed[0] != '/' {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query}).String()
}
