package resolve

import (
	"database/sql"

	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// judgeHearsay finds the uncounted prompts of secondary accounts (transcript.RankHistory) that a conversation of their run has as
// well: they are copies. moved says that events of transcripts in temp.moved count that did not, or the other way round.
func (c *Changes) judgeHearsay(moved bool) error {
	if moved {
		if err := c.Each(`WITH r AS MATERIALIZED (SELECT DISTINCT n.run FROM temp.moved x CROSS JOIN transcripts t ON t.id = x.id CROSS JOIN run_names n ON n.id = t.run_name)
			SELECT run FROM r WHERE EXISTS (SELECT 1 FROM run_names n CROSS JOIN transcripts t ON t.run_name = n.id WHERE n.run = r.run AND t.aside = 1 AND t.rank < 0)`,
			write.IntoSet(c.hearsay)); err != nil {
			return err
		}
	}
	if len(c.hearsay) == 0 {
		return nil
	}
	if err := c.FillTemp("hearsay_runs", write.Sorted(c.hearsay)); err != nil {
		return err
	}
	type text struct{ run, hash int64 }
	type prompt struct {
		text
		event   int64
		verdict int
	}
	prompts := func(which string, take func(*prompt)) error {
		return c.Each(`SELECT x.id, p.text, e.id, e.verdict FROM temp.hearsay_runs x CROSS JOIN run_names n ON n.run = x.id
			CROSS JOIN transcripts t ON t.run_name = n.id CROSS JOIN events e ON e.transcript = t.id CROSS JOIN prompts p ON p.event = e.id
			WHERE `+which, func(r *sql.Rows) error {
			var p prompt
			err := r.Scan(&p.run, &p.hash, &p.event, &p.verdict)
			take(&p)
			return err
		})
	}
	said := map[text]bool{}
	if err := prompts("t.aside = 0 AND t.verdict = 0 AND e.verdict = 0", func(p *prompt) { said[p.text] = true }); err != nil {
		return err
	}
	changed := map[int64]int{}
	if err := prompts("t.aside = 1 AND t.rank < 0 AND e.verdict IN (1, 6)", func(p *prompt) {
		verdict := schema.Uncounted
		if said[p.text] {
			verdict = schema.Duplicate
		}
		if verdict != p.verdict {
			changed[p.event] = verdict
		}
	}); err != nil {
		return err
	}
	for _, event := range write.Sorted(changed) {
		if err := c.Exec("UPDATE events SET verdict = ? WHERE id = ?", changed[event], event); err != nil {
			return err
		}
	}
	return nil
}
