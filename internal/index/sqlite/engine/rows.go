package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
)

// ErrStop ends an iteration whose consumer has stopped.
var ErrStop = errors.New("stop")

// Stream runs a query and yields the result of scan for each row. Leaving the range closes the query.
func Stream[T any](ctx context.Context, q sqlx.QueryerContext, query string, args []any, scan func(*sqlx.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := Each(ctx, q, query, args, scan, func(v T) bool { return yield(v, nil) }); err != nil {
			var zero T
			yield(zero, Damage(err))
		}
	}
}

// Each calls yield with the result of scan for each row, until yield returns false. q must belong to a Pool.
func Each[T any](ctx context.Context, q sqlx.QueryerContext, query string, args []any, scan func(*sqlx.Rows) (T, error), yield func(T) bool) error {
	rows, err := q.QueryxContext(Polled(ctx), query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return err
		}
		if !yield(v) {
			return nil
		}
	}
	return rows.Err()
}

// One returns the single row of a query: index.ErrNotFound or index.ErrAmbiguous when there is not exactly one.
func One[T any](ctx context.Context, q sqlx.QueryerContext, query string, args []any, scan func(*sqlx.Rows) (T, error)) (T, error) {
	var found []T
	err := Each(ctx, q, query, args, scan, func(v T) bool {
		found = append(found, v)
		return len(found) < 2
	})
	var zero T
	switch {
	case err != nil:
		return zero, Damage(err)
	case len(found) == 0:
		return zero, index.ErrNotFound
	case len(found) > 1:
		return zero, index.ErrAmbiguous
	}
	return found[0], nil
}

// Failed yields an error and nothing else.
func Failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		yield(zero, err)
	}
}
