// Package docs holds the documentation, so that the program has the pages that its texts name.
package docs

import "embed"

// Pages are Markdown: NAME.md and formats/NAME.md.
//
//go:embed *.md formats/*.md
var Pages embed.FS
