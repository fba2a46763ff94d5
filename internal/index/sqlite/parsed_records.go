package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usageIdentity identifies a request over the whole archive: by the producer's own id, else by all that it states and its place
// in the original, so that a copy of the file has the same identity.
func usageIdentity(o *owner, u *transcript.Usage, ordinal int) []string {
	if u.Key != "" {
		return []string{"usage", o.Format, u.Key}
	}
	said := *u
	said.Attributes, said.Verdict = nil, ""
	return []string{"usage", o.Format, fmt.Sprint(said), fmt.Sprint(ordinal)}
}

func (c *commit) usage(o *owner) error {
	ordinals := map[transcript.Origin]int{}
	for _, u := range o.Usage {
		place := transcript.Origin{Inner: u.Origin.Inner, Offset: u.Origin.Offset}
		identity := usageIdentity(o, u, ordinals[place])
		ordinals[place]++
		if err := c.writeUsage(o, u, identity); err != nil {
			return err
		}
	}
	return nil
}

func (c *commit) writeUsage(o *owner, u *transcript.Usage, identity []string) error {
	name, err := c.runName(o, u.Run)
	if err != nil {
		return err
	}
	var stated any
	if c.resolver(o.Format).Usage {
		b, err := json.Marshal(u)
		if err != nil {
			return err
		}
		stated = string(b)
	}
	key, alias := index.IDNumber(identity...), any(nil)
	c.seeUsage(key, false)
	if u.Alias != "" {
		other := index.IDNumber("usage", o.Format, u.Alias)
		alias = other
		c.seeUsage(other, true)
	}
	return c.insertUsage(o.version, name, u, usageID(key), alias, stated, false)
}

// A usage_id is also known by its number. Rows hold the text, because that is what people search for.
func usageID(key int64) string { return index.FormatID("u", key) }

func usageKey(id string) (int64, error) {
	key, ok := index.ParseID("u", id)
	if !ok {
		return 0, fmt.Errorf("%q is no id of usage", id)
	}
	return key, nil
}

// usageIDScanner scans a usage_id as its number.
type usageIDScanner struct{ to *int64 }

func (k usageIDScanner) Scan(v any) (err error) {
	id, _ := v.(string)
	*k.to, err = usageKey(id)
	return err
}

func (c *commit) insertUsage(version, name int64, u *transcript.Usage, usageID string, alias, stated any, ledger bool) error {
	if c.usageBefore < 0 {
		if _, err := c.getDirect("SELECT coalesce(max(id), 0) FROM usage", nil, &c.usageBefore); err != nil {
			return err
		}
	}
	inner, err := c.name(u.Origin.Inner)
	if err != nil {
		return err
	}
	attributes, err := jsonOrNil(u.Attributes)
	if err != nil {
		return err
	}
	calculated, texts, err := c.priced(u)
	if err != nil {
		return err
	}
	c.boundsOf(version).spent(u, calculated)
	verdict := schema.VerdictNumber[u.Verdict]
	if verdict == schema.Counted {
		c.addPendingSum(name, version, texts, u, calculated)
	}
	conversation := any(u.Conversation)
	if u.Conversation == u.Run {
		conversation = nil
	}
	return c.usages.add(usageID, alias, version, name, conversation, texts, verdict, verdict, u.Rank,
		nullTime(u.Time), nullZone(u.Time), null(u.RequestID),
		nullCount(u.Input), nullCount(u.Output), nullCount(u.CacheRead), nullCount(u.CacheWrite), nullCount(u.CacheWrite1h),
		nullCount(u.Reasoning), nullCount(u.Requests), nullCount(u.Cost), flag(u.Estimated), calculated, null(u.Receipt), stated, attributes, flag(ledger),
		u.Origin.Line, u.Origin.Offset, u.Origin.Length, inner)
}

// usageRows returns the inserter of usage, which is flushed before anything reads the table.
func usageRows(t *tx) *inserter {
	return &inserter{t: t, into: "OR FAIL INTO usage", columns: columnList(usageFields)}
}

// SQLite assigns the ids: rows with given ids may fail one by one, for which it would keep a copy of each page.
const usageFields = `usage_id, alias, version, run_name, native_conversation, texts, stated_verdict=0, verdict=0, rank,
	time, tz, request_id, input, output, cache_read, cache_write, cache_write_1h, reasoning, requests, reported, estimated=0,
	calculated, receipt, stated, attributes, ledger=0, line, offset, length, inner`

// priced returns the columns calculated and texts.
func (c *commit) priced(u *transcript.Usage) (calculated any, texts int64, err error) {
	said := textsOf(u)
	if c.batch.Prices != nil {
		calculated = said.price(c.batch.Prices, u)
	}
	texts, err = c.textsID(said)
	return calculated, texts, err
}

// price sets the texts that say how a record was priced, and returns the price.
func (s *usageTexts) price(book *price.Book, u *transcript.Usage) (calculated any) {
	r := book.Price(price.Request{Model: u.Model, Provider: u.Provider, Tier: u.Tier, Speed: u.Speed, Geo: u.Geo, Time: u.Time,
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWrite1h: u.CacheWrite1h, Reasoning: u.Reasoning,
		Requests: u.Requests})
	note := r.Reason
	if note == "" {
		note = strings.Join(r.Flags, "; ")
	}
	s[priceModel], s[priceTable], s[priceNote] = r.Match.Key, r.Match.TableDate, note
	return nullCount(r.NanoUSD)
}

