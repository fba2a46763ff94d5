package retention

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// Volumes returns the members of packs, in order, and the size of the rest of each pack.
func (r *Reader) Volumes(ctx context.Context, packs []int64) (map[int64]index.Volume, error) {
	ids, err := json.Marshal(packs)
	if err != nil {
		return nil, err
	}
	type row struct {
		pack, size int64
		name       string
		blob.Member
	}
	all := map[int64]index.Volume{}
	err = engine.Each(ctx, r.pool, `SELECT m.pack, p.size, p.name, m.raw, m.raw_size, m.offset, m.size FROM json_each(?) j CROSS JOIN packs p ON p.id = j.value
		CROSS JOIN members m ON m.pack = p.id ORDER BY m.pack, m.raw`,
		[]any{string(ids)}, func(rows *sqlx.Rows) (x row, err error) {
			return x, rows.Scan(&x.pack, &x.size, &x.name, &x.Raw, &x.RawSize, &x.Offset, &x.Size)
		}, func(x row) bool {
			v := all[x.pack]
			if v.Members == nil {
				v.Name, v.Manifest = x.name, x.size
			}
			v.Members, v.Manifest = append(v.Members, x.Member), v.Manifest-x.Size
			all[x.pack] = v
			return true
		})
	if err != nil {
		return nil, fmt.Errorf("read members: %w", engine.Damage(err))
	}
	return all, nil
}
