package codex

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// The text of a line is every string in it except ids, types and times, which are facets and columns, and the numbers that go into a tool
// and come out of it. It excludes encrypted data and images, and is empty if the line only repeats a counted event.

// lineText returns the text of a line, or of an event_msg's payload alone (see notice).
func lineText(v jsontext.Value) string { return string(appendLine(nil, v, readLine(v))) }

func appendLine(dst []byte, v jsontext.Value, l line) []byte {
	switch {
	case !l.payload.Exists():
		dst, _ = appendItem(dst, v)
	case l.typ == "response_item":
		dst, _ = appendItem(dst, l.payload)
	case l.typ == "event_msg":
		if !silentTypes[l.payload.Get("type").Word()] {
			dst, _ = appendItem(dst, l.payload)
		}
	case l.typ == "turn_context": // settings, and instructions that a message has as well
	case l.typ == "compacted":
		dst = appendCompacted(dst, l.payload)
	default:
		dst = jsontext.AppendStrings(dst, l.payload)
	}
	return dst
}

// appendCompacted appends the summary. In a replacement history that is the last item; the rest are copies.
func appendCompacted(dst []byte, v jsontext.Value) []byte {
	start := len(dst)
	if dst = jsontext.AppendStrings(dst, v.Get("message")); len(dst) > start {
		return dst
	}
	var last jsontext.Value
	for item := range v.Get("replacement_history").Items() {
		last = item
	}
	for entry := range v.Get("replacement_history_entries").Items() { // newest versions; an entry without an item refers to one before
		if item := entry.Get("item"); item.Exists() {
			last = item
		}
	}
	dst, _ = appendItem(dst, last)
	return dst
}

// appendItem appends the text of an item and returns its other members.
func appendItem(dst []byte, v jsontext.Value) ([]byte, item) {
	if !v.IsObject() {
		return jsontext.AppendStrings(dst, v), item{}
	}
	var it item
	start := len(dst)
	for key, m := range v.Fields() {
		switch key {
		case "item": // in an item_completed
			dst, _ = appendItem(dst, m)
		case "name":
			it.name = m
			dst = jsontext.AppendStrings(dst, m)
		case "arguments", "input":
			it.input = m
			dst, it.inputJSON = appendNested(dst, m)
		case "action":
			if !it.input.Exists() {
				it.input = m
			}
			for name, part := range m.Fields() {
				if name != "type" {
					dst = jsontext.AppendScalars(dst, part)
				}
			}
		case "output", "tools":
			it.output = m
			dst, it.outputJSON = appendNested(dst, m)
		case "content":
			it.content = m
			dst = appendBlocks(dst, m)
		case "summary":
			dst = appendBlocks(dst, m)
		default:
			if !it.setField(key, m) {
				dst = appendValue(dst, m)
			}
		}
	}
	switch {
	case it.typ == "ghost_snapshot":
		dst = dst[:start] // lists of files that are not in git
	case it.typ != "image_generation_call":
		dst = appendValue(dst, it.result)
	}
	return dst, it
}

// setField sets a member that is not text, and reports whether it is one.
func (it *item) setField(key string, m jsontext.Value) bool {
	switch key {
	case "type":
		it.typ = m.Word()
	case "role":
		it.role = m.Word()
	case "call_id":
		it.callID = m
	case "id":
		it.id = m
	case "status":
		it.status = m
	case "result": // its type decides whether it is text
		it.result = m
	case "internal_chat_message_metadata_passthrough":
		it.kinds = m.Get("content_item_kinds")
	case "timestamp", "metadata", "encrypted_content", "turn_id", "phase", "thread_id", "new_thread_id", "sender_thread_id", "agent_thread_id", "event_id",
		"process_id", "parent_id", "record_type", "execution", "last_agent_message":
	default:
		return false
	}
	return true
}

// appendNested appends what went into a tool or came out of it, numbers too. It may be a string with JSON inside: then that JSON is appended, so
// that escapes do not join words. It returns the JSON inside, or a value that is itself JSON.
func appendNested(dst []byte, v jsontext.Value) ([]byte, jsontext.Value) {
	switch {
	case v.IsArray():
		return appendBlocks(dst, v), v
	case v.IsObject():
		for _, m := range v.Fields() {
			if m.IsArray() {
				dst = appendBlocks(dst, m)
			} else if !m.IsDataURL() {
				dst = jsontext.AppendScalars(dst, m)
			}
		}
		return dst, v
	case v.Len() > 2 && (v.Raw()[1] == '{' || v.Raw()[1] == '['):
		if inside := v.Inside(); inside.Exists() {
			return jsontext.AppendScalars(dst, inside), inside
		}
	}
	return jsontext.AppendStrings(dst, v), jsontext.Value{}
}

// appendBlocks appends the strings of content: a string, or a list of blocks. How closely to look at an image is not text.
func appendBlocks(dst []byte, v jsontext.Value) []byte {
	if !v.IsArray() {
		return appendValue(dst, v)
	}
	for block := range v.Items() {
		if !block.IsObject() {
			dst = appendValue(dst, block)
			continue
		}
		for key, m := range block.Fields() {
			switch key {
			case "type", "encrypted_content":
			case "detail":
				if !block.Get("type").Is("input_image") {
					dst = appendValue(dst, m)
				}
			default:
				dst = appendValue(dst, m)
			}
		}
	}
	return dst
}

// appendValue is like AppendStrings but omits images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	if v.IsDataURL() {
		return dst
	}
	return jsontext.AppendStrings(dst, v)
}
