package chatgpt

import "github.com/txarchive/txarchive/internal/ingest/format"

// What search finds of a message is every string of its content but types and ids, and the names of what was attached. The
// metadata repeat most of it, and say how a page shows it.

func appendMessage(dst []byte, v format.Value) []byte {
	dst = appendContent(dst, v.Get("content"))
	for file := range v.Get("metadata", "attachments").Items() {
		dst = format.AppendStrings(dst, file.Get("name"))
	}
	return dst
}

func appendContent(dst []byte, v format.Value) []byte {
	switch {
	case v.IsObject():
		for key, f := range v.Fields() {
			switch key {
			case "content_type", "language", "response_format_name", "source_analysis_msg_id", "asset_pointer", "tether_id", "gen_id",
				"parent_gen_id", "edit_op", "format", "direction", "decoding_id", "expiry_datetime":
			default:
				dst = appendContent(dst, f)
			}
		}
	case v.IsArray():
		for item := range v.Items() {
			dst = appendContent(dst, item)
		}
	default:
		dst = format.AppendStrings(dst, v)
	}
	return dst
}
