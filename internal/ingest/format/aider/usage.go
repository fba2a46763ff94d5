package aider

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// What Aider prints about itself: its version, the model that answers from there on, and the tokens of a prompt. Before July 2024 it
// printed exact tokens per request (aboutRequest).
var (
	aboutVersion = lazyregexp.New(`^[Aa]ider v([0-9][0-9A-Za-z.+-]*)`)
	aboutModel   = lazyregexp.New(`^(?:Main model|Model|Models): ([^\s,]+)(?:$|,? (?:with|using) (architect edit)?)`)
	aboutEditor  = lazyregexp.New(`^Editor model: ([^\s,]+) with `)
	aboutTokens  = lazyregexp.New(`^Tokens: ([0-9.,kM]+) sent(?:, ([0-9.,kM]+) cache write)?(?:, ([0-9.,kM]+) (?:cache hit|cached))?, ([0-9.,kM]+) received\.?(?:\s+Cost: \$([0-9.,]+) [a-z]+(?:, \$([0-9.,]+) session)?)?`)
	aboutRequest = lazyregexp.New(`^([0-9,]+) prompt tokens, ([0-9,]+) completion tokens(?:, \$([0-9.,]+) cost)?`)
)

// applyNotice updates the conversation from a message of Aider.
func (t *session) applyNotice(text string) {
	if m := aboutVersion.FindStringSubmatch(text); m != nil {
		t.version = strings.TrimRight(m[1], ".")
	}
	if m := aboutModel.FindStringSubmatch(text); m != nil {
		t.model, t.speaker, t.editor = m[1], m[1], ""
		t.architect = m[2] != ""
		t.turn.architect = t.architect
	} else if m := aboutEditor.FindStringSubmatch(text); m != nil {
		t.editor = m[1]
	}
}

// emitUsage yields the usage that a message of Aider states. It ignores the session's cost, a running total.
func (p *parser) emitUsage(s closedBlock) {
	var input, written, read, output, cost string
	rounded := false
	if m := aboutTokens.FindStringSubmatch(s.text); m != nil {
		input, written, read, output, cost, rounded = m[1], m[2], m[3], m[4], m[5], true
	} else if m := aboutRequest.FindStringSubmatch(s.text); m != nil {
		input, output, cost = m[1], m[2], m[3]
	} else {
		return
	}
	t := &p.session
	t.counts["usage"]++
	u := &transcript.Usage{
		Run: t.id, Conversation: conversation, Key: t.id + "/" + strconv.Itoa(t.counts["usage"]), Time: t.at, Origin: s.at, Model: s.model,
		Input: parseCount(input), Output: parseCount(output), CacheWrite: parseCount(written), CacheRead: parseCount(read), Requests: transcript.Known(1), Estimated: rounded,
	}
	if u.Input.Known && !format.ExcludeCache(u) { // "sent" includes the cached part
		u.Input.N = 0
	}
	if v, err := jsontext.Parse([]byte(strings.TrimRight(strings.ReplaceAll(cost, ",", ""), "."))); err == nil {
		if n := v.NanoUSD(); n.Known {
			u.Cost, u.CostSource = n, "Cost"
		}
	}
	p.Emit(u)
}

// parseCount reads a token count as Aider prints it: 312, 1,234, 4.2k, 18k.
func parseCount(text string) transcript.Count {
	scale := 1.0
	switch {
	case strings.HasSuffix(text, "k"):
		scale = 1e3
	case strings.HasSuffix(text, "M"):
		scale = 1e6
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(text, "kM."), ",", ""), 64)
	if err != nil || n*scale > 1e15 {
		return transcript.Count{}
	}
	return transcript.Known(int64(n*scale + 0.5))
}
