package write

import (
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
)

// Commit updates the sums of usage that changed, commits and releases the connection.
func (t *Tx) Commit() error {
	if t.wrote {
		if err := t.updateSums(); err != nil {
			return fmt.Errorf("keep sums of usage: %w", err)
		}
	}
	err := t.inner.Commit()
	t.ended = err == nil
	return errors.Join(engine.Damage(err), t.conn.Close())
}

func (t *Tx) updateSums() error {
	fresh, err := t.settleFresh()
	if err != nil {
		return err
	}
	touched, err := t.Exists("SELECT 1 FROM usage_touched LIMIT 1")
	if err != nil {
		return err
	}
	if !touched && len(fresh) == 0 {
		return nil
	}
	threads, added := usage.RollupStatements()
	if touched {
		if err := t.execAll(threads); err != nil {
			return err
		}
	}
	if len(fresh) > 0 {
		if err := t.addFresh(fresh); err != nil {
			return err
		}
	}
	return t.execAll(added)
}

func (t *Tx) execAll(statements []string) error {
	for _, statement := range statements {
		if err := t.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}
