package ingest_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestLifeRenamed has databases whose programs give a session another title and another model, which come before the first ones in the alphabet:
// the conversation has what its session says last, like the run.
func TestLifeRenamed(t *testing.T) {
	const said = "SELECT %s.title || '|' || %[1]s.project || coalesce('|' || %[1]s.model, '') FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.verdict = 'counted'"
	for _, c := range []struct {
		format, file, schema string
		first, then          func(*base)
		want                 string
	}{{
		"goose", gooseDir + "sessions.db", gooseFirst + ";" + gooseSeventh,
		func(b *base) {
			b.gooseSession(gooseA, "2026-10-01 09:00:00")
			b.gooseSays(gooseA, "user", gooseText("mend the basket"), 1)
			b.do(`UPDATE sessions SET name = 'The shelf', model_config_json = '{"model_name":"gpt-5"}'`)
		},
		func(b *base) {
			b.do(`UPDATE sessions SET name = 'A basket', model_config_json = '{"model_name":"claude-sonnet-4-5"}', working_dir = '/a', updated_at = '2026-10-01 10:09:00'`)
		},
		"A basket|/a|claude-sonnet-4-5",
	}, {
		"crush", "shop/.crush/crush.db", crushFirst,
		func(b *base) {
			b.crushSession(crushA, nil)
			b.crushSays(crushA, 1, "user", crushText("mend the basket"))
			b.crushSays(crushA, 2, "assistant", crushText("mended"))
		},
		func(b *base) { // no model is that of all answers
			b.crushSays(crushA, 3, "assistant", crushText("again"))
			b.do("UPDATE messages SET model = 'gpt-5' WHERE id = ?", crushMessage(3))
			b.do("UPDATE sessions SET title = 'A basket', updated_at = ?", crushStart+3)
		},
		"A basket|",
	}, {
		"hermes", ".hermes/state.db", hermesFirst + ";" + hermesLater,
		func(b *base) {
			b.hermesSession(hermesA, "", 0)
			b.hermesSays(hermesA, "user", "mend the basket", 1)
			b.do("UPDATE sessions SET title = 'The shelf', cwd = '/home/ada/shop'")
		},
		func(b *base) {
			b.do("UPDATE sessions SET title = 'A basket', cwd = '/a', model = 'gpt-5'")
			b.hermesUsed(hermesA, 10, 1)
		},
		"A basket|/a|gpt-5",
	}} {
		s, w := newTree(t), newWorld(t)
		b := newBase(s, c.file, c.schema)
		c.first(b)
		w.ingest("home", s.dir, ".")
		c.then(b)
		w.ingest("home", s.dir, ".")
		if c.format == "crush" {
			c.want += s.dir + "/shop"
		}
		for _, of := range []string{"r", "c"} {
			if got := w.query(fmt.Sprintf(said, of)); !slices.Equal(got, []string{c.want}) {
				t.Errorf("%s: %s states %q, want %q", c.format, of, got, c.want)
			}
		}
	}
}
