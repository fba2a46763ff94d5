package rows

import "strings"

// EscapeHTML escapes text between tags, where quotes are harmless. So --redact finds in it what it finds in other output.
func EscapeHTML(text string) string { return inHTML.Replace(text) }

var inHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// PageHead returns the beginning of an HTML page, up to its body, with a title, which it escapes, and a style sheet. The page needs nothing
// but itself: its Content-Security-Policy forbids scripts, and loading anything.
func PageHead(title, style string) string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><meta name="referrer" content="no-referrer">
<style>
` + style + `</style>
<title>` + EscapeHTML(title) + "</title></head>\n"
}
