package grokexport

import (
	"bytes"
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// The markup of a call in a text of the model.
const (
	cardOpen, cardClose   = "<xai:tool_usage_card>", "</xai:tool_usage_card>"
	cdataOpen, cdataClose = "<![CDATA[", "]]>"
)

// piece is a piece of a text of the model, in the body of the JSON string: text, or a call with its tags.
type piece struct {
	from, to int
	call     bool
}

// pieces yields the pieces of a text, without blank ones. No escape lies across the ends of a piece, for tags have none.
func pieces(body []byte) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for from := 0; from < len(body); {
			open := bytes.Index(body[from:], []byte(cardOpen))
			end := -1
			if open >= 0 {
				end = bytes.Index(body[from+open:], []byte(cardClose))
			}
			if end < 0 {
				open = len(body) - from
			}
			if text := body[from : from+open]; strings.TrimSpace(unquote(text)) != "" && !yield(piece{from: from, to: from + open}) {
				return
			}
			if from += open; end < 0 {
				return
			}
			end += len(cardClose)
			if !yield(piece{from: from, to: from + end, call: true}) {
				return
			}
			from += end
		}
	}
}

// unquote returns the text of a piece of the body of a JSON string.
func unquote(body []byte) string { return jsontext.Unquote(`"` + string(body) + `"`) }

// field returns what an element of a card contains.
func field(card, name string) string {
	_, rest, ok := strings.Cut(card, "<xai:"+name+">")
	in, _, closed := strings.Cut(rest, "</xai:"+name+">")
	if !ok || !closed {
		return ""
	}
	in = strings.TrimSpace(in)
	if inner, ok := strings.CutPrefix(in, cdataOpen); ok {
		in = strings.TrimSuffix(inner, cdataClose)
	}
	return in
}

// appendRaw appends the text of a part from its own bytes, which are JSON or a piece of the body of a string.
func appendRaw(dst, raw []byte) []byte {
	if len(raw) > 0 && (raw[0] == '"' || raw[0] == '{' || raw[0] == '[') {
		if v, err := jsontext.Parse(raw); err == nil {
			return appendText(dst, v)
		}
	}
	text := unquote(raw)
	if !strings.HasPrefix(text, cardOpen) || !strings.HasSuffix(text, cardClose) || !strings.Contains(text, "<xai:tool_args>") {
		return append(dst, text...)
	}
	args := field(text, "tool_args")
	if v, err := jsontext.Parse([]byte(args)); err == nil && (v.IsObject() || v.IsArray()) {
		return jsontext.AppendScalars(dst, v)
	}
	return append(dst, args...)
}

// appendText appends the text of a response, or of what went into a tool or came out of it.
func appendText(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.IsString():
		return jsontext.AppendStrings(dst, v)
	case isResponse(v):
		return appendMessage(dst, v)
	}
	return jsontext.AppendTextAndNumbers(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		switch key {
		case "tool_usage_card_id", "favicon", "favicon_base64", "profile_image_url", "citation_id", "cardType":
			return dst, true
		case "":
			if card := m.Inside(); card.IsObject() {
				return appendCard(dst, card), true
			}
		}
		return dst, m.IsBase64() || m.IsDataURL()
	})
}

// isResponse reports whether an object is a response, by its own members alone. What a tool found may have a sender as well: mails and posts.
func isResponse(v jsontext.Value) bool {
	if v.Get("tool_usage_card_id").Exists() {
		return false
	}
	sender, message := v.Get("sender").Exists(), v.Get("message").Exists()
	return (sender || message) && v.First("_id", "response_id").Exists() || sender && message && v.Get("create_time").Exists()
}

// appendCard appends the text of a card, which an answer shows where its text names it.
func appendCard(dst []byte, card jsontext.Value) []byte {
	return jsontext.AppendText(dst, card, func(dst []byte, _ int, key string, _ jsontext.Value) ([]byte, bool) {
		return dst, key == "id" || key == "type" || key == "cardType" || key == "imageUuid"
	})
}

// appendMessage appends what was asked or answered; of a picture what it is to show.
func appendMessage(dst []byte, v jsontext.Value) []byte {
	dst = jsontext.AppendStrings(dst, v.Get("message"))
	if query := v.Get("query"); query.Str() != v.Get("message").Str() {
		dst = jsontext.AppendStrings(dst, query)
	}
	return dst
}
