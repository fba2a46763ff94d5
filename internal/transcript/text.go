package transcript

import (
	"bytes"
	"encoding/json"
)

// Text is a text that may be unknown: "" is null in JSON.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return AppendJSON(nil, string(t))
}

// AppendJSON appends v as JSON in which <, > and & stand as they are. Every MarshalJSON uses it: json.Marshal would escape them, and no
// encoder around it undoes that.
func AppendJSON(b []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
