package kimi

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tokenNames are the names of token counts in one of the two programs.
type tokenNames struct{ input, output, read, written string }

var (
	codeTokens = tokenNames{"inputOther", "output", "inputCacheRead", "inputCacheCreation"}
	wireTokens = tokenNames{"input_other", "output", "input_cache_read", "input_cache_creation"}
)

// The marks in usage keys of Kimi Code, after the run id if the line has no time.
const (
	recordMark = " record "
	stepMark   = " step "
)

// readUsage reads the tokens of a request; nil if there are none.
func (p *parser) readUsage(l line, v jsontext.Value, of tokenNames, mark string) *transcript.Usage {
	u := &transcript.Usage{Run: p.run, Conversation: p.conversation, Time: l.at, Origin: l.origin, Requests: transcript.Known(1)}
	for key, f := range v.Fields() {
		n := f.Tokens()
		switch key {
		case of.input:
			u.Input = n
		case of.output:
			u.Output = n
		case of.read:
			u.CacheRead = n
		case of.written:
			u.CacheWrite = n
		}
	}
	if !u.Input.Known && !u.Output.Known && !u.CacheRead.Known && !u.CacheWrite.Known {
		return nil
	}
	if mark != "" {
		// Kimi Code rewrites the file for another protocol version, so offsets are no identity, and copies it into forks, whose origin may be gone.
		of := ""
		if !l.at.Valid {
			of = p.run
		}
		u.Key = p.uniqueKey(of + mark + string(l.clock.Raw()) + " " + l.model.Str() + " " + countsText(u))
	}
	return u
}

// countsText returns the counts of a request as text.
func countsText(u *transcript.Usage) string {
	var b []byte
	for _, n := range []transcript.Count{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		b = append(strconv.AppendInt(b, n.N, 10), '/')
	}
	return string(b)
}

// uniqueKey numbers equal keys within a file.
func (p *parser) uniqueKey(key string) string {
	p.keys[key]++
	if n := p.keys[key]; n > 1 {
		return key + "#" + strconv.Itoa(n)
	}
	return key
}
