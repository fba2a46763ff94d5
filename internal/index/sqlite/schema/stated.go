package schema

import (
	"encoding/hex"
	"encoding/json"
	"strings"
)

// EventJSON returns the JSON of what an event states beside its columns, as in the view stated_events, "" for nothing: the
// JSON of its scene, its native id and its remaining attributes, each as stored.
func EventJSON(scene string, native any, rest string) string {
	if scene == "" && native == nil {
		return rest
	}
	var b strings.Builder
	b.WriteString("{" + scene)
	if native != nil {
		b.WriteString(`"id":`)
		b.WriteString(nativeJSON(native))
		b.WriteByte(',')
	}
	if len(rest) > 2 {
		b.WriteString(rest[1 : len(rest)-1])
	}
	return strings.TrimSuffix(b.String(), ",") + "}"
}

func nativeJSON(native any) string {
	text := NativeText(native)
	if _, ok := native.([]byte); ok {
		return `"` + text + `"`
	}
	quoted, _ := json.Marshal(text) // never fails for a string
	return string(quoted)
}

// NativeText returns a stored native id as its producer writes it, "" for none.
func NativeText(native any) string {
	text, _ := native.(string)
	if uuid, ok := native.([]byte); ok && len(uuid) == 16 {
		digits := hex.EncodeToString(uuid)
		return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
	}
	return text
}
