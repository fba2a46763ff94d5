package commit

import (
	"database/sql"
	"fmt"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
)

// problems writes what could not be read of an original.
func (c *commit) problems(o *owner) error {
	for _, p := range o.Problems {
		var name any
		if p.Run != "" {
			id, err := c.runName(o, p.Run)
			if err != nil {
				return err
			}
			name = id
		}
		inner, err := c.Name(p.Origin.Inner)
		if err != nil {
			return err
		}
		sum := int64(0)
		if p.Alone {
			sum = p.Sum
		}
		if err := c.Exec(`INSERT INTO problems (version, run_name, identity, sum, kind, reason, line, offset, length, inner)
			VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`, o.Version, name, sum, p.Kind, p.Reason,
			p.Origin.Line, p.Origin.Offset, p.Origin.Length, inner); err != nil {
			return err
		}
	}
	if len(o.Problems) == 0 && o.From == 0 && (o.First || !o.Last) {
		return nil // else what the original has become identifies the earlier ones
	}
	return c.identifyProblems(o)
}

// identifyProblems gives the problems of a version their identity: kind, place and content, and the run. A copy has the same
// problems. The content is that of the unreadable bytes themselves where this original alone makes up the run, else that of the
// whole original. Where no run is named, the name of the file stands in for it. For files of fewer than alike bytes the last
// directories of the path are added, because a run may have many empty files; no more of the path, because it differs where
// sources contain each other, and in copies. What its own bytes identify stays the same problem as the original grows, which
// may be nothing but unreadable lines.
func (c *commit) identifyProblems(o *owner) error {
	const alike = 16
	type problem struct {
		id, offset, sum  int64
		kind, run, inner string
	}
	var all []problem
	if err := c.Each(`SELECT p.id, p.offset, p.sum, p.kind, coalesce(n.native_id, ''), coalesce(i.name, '') FROM problems p
		LEFT JOIN run_names n ON n.id = p.run_name LEFT JOIN names i ON i.id = p.inner WHERE p.version = ? AND (p.identity = 0 OR p.sum = 0 OR p.offset < ?)`, func(r *sql.Rows) error {
		var p problem
		err := r.Scan(&p.id, &p.offset, &p.sum, &p.kind, &p.run, &p.inner)
		all = append(all, p)
		return err
	}, o.Version, alike); err != nil {
		return err
	}
	file := c.sites.Path(o.Source, o.Path)
	name := path.Base(file)
	for _, p := range all {
		if p.run == "" {
			p.run = "/" + name
		} else if o.Size < alike {
			p.run += "/" + lastOf(file, 3)
		}
		content := []string{o.SHA256.String(), p.inner}
		if p.sum != 0 {
			content = []string{fmt.Sprint(p.sum)}
		}
		identity := index.Hash(append(content, "problem", o.Format, p.run, fmt.Sprint(p.offset), p.kind)...)
		if err := c.Exec("UPDATE problems SET identity = ? WHERE id = ? AND identity <> ?1", identity, p.id); err != nil {
			return err
		}
	}
	return nil
}

// lastOf returns the last names of a path.
func lastOf(file string, names int) string {
	all := strings.Split(file, "/")
	return strings.Join(all[max(0, len(all)-names):], "/")
}
