package chatgpt

import "github.com/txarchive/txarchive/internal/ingest/format"

// What search finds of a message is every string of its content but types and ids (where that says nothing, what a person told about themselves), the names of what was attached, and, as a part
// of its own, what a web search gave. The metadata have more, which repeats this or says how a page shows it.

// appendPiece appends the text of a part from its own bytes: of a message, or of the list of its sources.
func appendPiece(dst []byte, v format.Value) []byte {
	if v.IsArray() {
		return appendSources(dst, v)
	}
	return appendMessage(dst, v)
}

func appendMessage(dst []byte, v format.Value) []byte {
	before := len(dst)
	dst = appendContent(dst, v.Get("content"), recipient(v) != "all")
	if len(dst) == before {
		dst = format.AppendStrings(dst, context(v))
	}
	for file := range v.Get("metadata", "attachments").Items() {
		dst = format.AppendStrings(dst, file.Get("name"))
	}
	return dst
}

// appendContent appends the words of a content. What a tool is asked is JSON in a string as often as not; its names are the tool's own.
func appendContent(dst []byte, v format.Value, asks bool) []byte {
	return format.AppendText(dst, v, func(dst []byte, _ int, key string, m format.Value) ([]byte, bool) {
		switch key {
		case "content_type", "language", "response_format_name", "source_analysis_msg_id", "asset_pointer", "tether_id", "gen_id",
			"parent_gen_id", "edit_op", "format", "direction", "decoding_id", "expiry_datetime":
			return dst, true
		}
		if asks {
			if in := m.Inside(); in.IsObject() || in.IsArray() {
				return format.AppendStrings(dst, in), true
			}
		}
		return dst, false
	})
}

// sourcesOf is the list of the pages that a message rests on. What tools found stands in one of several places, by the age of the
// export; they repeat one another.
func sourcesOf(message format.Value) format.Value {
	m := message.Get("metadata")
	for _, list := range []format.Value{
		m.Get("search_result_groups"), m.Get("_cite_metadata", "metadata_list"), m.Get("citations"), m.Get("content_references"),
	} {
		for range list.Items() {
			return list
		}
	}
	return format.Value{}
}

func appendSources(dst []byte, v format.Value) []byte {
	for item := range v.Items() {
		dst = appendSources(dst, item)
	}
	for key, f := range v.Fields() {
		switch key {
		case "title", "url", "snippet", "text", "name":
			if f.IsString() {
				dst = format.AppendStrings(dst, f)
			}
		case "entries", "items", "metadata":
			dst = appendSources(dst, f)
		}
	}
	return dst
}
