package cursor

import (
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tags is what Cursor wraps around a prompt.
type tags struct {
	at       transcript.Time
	query    string // the user's text, as far as it can be told
	injected bool   // the text was injected by Cursor
}

const (
	beginTime, endTime   = "<timestamp>", "</timestamp>"
	beginQuery, endQuery = "<user_query>", "</user_query>"
)

// injectedTags begin messages that Cursor injects in the user's role.
var injectedTags = []string{
	"<user_info>", "<system_notification>", "<system_reminder>", "<system-reminder>", "<open_and_recently_viewed_files>", "<agent_transcripts>", "<rules>", "<git_status>",
	"<project_layout>", "<always_applied_workspace_rules>", "<agent_requestable_workspace_rules>", "<user_rules>", "<cursor_rules_context>", "<agent_skills>",
	"<available_skills>", "<instructions_update>", "<mcp_instructions>", "<mcp_file_system>", "<mcp_file_system_servers>", "<task_notification>", "<agent_notification>",
}

// readTags separates the time and the user's text of a prompt from the tags around them.
func readTags(text string) (t tags) {
	rest := strings.TrimSpace(text)
	if after, ok := strings.CutPrefix(rest, beginTime); ok {
		if stamp, suffix, ok := strings.Cut(after, endTime); ok {
			t.at, rest = readTime(stamp), strings.TrimSpace(suffix)
		}
	}
	_, query, ok := strings.Cut(rest, beginQuery)
	if ok {
		t.query, _, _ = strings.Cut(query, endQuery)
		return t
	}
	for _, note := range injectedTags {
		if strings.HasPrefix(rest, note) {
			t.injected = true
			return t
		}
	}
	t.query = rest
	return t
}

// unwrap removes the tags around a prompt: the time, if it can be read, and those of the query.
func unwrap(text string) string {
	rest := strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(rest, beginTime) && !strings.HasPrefix(rest, beginQuery) {
		return text
	}
	if after, ok := strings.CutPrefix(rest, beginTime); ok {
		stamp, suffix, ok := strings.Cut(after, endTime)
		if !ok || !readTime(stamp).Valid {
			return text
		}
		rest = strings.TrimLeft(suffix, " \t\r\n")
	}
	query, ok := strings.CutPrefix(rest, beginQuery)
	if !ok {
		return rest
	}
	query, suffix, _ := strings.Cut(query, endQuery)
	if query = strings.TrimSpace(query); strings.TrimSpace(suffix) != "" {
		query += "\n" + strings.TrimSpace(suffix)
	}
	return query
}

var timeAndZone = lazyregexp.New(`^(.*\S)\s*\(UTC(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\)$`)

// readTime reads "Friday, Jul 17, 2026, 12:26 AM (UTC+9)".
func readTime(stamp string) transcript.Time {
	stamp = strings.TrimSpace(stamp)
	if len(stamp) > 80 {
		return transcript.Time{}
	}
	m := timeAndZone.FindStringSubmatch(stamp)
	if m == nil {
		return transcript.Time{}
	}
	minutes := 0
	for i, unit := range []int{60, 1} {
		n := 0
		for _, c := range m[3+i] {
			n = n*10 + int(c-'0')
		}
		minutes += n * unit
	}
	if m[2] == "-" {
		minutes = -minutes
	}
	for _, layout := range []string{"Monday, Jan 2, 2006, 3:04 PM", "Monday, January 2, 2006, 3:04 PM", "Monday, Jan 2, 2006, 15:04"} {
		at, err := time.Parse(layout, strings.Join(strings.Fields(m[1]), " "))
		if err == nil && at.Year() > 1970 && minutes > -24*60 && minutes < 24*60 {
			return transcript.Time{UnixMicro: at.UnixMicro() - int64(minutes)*60e6, Offset: int16(minutes), Valid: true}
		}
	}
	return transcript.Time{}
}
