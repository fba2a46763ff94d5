package kimi

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// names are what the two programs call tokens.
type names struct{ input, output, read, written string }

var (
	codeTokens = names{"inputOther", "output", "inputCacheRead", "inputCacheCreation"}
	wireTokens = names{"input_other", "output", "input_cache_read", "input_cache_creation"}
)

// The marks in the keys of usage of Kimi Code, behind the run's id.
const (
	recordMark = " record "
	stepMark   = " step "
)

// most is more than any request has; what is said beyond it must not overflow a sum.
const most = 1 << 40

// spent reads the tokens of a request; nil when there are none.
func (p *parser) spent(l line, v format.Value, of names, mark string) *transcript.Usage {
	u := &transcript.Usage{Run: p.run, Conversation: p.conversation, Time: l.at, Origin: l.origin, Requests: transcript.Known(1)}
	for key, f := range v.Fields() {
		n := f.Count()
		n.N = max(0, min(n.N, most))
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
		// The program writes the file anew when it has another version of the protocol: no place in it lasts.
		u.Key = p.nth(p.run + mark + string(l.clock.Raw()) + " " + l.model.Str() + " " + sum(u))
	}
	return u
}

// sum is the counts of a request as a text.
func sum(u *transcript.Usage) string {
	var b []byte
	for _, n := range []transcript.Count{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		b = append(strconv.AppendInt(b, n.N, 10), '/')
	}
	return string(b)
}

// nth tells what is said twice in a file from what it is like.
func (p *parser) nth(key string) string {
	p.keys[key]++
	if n := p.keys[key]; n > 1 {
		return key + "#" + strconv.Itoa(n)
	}
	return key
}
