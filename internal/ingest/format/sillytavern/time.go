package sillytavern

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// timeOf reads a time in any of the forms that the program has written. Those for people are in the time of the user's place, which is nowhere
// stated: they are taken as they are.
//
//	1686148784000                  also as a string
//	2025-11-03T10:00:00.000Z
//	June 19, 2023 2:20pm
//	2024-6-5 @14h 56m 50s 682ms    with or without its spaces and its milliseconds
func timeOf(v jsontext.Value) transcript.Time {
	if !v.IsString() {
		return v.MilliTime()
	}
	if at := v.Time(); at.Valid {
		return at
	}
	s := strings.ToLower(strings.TrimSpace(v.Str()))
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return timestamp.UnixMilli(ms)
	}
	if at, err := time.Parse("January 2, 2006 3:04pm", s); err == nil {
		return timestamp.UnixMilli(at.UnixMilli())
	}
	return humanized(s)
}

// humanized reads the form with @ and h, m and s.
func humanized(s string) transcript.Time {
	date, clock, ok := strings.Cut(s, "@")
	numbers := func(s, between string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(between, r) })
	}
	d, c := numbers(date, "- "), numbers(clock, "hms ")
	if len(c) == 3 {
		c = append(c, "0")
	}
	if !ok || len(d) != 3 || len(c) != 4 {
		return transcript.Time{}
	}
	var n [7]int
	for i, s := range append(d, c...) {
		var err error
		if n[i], err = strconv.Atoi(s); err != nil || n[i] < 0 || n[i] > 9999 {
			return transcript.Time{}
		}
	}
	return timestamp.Parse(fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03d", n[0], n[1], n[2], n[3], n[4], n[5], n[6]))
}