func (c *commit) receipts(o *owner) error {
	for _, r := range o.Receipts {
		name, err := c.runName(o, r.Run)
		if err != nil {
			return err
		}
		place, err := c.place(r.Origin)
		if err != nil {
			return err
		}
		attributes, err := jsonOrNil(r.Attributes)
		if err != nil {
			return err
		}
		stated, err := json.Marshal(r)
		if err != nil {
			return err
		}
		args := []any{o.version, name, r.Key, r.Conversation, null(r.Kind), null(r.Flow), null(r.Step), null(r.Agent), null(r.Engine),
			null(r.Provider), null(r.Model), null(r.Mode), null(r.Status), null(string(r.Outcome)), null(r.Error),
			nullTime(r.Started), nullTime(r.Ended), nullCount(r.Duration), null(r.Transcript), nullCount(r.ToolCalls), flag(r.Stub),
			string(stated), attributes}
		if err := c.execDirect(`INSERT INTO receipts (version, run_name, key, native_conversation, kind, flow, step, agent, engine,
			provider, model, mode, status, outcome, error, started, ended, duration, transcript, tool_calls, stub, stated, attributes,
			line, offset, length, inner, verdict)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`, append(args, place...)...); err != nil {
			return err
		}
	}
	return nil
}

func (c *commit) steps(o *owner) error {
	for _, s := range o.Steps {
		name, err := c.runName(o, s.Run)
		if err != nil {
			return err
		}
		place, err := c.place(s.Origin)
		if err != nil {
			return err
		}
		attributes, err := jsonOrNil(s.Attributes)
		if err != nil {
			return err
		}
		var stated any
		if c.resolver(o.Format).Resolve != nil {
			b, err := json.Marshal(s)
			if err != nil {
				return err
			}
			stated = string(b)
		}
		args := []any{o.version, name, s.Key, s.Rank, s.Conversation, null(s.Parent), null(s.Name), null(s.Kind), null(s.Path), null(s.Flow),
			null(s.Agent), null(s.Engine), null(s.Model), nullCount(s.Iteration), nullCount(s.Attempt), null(s.Status), null(string(s.Outcome)),
			null(s.Error), nullTime(s.Started), nullTime(s.Ended), nullCount(s.Duration), null(s.ChildRun), stated, attributes}
		if err := c.execDirect(insertStep, append(args, place...)...); err != nil {
			return err
		}
	}
	return nil
}

const insertStep = `INSERT INTO steps (version, run_name, key, rank, native_conversation, parent, name, kind, path, flow, agent, engine,
	model, iteration, attempt, status, outcome, error, started, ended, duration, child_run, stated, attributes, line, offset, length, inner, verdict)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
	ON CONFLICT (version, run_name, key) DO UPDATE SET status = coalesce(excluded.status, status), outcome = coalesce(excluded.outcome, outcome),
	error = coalesce(excluded.error, error), started = coalesce(started, excluded.started), ended = coalesce(excluded.ended, ended),
	duration = coalesce(excluded.duration, duration), child_run = coalesce(excluded.child_run, child_run), kind = coalesce(kind, excluded.kind),
	model = coalesce(excluded.model, model), attributes = coalesce(excluded.attributes, attributes), stated = excluded.stated
	WHERE (excluded.status, excluded.outcome, excluded.error, excluded.ended, excluded.duration, excluded.child_run, excluded.attributes)
	IS NOT (status, outcome, error, ended, duration, child_run, attributes)`

func (c *commit) links(o *owner) error {
	format, err := c.nameID(o.Format)
	if err != nil {
		return err
	}
	if len(o.Links) > 0 {
		c.linking = append(c.linking, o.version)
	}
	for _, l := range o.Links {
		from, to := c.end(o, l.From), c.end(o, l.To)
		place, err := c.place(l.Origin)
		if err != nil {
			return err
		}
		attributes, err := jsonOrNil(l.Attributes)
		if err != nil {
			return err
		}
		edge, err := c.edge(o.Format, l.Kind, from, to)
		if err != nil {
			return err
		}
		statement := index.Hash("statement", l.ID) // only compared within one edge
		if l.ID == "" {
			statement = index.Hash("statement", fmt.Sprint(l.Time), fmt.Sprint(l.Origin.Offset))
		}
		var event, native any
		if l.Event != "" && !l.Uncounted {
			event, native = eventOf(o.Format, l.Event)
			c.eids[event.(int64)] = true // its rows may be those of a copy of this original
		}
		args := []any{o.version, edge, l.Kind, from[0], from[1], from[2], from[3], to[0], to[1], to[2], to[3], format, statement,
			flag(l.Uncounted), event, native, nullTime(l.Time), nullZone(l.Time), attributes}
		if err := c.execDirect(`INSERT INTO links (version, edge, kind, from_type, from_scope, from_id, from_conversation,
			to_type, to_scope, to_id, to_conversation, format, statement, uncounted, event, event_native, time, tz, attributes, line, offset, length, inner)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(args, place...)...); err != nil {
			return err
		}
	}
	return nil
}

// end returns type, scope, id and conversation of one end of a link. An end that is named where run ids are local means the run
// of that place.
func (c *commit) end(o *owner, e transcript.End) []string {
	scope := ""
	if e.Type == "run" || e.Type == "conversation" {
		for _, r := range o.Runs {
			if r.Local {
				scope = c.sites.Scope(o.Source, o.Claim)
			}
		}
	}
	return []string{e.Type, scope, e.ID, e.Conversation}
}

// resolver returns the resolver of a format.
func (c *commit) resolver(format string) index.Resolver {
	if c.batch.Resolvers == nil {
		return index.Resolver{}
	}
	return c.batch.Resolvers(format)
}
