package retention

import (
	"encoding/json"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
)

// fileVersion is a version of a file that has several.
type fileVersion struct {
	id, file int64
	sum      blob.Ref
	parsed   bool // its rows are in the index
	whole    bool // and all of it was read, from bytes that are there
}

// severalVersions selects the versions of files with several that are there. One with a problem may be torn; what two copies of an
// archive have archived apart may contradict itself.
const severalVersions = `WITH several AS MATERIALIZED (SELECT file FROM versions WHERE grave IS NULL GROUP BY file HAVING count(*) > 1)
	SELECT v.id, v.file, v.sha256, v.parser > 0, c.apart = 0 AND v.size <= (SELECT coalesce(sum(x.size), -1) FROM extents x WHERE x.chain = v.chain)
		AND NOT EXISTS (SELECT 1 FROM problems x WHERE x.version = v.id) AND NOT EXISTS (SELECT 1 FROM transcripts x WHERE x.version = v.id AND x.indexed = 2)
		AND NOT EXISTS (SELECT 1 FROM facts x WHERE x.kind = 'lost' AND x.value IS NOT NULL AND x.value ->> '$.root' = lower(hex(c.root)))
	FROM several s CROSS JOIN versions v ON v.file = s.file CROSS JOIN chains c ON c.id = v.chain WHERE v.grave IS NULL ORDER BY v.file, v.number`

// repeats selects those of pairs of versions, of which the second is the later, in which nothing counts from the first, and
// everything that it states is stated by the second as well: so no answer depends on it that leaves earlier versions out. Of a
// conversation with more entries than later, as before it was compacted, only the version has all.
const repeats = `SELECT p.value ->> 0 AS v, (SELECT coalesce(sum(rows), 0) FROM transcripts WHERE version = p.value ->> 0 AND indexed = 1)
	FROM json_each(?) p
	WHERE NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.version = p.value ->> 0 AND (t.verdict = 0 OR t.last_seq > coalesce((SELECT n.last_seq FROM transcripts n
			WHERE n.version = p.value ->> 1 AND n.run_name = t.run_name AND n.native_id = t.native_id AND n.aside = t.aside), -1)))
		AND NOT EXISTS (SELECT 1 FROM usage x WHERE x.version = p.value ->> 0 AND (x.verdict = 0 OR x.ledger = 1))
		AND NOT EXISTS (SELECT 1 FROM receipts x WHERE x.version = p.value ->> 0 AND x.verdict = 0)
		AND NOT EXISTS (SELECT 1 FROM steps x WHERE x.version = p.value ->> 0 AND x.verdict = 0)
		AND NOT EXISTS (SELECT run_name FROM run_claims WHERE version = p.value ->> 0 EXCEPT SELECT run_name FROM run_claims WHERE version = p.value ->> 1)
		AND NOT EXISTS (SELECT run_name, usage_id, alias FROM usage WHERE version = p.value ->> 0 EXCEPT SELECT run_name, usage_id, alias FROM usage WHERE version = p.value ->> 1)
		AND NOT EXISTS (SELECT run_name, key FROM receipts WHERE version = p.value ->> 0 EXCEPT SELECT run_name, key FROM receipts WHERE version = p.value ->> 1)
		AND NOT EXISTS (SELECT run_name, key FROM steps WHERE version = p.value ->> 0 EXCEPT SELECT run_name, key FROM steps WHERE version = p.value ->> 1)
		AND NOT EXISTS (SELECT run_name, key, value FROM hints WHERE version = p.value ->> 0 EXCEPT SELECT run_name, key, value FROM hints WHERE version = p.value ->> 1)
		AND NOT EXISTS (SELECT edge FROM links WHERE version = p.value ->> 0 AND uncounted = 0 EXCEPT SELECT edge FROM links WHERE version = p.value ->> 1 AND uncounted = 0)`

