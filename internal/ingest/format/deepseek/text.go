package deepseek

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// appendPiece appends the text of a part from its own bytes: a string, a list of files or of what a search found, a fragment, or a message
// without fragments.
func appendPiece(dst []byte, v jsontext.Value) []byte {
	if v.Get("fragments").HasItems() {
		return dst // its parts have the text
	}
	visit := func(dst []byte, depth int, key string, _ jsontext.Value) ([]byte, bool) {
		switch key {
		case "id", "file_id", "file_size", "site_icon", "cite_index", "query_indexes", "published_at", "inserted_at":
			return dst, true
		case "type", "status", "model", "results":
			return dst, v.IsObject() && depth == 1
		}
		return dst, false
	}
	if v.IsArray() || isTool(v.Get("type").Word()) {
		return jsontext.AppendTextAndNumbers(dst, v, visit)
	}
	return jsontext.AppendText(dst, v, visit)
}

// appendAsked appends what the user wrote in a message.
func appendAsked(dst []byte, message jsontext.Value) []byte {
	for f := range message.Get("fragments").Items() {
		if f.Get("type").Is("REQUEST") {
			dst = jsontext.AppendStrings(dst, f.Get("content"))
		}
	}
	return dst
}
