package lmstudio

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// provider is what prices are looked up for. It has none: the models run on the user's own machine.
const provider = "lmstudio"

// modelOf returns the model of the prediction that made a step.
func modelOf(step jsontext.Value) string {
	info := step.Get("genInfo")
	return cmp.Or(info.Get("identifier").Str(), info.Get("indexedModelIdentifier").Str())
}

// usage yields what the prediction that made a step used.
func (m *version) usage(step jsontext.Value) {
	stats := step.Get("genInfo", "stats")
	u := &transcript.Usage{
		Run: m.Session, Conversation: conversation, Origin: jsontext.OriginIn(m.Row.Origin, m.Row.Value, stats),
		Time: cmp.Or(timeOf(m.step), m.run.Ended, m.run.Started), Model: cmp.Or(modelOf(step), m.model, m.run.Model), Provider: provider,
		Input: stats.Get("promptTokensCount").Tokens(), Output: stats.Get("predictedTokensCount").Tokens(), Requests: transcript.Known(1),
	}
	if u.Input.N+u.Output.N == 0 {
		return
	}
	u.Rank = format.AtHome(0, m.isHome(m.step))
	u.Key = m.keyOf(u, step, stats)
	u.Attributes.Set("stop_reason", stats.Get("stopReason").Str())
	u.Attributes.Set("draft_model", stats.Get("usedDraftModelKey").Str())
	m.Emit(u)
}

// keyOf identifies a prediction: by its statistics if they have a time that no other has, and else by its step, or its place.
func (m *version) keyOf(u *transcript.Usage, step, stats jsontext.Value) string {
	texts := []string{"stats", modelOf(step), fmt.Sprint(u.Input.N), fmt.Sprint(u.Output.N)}
	exact := false
	for _, key := range []string{"tokensPerSecond", "timeToFirstTokenSec", "totalTimeSec"} {
		raw := stats.Get(key).Raw()
		exact = exact || isExact(raw)
		texts = append(texts, string(raw))
	}
	switch {
	case exact:
		return format.HashUUID(texts...)
	case isUnique(m.step):
		return fmt.Sprintf("%s/%d/%d", m.step, u.Input.N, u.Output.N)
	}
	return fmt.Sprintf("%s/%d/%d/%d/%d/%d", m.Session, m.n, m.k, m.number, u.Input.N, u.Output.N)
}

// isExact reports whether a number has as many decimals as only a measured time has.
func isExact(raw []byte) bool {
	const decimals = 9
	_, after, _ := bytes.Cut(raw, []byte("."))
	return len(after) >= decimals
}
