package sqlite

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
)

// Commit updates the sums of usage that changed and commits.
func (t *tx) Commit() error {
	if err := t.updateSums(); err != nil {
		return fmt.Errorf("keep sums of usage: %w", err)
	}
	return t.end()
}

func (t *tx) updateSums() error {
	fresh, err := t.settleFresh()
	if err != nil {
		return err
	}
	touched, err := t.exists("SELECT 1 FROM usage_touched LIMIT 1")
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

func (t *tx) execAll(statements []string) error {
	for _, statement := range statements {
		if err := t.exec(statement); err != nil {
			return err
		}
	}
	return nil
}
