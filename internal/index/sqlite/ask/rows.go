package ask

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

// selectEvents selects the columns of events. It must be followed by a WHERE on e.
const selectEvents = `SELECT e.id, e.transcript, e.seq, e.part, e.parts, e.verdict, e.inner, e.time, e.tz,
	coalesce(e.time, e.near, 0), e.text_bytes, e.scene, e.native, e.attributes, (SELECT call_id FROM calls WHERE event = e.id), (SELECT failed FROM results WHERE event = e.id),
	e.line, e.offset, e.length FROM events e `

// eventRow is an event with its private id and the ids of names and scenes, which complete resolves from the cache.
type eventRow struct {
	id, transcript int64
	verdict        int
	inner          int64 // name, 0: none
	scene          int64
	native         any
	index.Event
}

func scanEvent(rows *sqlx.Rows) (r eventRow, err error) {
	p := &r.Place
	return r, rows.Scan(&r.id, &r.transcript, &r.Seq, &r.Part, &r.Parts, &r.verdict, engine.Number(&r.inner),
		engine.Time(&r.Time), engine.Zone(&r.Time), &r.Near, &r.TextBytes, &r.scene, &r.native, engine.Text(&r.Attributes),
		engine.Text(&r.Call), engine.Truth(&r.Failed), &p.Line, &p.Offset, &p.Length)
}

// owner has what all rows of a transcript have in common.
type owner struct {
	transcript        int64
	conversation, run string
	base              int64 // of seq
	verdict           int
	place             index.Place // of the original
}

const selectOwners = `SELECT t.id, c.conversation_id, r.run_id, t.seq_base, t.verdict,
	s.name, f.path, v.number, (SELECT name FROM names WHERE id = r.format), (SELECT name FROM names WHERE id = v.role), v.chain
	FROM json_each(?) j CROSS JOIN transcripts t ON t.id = j.value CROSS JOIN conversations c ON c.id = t.conversation
	CROSS JOIN runs r ON r.id = c.run CROSS JOIN versions v ON v.id = t.version CROSS JOIN files f ON f.id = v.file
	CROSS JOIN sources s ON s.id = f.source`

func scanOwner(rows *sqlx.Rows) (o owner, err error) {
	p := &o.place
	return o, rows.Scan(&o.transcript, &o.conversation, &o.run, &o.base, &o.verdict, &p.Source, &p.Path, &p.Number, &p.Format, engine.Text(&p.Role), &p.Chain)
}

// maxCached bounds how many owners, names and scenes are cached, each.
const maxCached = 4096

// events reads rows, without those that no longer have an owner.
func (r *snapshot) events(ctx context.Context, query string, args ...any) (found []eventRow, err error) {
	err = engine.Each(ctx, r, selectEvents+query, args, scanEvent, func(e eventRow) bool { found = append(found, e); return true })
	if err != nil {
		return nil, err
	}
	return r.complete(ctx, found)
}

// complete fills in what rows have in common with others. It drops those without an owner.
func (r *snapshot) complete(ctx context.Context, rows []eventRow) ([]eventRow, error) {
	var owners, names, scenes []int64
	for _, e := range rows {
		owners, names, scenes = append(owners, e.transcript), append(names, e.inner), append(scenes, e.scene)
	}
	if err := r.loadOwners(ctx, owners); err != nil {
		return nil, err
	}
	if err := r.loadNames(ctx, names); err != nil {
		return nil, err
	}
	if err := r.loadScenes(ctx, scenes); err != nil {
		return nil, err
	}
	owned := rows[:0]
	for _, e := range rows {
		o, ok := r.owners[e.transcript]
		if !ok {
			continue
		}
		e.Conversation, e.Run, e.Seq = o.conversation, o.run, e.Seq+o.base
		scene := r.scenes[e.scene]
		e.Kind, e.Role, e.Type, e.Tool = transcript.Kind(scene.kind), scene.role, scene.typ, scene.tool
		e.Agent, e.Model, e.Flow, e.Step = scene.agent, scene.model, scene.flow, scene.step
		if e.Part == 0 {
			e.Attributes = schema.EventJSON(scene.attributes, e.native, e.Attributes)
		}
		origin := e.Place.Origin
		e.Place = o.place
		e.Place.Origin, e.Place.Inner = origin, r.names[e.inner]
		if o.verdict != schema.Counted {
			e.verdict = o.verdict
		}
		e.Verdict, e.Counted = schema.Verdicts[e.verdict], e.verdict == schema.Counted && e.Part == 0
		e.ID = schema.EventID(e.Conversation, e.Seq, e.Part, e.Parts)
		owned = append(owned, e)
	}
	return owned, nil
}

func (r *snapshot) loadOwners(ctx context.Context, ids []int64) error {
	return loadMissing(ids, r.owners, func(unknown string) error {
		return engine.Each(ctx, r, selectOwners, []any{unknown}, scanOwner, func(o owner) bool { r.owners[o.transcript] = o; return true })
	})
}

// loadNames makes sure that names are cached.
func (r *snapshot) loadNames(ctx context.Context, ids []int64) error {
	return loadMissing(ids, r.names, func(unknown string) error {
		return engine.Each(ctx, r, "SELECT id, name FROM names WHERE id IN (SELECT value FROM json_each(?))", []any{unknown}, scanName,
			func(n name) bool { r.names[n.id] = n.text; return true })
	})
}

// scene has the values that many events have in common.
type scene struct {
	kind, role, typ, tool    string
	agent, model, flow, step string
	attributes               string // these four, as JSON
}

const selectScenes = `SELECT s.id, s.said, k.name, coalesce(r.name, ''), coalesce(t.name, ''), coalesce(o.name, ''), s.agent, s.model, s.flow, s.step FROM scenes s
	LEFT JOIN names k ON k.id = s.kind LEFT JOIN names r ON r.id = s.role LEFT JOIN names t ON t.id = s.type LEFT JOIN names o ON o.id = s.tool`

type sceneRow struct {
	id int64
	scene
}

func scanScene(rows *sqlx.Rows) (s sceneRow, err error) {
	return s, rows.Scan(&s.id, &s.attributes, &s.kind, &s.role, &s.typ, &s.tool, &s.agent, &s.model, &s.flow, &s.step)
}

// loadScenes makes sure that scenes are cached.
func (r *snapshot) loadScenes(ctx context.Context, ids []int64) error {
	return loadMissing(ids, r.scenes, func(unknown string) error {
		return engine.Each(ctx, r, selectScenes+" WHERE s.id IN (SELECT value FROM json_each(?))", []any{unknown}, scanScene,
			func(s sceneRow) bool { r.scenes[s.id] = s.scene; return true })
	})
}

// loadMissing calls ask with the ids that are not in known yet; id 0 means none.
func loadMissing[T any](ids []int64, known map[int64]T, ask func(unknown string) error) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { _, ok := known[id]; return ok || id == 0 })
	if len(unknown) == 0 {
		return nil
	}
	if len(known)+len(unknown) > maxCached {
		clear(known)
		unknown = ids
	}
	return ask(asList(unknown))
}
