package lechat

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// appendText appends the text of a part from its own bytes: a string, a chunk, a list of files, quotes or canvases, or what goes into a tool or comes out
// of it, which may be JSON in a string.
func appendText(dst []byte, v jsontext.Value) []byte {
	if in := v.UnwrapContainer(); v.IsString() && in.Type() != '"' {
		return jsontext.AppendScalars(dst, in)
	}
	typ := v.Get("type")
	noted := v.IsArray() || typ.Is("image_url") || typ.Is("file_reference") || typ.Is("canva") || typ.Is("custom_element")
	return jsontext.AppendTextAndNumbers(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, key == "_context" || noted && key == "type" || m.IsBase64() || m.IsDataURL()
	})
}
