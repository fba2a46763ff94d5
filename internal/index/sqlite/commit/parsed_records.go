package commit

import (
	"encoding/json"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
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
	if c.changes.Resolver(o.Format).Usage {
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
	return c.insertUsage(o.Version, name, u, resolve.UsageID(key), alias, stated, false)
}

func (c *commit) insertUsage(version, name int64, u *transcript.Usage, usageID string, alias, stated any, ledger bool) error {
	if err := c.changes.BeforeUsage(); err != nil {
		return err
	}
	inner, err := c.Name(u.Origin.Inner)
	if err != nil {
		return err
	}
	attributes, err := write.Attributes(u.Attributes)
	if err != nil {
		return err
	}
	calculated, texts, err := c.Priced(c.batch.Prices, u)
	if err != nil {
		return err
	}
	c.boundsOf(version).spent(u, calculated)
	verdict := schema.VerdictNumber[u.Verdict]
	if verdict == schema.Counted {
		c.AddPendingSum(name, version, texts, u, calculated)
	}
	conversation := any(u.Conversation)
	if u.Conversation == u.Run {
		conversation = nil
	}
	return c.usages.Add(usageID, alias, version, name, conversation, texts, verdict, verdict, u.Rank,
		write.NullTime(u.Time), write.NullZone(u.Time), write.Null(u.RequestID),
		write.NullCount(u.Input), write.NullCount(u.Output), write.NullCount(u.CacheRead), write.NullCount(u.CacheWrite), write.NullCount(u.CacheWrite1h),
		write.NullCount(u.Reasoning), write.NullCount(u.Requests), write.NullCount(u.Cost), write.Flag(u.Estimated), calculated, write.Null(u.Receipt), stated, attributes, write.Flag(ledger),
		u.Origin.Line, u.Origin.Offset, u.Origin.Length, inner)
}

// SQLite assigns the ids: rows with given ids may fail one by one, for which it would keep a copy of each page.
const usageFields = `usage_id, alias, version, run_name, native_conversation, texts, stated_verdict=0, verdict=0, rank,
	time, tz, request_id, input, output, cache_read, cache_write, cache_write_1h, reasoning, requests, reported, estimated=0,
	calculated, receipt, stated, attributes, ledger=0, line, offset, length, inner`

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
		attributes, err := write.Attributes(r.Attributes)
		if err != nil {
			return err
		}
		stated, err := json.Marshal(r)
		if err != nil {
			return err
		}
		args := []any{o.Version, name, r.Key, r.Conversation, write.Null(r.Kind), write.Null(r.Flow), write.Null(r.Step), write.Null(r.Agent), write.Null(r.Engine),
			write.Null(r.Provider), write.Null(r.Model), write.Null(r.Mode), write.Null(r.Status), write.Null(string(r.Outcome)), write.Null(r.Error),
			write.NullTime(r.Started), write.NullTime(r.Ended), write.NullCount(r.Duration), write.Null(r.Transcript), write.NullCount(r.ToolCalls), write.Flag(r.Stub),
			string(stated), attributes}
		if err := c.ExecDirect(`INSERT INTO receipts (version, run_name, key, native_conversation, kind, flow, step, agent, engine,
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
		attributes, err := write.Attributes(s.Attributes)
		if err != nil {
			return err
		}
		var stated any
		if c.changes.Resolver(o.Format).Resolve != nil {
			b, err := json.Marshal(s)
			if err != nil {
				return err
			}
			stated = string(b)
		}
		args := []any{o.Version, name, s.Key, s.Rank, s.Conversation, write.Null(s.Parent), write.Null(s.Name), write.Null(s.Kind), write.Null(s.Path), write.Null(s.Flow),
			write.Null(s.Agent), write.Null(s.Engine), write.Null(s.Model), write.NullCount(s.Iteration), write.NullCount(s.Attempt), write.Null(s.Status), write.Null(string(s.Outcome)),
			write.Null(s.Error), write.NullTime(s.Started), write.NullTime(s.Ended), write.NullCount(s.Duration), write.Null(s.ChildRun), stated, attributes}
		if err := c.ExecDirect(insertStep, append(args, place...)...); err != nil {
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
	format, err := c.NameID(o.Format)
	if err != nil {
		return err
	}
	if len(o.Links) > 0 {
		c.changes.StateLinks(o.Version)
	}
	for _, l := range o.Links {
		from, to := c.end(o, l.From), c.end(o, l.To)
		place, err := c.place(l.Origin)
		if err != nil {
			return err
		}
		attributes, err := write.Attributes(l.Attributes)
		if err != nil {
			return err
		}
		edge, err := c.changes.Edge(o.Format, l.Kind, from, to)
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
			c.changes.TouchEvent(event.(int64), true) // its rows may be those of a copy of this original
		}
		args := []any{o.Version, edge, l.Kind, from[0], from[1], from[2], from[3], to[0], to[1], to[2], to[3], format, statement,
			write.Flag(l.Uncounted), event, native, write.NullTime(l.Time), write.NullZone(l.Time), attributes}
		if err := c.ExecDirect(`INSERT INTO links (version, edge, kind, from_type, from_scope, from_id, from_conversation,
			to_type, to_scope, to_id, to_conversation, format, statement, uncounted, event, event_native, time, tz, attributes, line, offset, length, inner)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(args, place...)...); err != nil {
			return err
		}
	}
	return nil
}

// eventOf returns how a link refers to the event that states it: the hash and the native id of its rows, nils for "".
func eventOf(format, id string) (event, native any) {
	if id == "" {
		return nil, nil
	}
	n := index.ParseNativeID(id)
	return index.EventHash(format, id), write.NullNative(&n)
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
