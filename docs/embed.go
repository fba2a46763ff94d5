// Package docs holds the documentation, so that the program has the pages that its texts name.
package docs

import "embed"

// Pages are Markdown: NAME.md and formats/NAME.md.
//
//go:embed *.md formats/*.md
var Pages embed.FS

// Manual holds man/NAME.1, a page for each command. A test of cmd/txarchive makes them: go test ./cmd/txarchive -run TestManual -update.
//
//go:embed man/*.1
var Manual embed.FS