// readSuperseded finds the versions that are superseded (index.InventoryVersion). A version is compared with the next whole one of its
// file that is not: once those between are removed, the same versions are left to remove, namely none.
func (e *inventory) readSuperseded() error {
	e.superseded = map[int64]int64{}
	var all []fileVersion
	if err := e.walk(severalVersions, func(r *sqlx.Rows) error {
		var v fileVersion
		var sum []byte
		err := r.Scan(&v.id, &v.file, &sum, &v.parsed, &v.whole)
		copy(v.sum[:], sum)
		all = append(all, v)
		return err
	}); err != nil {
		return err
	}
	var files []*versionedFile
	for i := range all {
		if i == 0 || all[i].file != all[i-1].file {
			files = append(files, &versionedFile{})
		}
		f := files[len(files)-1]
		f.left = append(f.left, all[i])
	}
	for len(files) > 0 { // each time one version of each file
		var pairs [][2]int64
		files = slices.DeleteFunc(files, func(f *versionedFile) bool {
			v, next := f.toCompare(e)
			pairs = append(pairs, [2]int64{v, next})
			return v == 0
		})
		pairs = slices.DeleteFunc(pairs, func(p [2]int64) bool { return p[0] == 0 })
		if err := e.compareVersions(pairs); err != nil {
			return err
		}
		for _, f := range files {
			_, goes := e.superseded[f.left[len(f.left)-1].id]
			f.pop(goes)
		}
	}
	e.keepTwins(all)
	return nil
}

// compareVersions adds the first of each pair to those superseded that the second supersedes.
func (e *inventory) compareVersions(pairs [][2]int64) error {
	for some := range slices.Chunk(pairs, 1<<13) {
		list, err := json.Marshal(some)
		if err != nil {
			return err
		}
		if err := e.walk(repeats, func(r *sqlx.Rows) error {
			var id, rows int64
			err := r.Scan(&id, &rows)
			e.superseded[id] = rows
			return err
		}, string(list)); err != nil {
			return err
		}
	}
	return nil
}

// versionedFile is a file whose versions are compared, from the newest.
type versionedFile struct {
	left  []fileVersion // not compared yet
	stays int64         // the last whole version that stays, 0 for none
}

// toCompare returns the next version that may be superseded, and the later one by which; 0 if there is none.
func (f *versionedFile) toCompare(e *inventory) (version, by int64) {
	for len(f.left) > 0 {
		v := f.left[len(f.left)-1]
		if v.parsed && !e.stays[v.id] && f.stays > 0 && len(e.holders.of(v.id)) > 0 && e.holdsAll(f.stays, v.id) {
			return v.id, f.stays
		}
		f.pop(false)
	}
	return 0, 0
}

// pop takes out the version that was compared.
func (f *versionedFile) pop(goes bool) {
	v := f.left[len(f.left)-1]
	if f.left = f.left[:len(f.left)-1]; !goes && v.parsed && v.whole {
		f.stays = v.id
	}
}

// holdsAll reports whether all runs that hold a version hold another one, too. A version may name a run and not be held by it.
func (e *inventory) holdsAll(version, of int64) bool {
	return !slices.ContainsFunc(e.holders.of(of), func(run int32) bool { return !slices.Contains(e.holders.of(version), run) })
}

// keepTwins keeps superseded versions with the content of a version that is not, or that other runs hold: a tombstone names a
// content of a file, so they can only go together.
func (e *inventory) keepTwins(all []fileVersion) {
	type content struct {
		file int64
		sum  blob.Ref
	}
	first, stays := map[content]int64{}, map[content]bool{}
	for _, v := range all {
		k := content{v.file, v.sum}
		if first[k] == 0 {
			first[k] = v.id
		}
		if _, goes := e.superseded[v.id]; !goes || !slices.Equal(e.holders.of(v.id), e.holders.of(first[k])) {
			stays[k] = true
		}
	}
	for _, v := range all {
		if stays[content{v.file, v.sum}] {
			delete(e.superseded, v.id)
		}
	}
}
