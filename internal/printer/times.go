package printer

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// FormatTime formats an instant in local time, or in UTC with --utc. It is "" for an unknown one.
func (p *Printer) FormatTime(t transcript.Time) string {
	if !t.Valid {
		return ""
	}
	return p.FormatClock(time.UnixMicro(t.UnixMicro))
}

// FormatClock formats a time with its seconds.
func (p *Printer) FormatClock(t time.Time) string { return p.formatLayout(t, time.DateTime) }

// FormatMinute formats a time without its seconds.
func (p *Printer) FormatMinute(t time.Time) string { return p.formatLayout(t, "2006-01-02 15:04") }

func (p *Printer) formatLayout(t time.Time, layout string) string {
	if p.UTC {
		layout += "Z"
	}
	return t.In(p.Location()).Format(layout)
}

// FormatStamp formats a time that is written as in JSON; false for any other text.
func (p *Printer) FormatStamp(s string) (string, bool) {
	t, err := time.Parse(transcript.TimeLayout, s)
	return p.FormatClock(t), err == nil
}

// Location returns the time zone of dates that people type and read.
func (p *Printer) Location() *time.Location {
	if p.UTC {
		return time.UTC
	}
	return p.LocalZone()
}

// utcRule matches the POSIX rules for UTC, such as UTC0.
var utcRule = lazyregexp.New(`^(?i)(utc|gmt|([a-z]{3,}|<[^<>]*>)[+-]?0+(:0+)*)$`)

// LocalZone returns the local time zone. Where $TZ names one that Go does not know, which it replaces by UTC, that is noted once.
func (p *Printer) LocalZone() *time.Location {
	name := p.Getenv("TZ")
	if zone := strings.TrimPrefix(name, ":"); !p.zoneNoted && zone != "" && time.Local.String() == "UTC" && !utcRule.MatchString(zone) {
		p.zoneNoted = true
		p.Note("TZ=%s is not a time zone that txarchive knows: times are in UTC. TZ takes names such as Europe/Berlin; --utc omits this note",
			terminal.ShellQuote(name))
	}
	return time.Local
}

// ZoneName returns the IANA name of a zone; for the local zone only if the system tells it.
func (p *Printer) ZoneName(zone *time.Location) string {
	if zone != time.Local || zone.String() != "Local" {
		return zone.String()
	}
	name := strings.TrimPrefix(p.Getenv("TZ"), ":")
	if target, err := os.Readlink("/etc/localtime"); name == "" && err == nil {
		_, name, _ = strings.Cut(filepath.ToSlash(target), "/zoneinfo/")
	}
	if _, err := time.LoadLocation(name); err != nil || name == "" {
		return zone.String()
	}
	return name
}
