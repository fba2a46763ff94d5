package commit

import (
	"database/sql"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// source returns the row of a source.
func (c *commit) source(name string) (id int64, err error) {
	if id, ok := c.sources[name]; ok {
		return id, nil
	}
	ok, err := c.GetDirect("SELECT id FROM sources WHERE name = ?", []any{name}, &id)
	if err == nil && !ok {
		if id, err = c.NextID("sources"); err == nil {
			err = c.ExecDirect("INSERT INTO sources (id, name) VALUES (?, ?)", id, name)
		}
	}
	if err != nil {
		return 0, err
	}
	c.sources[name] = id
	return id, nil
}

// file returns the row of a file, and whether it is new.
func (c *commit) file(source, path string) (id int64, fresh bool, err error) {
	src, err := c.source(source)
	if err != nil {
		return 0, false, err
	}
	key := fileKey{src, path}
	id, known := c.files[key]
	if !known && write.AddKey(c.seen.Files, key) {
		if _, err := c.Get("SELECT id FROM files WHERE source = ? AND path = ?", []any{src, path}, &id); err != nil {
			return 0, false, err
		}
	}
	if id != 0 {
		return id, false, nil
	}
	if id, err = c.NextID("files"); err != nil {
		return 0, false, err
	}
	c.files[key] = id
	return id, true, c.Buffer.Files.Add(id, src, path)
}

// fileKey identifies a file.
type fileKey struct {
	source int64
	path   string
}

// lookUpFiles looks up the rows of the files of some versions.
func (c *commit) lookUpFiles(versions []blob.Version) error {
	var missing []fileKey
	for i := range versions {
		src, err := c.source(versions[i].Source)
		if err != nil {
			return err
		}
		key := fileKey{src, versions[i].Path}
		if _, known := c.files[key]; !known {
			c.files[key] = 0
			if write.AddKey(c.seen.Files, key) {
				missing = append(missing, key)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	args := make([]any, 2*write.Lot)
	for i, key := range missing {
		args[2*i], args[2*i+1] = key.source, key.path
	}
	return c.EachDirect(lookUpFiles(), func(r *sql.Rows) error {
		var key fileKey
		var id int64
		err := r.Scan(&id, &key.source, &key.path)
		c.files[key] = id
		return err
	}, args...)
}

var lookUpFiles = sync.OnceValue(func() string {
	return "WITH k (source, path) AS (VALUES (?, ?)" + strings.Repeat(", (?, ?)", write.Lot-1) + `)
	SELECT f.id, f.source, f.path FROM k CROSS JOIN files f ON f.path = k.path AND f.source = k.source`
})
