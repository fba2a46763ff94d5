package copilotcli

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// storeName is the database that newer versions keep beside session-state. Its table of requests has the usage of each; all other
// tables repeat the sessions' own files.
const (
	storeName  = "session-store.db"
	tableUsage = "assistant_usage_events"
	usageFile  = "usage.ndjson"
)

// Split takes the requests out of the database, one original per session. Databases of older versions lack the
// table.
func (copilot) Split(role string) []format.Split {
	if role != roleStore {
		return nil
	}
	return []format.Split{{
		Role: roleUsage,
		With: []string{tableUsage},
		Keys: `SELECT session_id || '/usage', coalesce(strftime('%s', max(created_at)) * 1000, 0), count(*) + max(rowid), session_id
			FROM assistant_usage_events WHERE session_id IS NOT NULL GROUP BY session_id ORDER BY session_id`,
		Rows: []format.Query{{
			Name: roleUsage, SQL: `SELECT * FROM assistant_usage_events WHERE session_id = ?1 ORDER BY rowid`, JSON: []string{"token_details_json"},
		}},
	}}
}

// Apart reports whether originals of a role come out of session-store.db.
func (copilot) Apart(role string) bool { return role == roleStore || role == roleUsage }

// storedRequests yields the usage of each request of a session.
func (p *parser) storedRequests() {
	p.session = sessionOf(p.in.Path)
	named := map[string]bool{}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		session := cmp.Or(o.Value.Get("session_id").Text(), p.session)
		if !named[session] {
			named[session] = true
			p.Emit(&transcript.Run{ID: session, Named: true})
		}
		if u := storedRequest(session, o); u != nil {
			p.Emit(u)
		} else {
			p.Emit(&transcript.Event{
				Run: session, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleUsage, Origin: o.Origin, Parts: []transcript.Part{{}},
			})
		}
	}
}

// storedRequest reads a row; nil if it has no counts. The key includes the row's time, because rows are numbered anew after the
// database was lost.
func storedRequest(session string, o jsontext.Object) *transcript.Usage {
	v := o.Value
	u := requestOf(v, "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
	if u == nil {
		return nil
	}
	at := v.Get("created_at")
	u.Run, u.Conversation, u.Key, u.Time, u.Origin = session, session, fmt.Sprintf("%s%s%s#%s", session, storeMark, at.Text(), v.Get("id").Text()), at.Time(), o.Origin
	u.Model, u.Agent, u.Status = v.Get("model").Str(), v.Get("agent_id").Str(), v.Get("finish_reason").Str()
	if n, ok := v.Get("total_nano_aiu").Int(); ok && n > 0 {
		u.Attributes = transcript.Attributes{"nano_aiu": n}
	}
	return u
}

// requestOf reads the counts of one request from members with these names; nil if there are none. As in session.shutdown, input
// includes the cached tokens, and output includes reasoning.
func requestOf(v jsontext.Value, input, output, read, write, reasoning string) *transcript.Usage {
	u := &transcript.Usage{
		Input: v.Get(input).Count(), Output: v.Get(output).Count(), CacheRead: v.Get(read).Count(), CacheWrite: v.Get(write).Count(),
		Reasoning: v.Get(reasoning).Count(), Requests: transcript.Known(1),
	}
	if !u.Input.Known && !u.Output.Known && !u.CacheRead.Known && !u.CacheWrite.Known {
		return nil
	}
	if u.Input.Known && !format.ExcludeCache(u) {
		u.Input.N = 0
	}
	return u
}
