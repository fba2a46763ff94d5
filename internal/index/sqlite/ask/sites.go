package ask

import (
	"context"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// Sites reads where the sources of the archive are.
func Sites(ctx context.Context, q sqlx.QueryerContext) (all index.Sites, err error) {
	const query = `SELECT key, value ->> 'root' AS root, coalesce(value ->> 'host', '') AS host, coalesce(value ->> 'added', '') AS added FROM facts
		WHERE kind = 'source' AND value ->> 'root' <> '' ORDER BY key`
	err = engine.Each(ctx, q, query, nil, func(r *sqlx.Rows) (p index.Site, err error) {
		var added string
		if err = r.Scan(&p.Source, &p.Root, &p.Host, &added); err != nil {
			return p, err
		}
		p.Root = strings.ReplaceAll(p.Root, `\`, "/")
		p.Added, _ = time.Parse(time.RFC3339, added)
		return p, nil
	}, func(p index.Site) bool {
		all = append(all, p)
		return true
	})
	return all, err
}
