package main

import (
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// formatTime formats an instant in local time, or in UTC with --utc. It is "" for an unknown one.
func (a *app) formatTime(t transcript.Time) string {
	if !t.Valid {
		return ""
	}
	return a.formatClock(time.UnixMicro(t.UnixMicro))
}

func (a *app) formatClock(t time.Time) string { return a.formatLayout(t, time.DateTime) }

// formatMinute formats a time without its seconds.
func (a *app) formatMinute(t time.Time) string { return a.formatLayout(t, "2006-01-02 15:04") }

func (a *app) formatLayout(t time.Time, layout string) string {
	if a.utc {
		layout += "Z"
	}
	return t.In(a.location()).Format(layout)
}

// location returns the time zone of dates that people type and read.
func (a *app) location() *time.Location {
	if a.utc {
		return time.UTC
	}
	return a.localZone()
}

// utcRule matches the POSIX rules for UTC, such as UTC0.
var utcRule = lazyregexp.New(`^(?i)(utc|gmt|([a-z]{3,}|<[^<>]*>)[+-]?0+(:0+)*)$`)

// localZone returns the local time zone. Where $TZ names one that Go does not know, which it replaces by UTC, that is noted once.
func (a *app) localZone() *time.Location {
	name := a.getenv("TZ")
	if zone := strings.TrimPrefix(name, ":"); !a.zoneNoted && zone != "" && time.Local.String() == "UTC" && !utcRule.MatchString(zone) {
		a.zoneNoted = true
		a.note("TZ=%s is not a time zone that txarchive knows: times are in UTC. TZ takes names such as Europe/Berlin; --utc omits this note",
			terminal.ShellQuote(name))
	}
	return time.Local
}

// timestamp is a time in a report. It is null in JSON when it is zero.
type timestamp struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t timestamp) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(t.UTC().Format(`"` + transcript.TimeLayout + `"`)), nil
}

// orNull returns a text for JSON, nil if it is empty.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
