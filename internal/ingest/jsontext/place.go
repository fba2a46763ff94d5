package jsontext

import "github.com/txarchive/txarchive/internal/transcript"

// Offset returns the byte offset of the value in what was parsed. It panics for an absent value.
func (v Value) Offset() int64 { return int64(v.node().start) }

// OffsetIn returns the byte offset of the value in a file whose end was parsed: the whole file, or the part after its byte order mark.
func (v Value) OffsetIn(file []byte) int64 {
	if v.doc == nil {
		return 0
	}
	return int64(len(file)-len(v.doc.bytes)) + v.Offset()
}

// OffsetIn returns the byte offset of inner in the outer value that contains it, -1 if outer does not.
func OffsetIn(outer, inner Value) int64 {
	if outer.doc == nil || outer.doc != inner.doc || inner.at < outer.at || inner.at >= outer.node().next() {
		return -1
	}
	return inner.Offset() - outer.Offset()
}

// OriginIn returns the place of inner in a file that has outer, which contains it, at the given place.
func OriginIn(at transcript.Origin, outer, inner Value) transcript.Origin {
	at.Offset += OffsetIn(outer, inner)
	at.Length = int64(inner.Len())
	return at
}

// PartIn returns a part with a text, whose range is that of inner in the value of the event.
func PartIn(event, inner Value, text string) transcript.Part {
	return transcript.Part{Text: text, Offset: OffsetIn(event, inner), Length: int64(inner.Len())}
}
