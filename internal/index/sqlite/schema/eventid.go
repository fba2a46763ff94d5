package schema

import (
	"strconv"
	"strings"
)

// EventID returns the public id of a row.
func EventID(conversation string, seq int64, part, parts int) string {
	id := conversation + ":" + strconv.FormatInt(seq, 10)
	if parts > 1 {
		id += "." + strconv.Itoa(part+1)
	}
	return id
}

// ParseEventID parses a public id. part is -1 when the id names the whole event.
func ParseEventID(id string) (conversation string, seq int64, part int, ok bool) {
	conversation, rest, ok := strings.Cut(id, ":")
	if !ok {
		return "", 0, 0, false
	}
	part = -1
	number, dotted, hasPart := strings.Cut(rest, ".")
	if hasPart {
		n, err := strconv.Atoi(dotted)
		if err != nil || n < 1 {
			return "", 0, 0, false
		}
		part = n - 1
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	return conversation, seq, part, err == nil && seq >= 1 && conversation != "" // 0 would be no bound, so every event
}
