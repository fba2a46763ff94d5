package chatgpt

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// The text of a message is every string of its content except types and ids (or custom instructions if the content has
// none) and the names of attachments. The sources that a web search found are a part of their own. Other metadata repeat
// these or concern their display.

// appendPiece appends the text of a part from its own bytes: a message, or the list of its sources.
func appendPiece(dst []byte, v jsontext.Value) []byte {
	if v.IsArray() {
		return appendSources(dst, v)
	}
	return appendMessage(dst, v)
}

func appendMessage(dst []byte, v jsontext.Value) []byte {
	before := len(dst)
	dst = appendContent(dst, v.Get("content"), recipient(v) != "all")
	if len(dst) == before {
		dst = jsontext.AppendStrings(dst, userContext(v))
	}
	for file := range v.Get("metadata", "attachments").Items() {
		dst = jsontext.AppendStrings(dst, file.Get("name"))
	}
	return dst
}

// appendContent appends the text of a content. The arguments of a tool (asks) are often JSON in a string; their keys are
// the tool's own.
func appendContent(dst []byte, v jsontext.Value, asks bool) []byte {
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		switch key {
		case "content_type", "language", "response_format_name", "source_analysis_msg_id", "asset_pointer", "tether_id", "gen_id",
			"parent_gen_id", "edit_op", "format", "direction", "decoding_id", "expiry_datetime":
			return dst, true
		}
		if asks {
			if in := m.Inside(); in.IsObject() || in.IsArray() {
				return jsontext.AppendScalars(dst, in), true
			}
		}
		return dst, false
	})
}

// sourcesOf returns the list of the pages that a message is based on. Exports have it in one of several places, depending
// on their age; these repeat one another.
func sourcesOf(message jsontext.Value) jsontext.Value {
	m := message.Get("metadata")
	for _, list := range []jsontext.Value{
		m.Get("search_result_groups"), m.Get("_cite_metadata", "metadata_list"), m.Get("citations"), m.Get("content_references"),
	} {
		for range list.Items() {
			return list
		}
	}
	return jsontext.Value{}
}

func appendSources(dst []byte, v jsontext.Value) []byte {
	for item := range v.Items() {
		dst = appendSources(dst, item)
	}
	for key, f := range v.Fields() {
		switch key {
		case "title", "url", "snippet", "text", "name":
			if f.IsString() {
				dst = jsontext.AppendStrings(dst, f)
			}
		case "entries", "items", "metadata":
			dst = appendSources(dst, f)
		}
	}
	return dst
}
