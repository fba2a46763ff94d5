package sqlite

import (
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// A run that is only named, and has the name of a group, carries the project of the group: runs of the group of which no
// original states a project have its.

func describesGroup(r *transcript.Run) bool { return r.Named && r.Group != "" && r.Group == r.ID }

// members adds the runs of groups of which something else is known now.
func (c *commit) members(all map[int64]bool) error {
	if err := c.EachBeside(`SELECT n.id FROM temp.touched_runs t CROSS JOIN runs g ON g.id = t.id AND g."group" = g.native_id AND g.counted = 0
		CROSS JOIN run_names n ON n.run = g.id`, write.IntoSet(c.groups)); err != nil {
		return err
	}
	for _, name := range write.Sorted(c.groups) {
		if err := c.Each(`SELECT r.id FROM run_names n CROSS JOIN runs r ON r."group" = n.native_id AND r.format = n.format WHERE n.id = ?`, write.IntoSet(all), name); err != nil {
			return err
		}
	}
	return nil
}

// giveProject sets the projects of touched runs, once everything stated of groups is written.
const giveProject = `UPDATE OR FAIL runs SET project = (SELECT g.project FROM run_names n CROSS JOIN runs g ON g.id = n.run AND g."group" = g.native_id AND g.counted = 0
	WHERE n.format = runs.format AND n.native_id = runs."group" AND n.scope = '') WHERE id IN temp.touched_runs AND project IS NULL AND "group" <> native_id`
