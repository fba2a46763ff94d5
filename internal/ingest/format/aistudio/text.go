package aistudio

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// isFile reports whether a member of a chunk is a file: driveDocument, driveImage, inlineAudio, youtubeVideo and the like.
func isFile(key string) bool {
	return strings.HasPrefix(key, "drive") || strings.HasPrefix(key, "inline") || key == "youtubeVideo" || key == "fileData"
}

// appendText appends the text of a part from its own bytes: a string, a file, what goes into a tool or comes out of it, or a system
// instruction. What is only one part of a chunk has a range of its own.
func appendText(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, v, func(dst []byte, depth int, key string, _ jsontext.Value) ([]byte, bool) {
		return dst, key == "thoughtSignature" || depth > 0 && isNote(v, depth, key)
	})
}

// isNote reports whether a member of a value is what the program notes about the text in it: of a file its type and bytes, and its id beside a
// name; of code its language, and how it ended; the name of a function; of a search its queries, which are its call, and the numbers of sources.
func isNote(v jsontext.Value, depth int, key string) bool {
	switch key {
	case "webSearchQueries", "outcome":
		return depth == 1
	case "mimeType", "data":
		return depth == 1 && v.Get("mimeType").Exists()
	case "id":
		return depth == 1 && v.Get("name").Exists()
	case "role":
		return depth == 1 && v.Get("parts").Exists()
	case "language":
		return depth == 1 && v.Get("code").Exists()
	case "name":
		return depth == 1 && (v.Get("args").Exists() || v.Get("response").Exists())
	case "footnoteNumber", "referenceNumber", "index":
		return depth == 3 && (v.Get("groundingSources").Exists() || v.Get("corroborationSegments").Exists())
	}
	return false
}
