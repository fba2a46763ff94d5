package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/secret"
	"github.com/txarchive/txarchive/internal/terminal"
)

// leak is where a credential is in an original. The credential itself is not kept.
type leak struct {
	file string // SOURCE/PATH, and the version if it is not the newest
	secret.Found
}

// secrets reads every byte of every version and names the places of credentials, never the credentials.
func (d *Doctor) secrets(ctx context.Context, c *Check) error {
	if d.Archive.Index() == nil {
		c.add("originals are found through the index")
		c.conclude(Problem, "not searched for credentials: there is no index", "txarchive reindex")
		return nil
	}
	leaks, unread, err := d.leaks(ctx)
	if err != nil {
		return err
	}
	rules, files := map[string]int{}, map[string]bool{}
	for _, l := range leaks {
		rules[l.Rule]++
		files[l.file] = true
		c.add(fmt.Sprintf("%s %s line %d, %s at %d", l.Rule, l.file, l.Line, terminal.Plural(l.Size, "byte", "bytes"), l.Offset))
	}
	state, says, hints := Note, "no known kinds of credentials", []string{}
	if len(leaks) > 0 {
		state, hints = Problem, append(hints, "revoke them where they were issued; `txarchive forget` removes one from the archive")
		says = fmt.Sprintf("%s of %s in %s", terminal.Plural(len(leaks), "credential", "credentials"),
			terminal.Plural(len(rules), "kind", "kinds"), terminal.Plural(len(files), "original", "originals"))
	}
	if len(unread) > 0 {
		says += "; " + terminal.Plural(len(unread), "original", "originals") + " could not be read to the end"
	}
	damaged := false
	for _, file := range slices.Sorted(maps.Keys(unread)) {
		c.add("not read to the end: " + file)
		damaged = damaged || !errors.Is(unread[file], blob.ErrLost) // of what is lost, a repair has told
	}
	if damaged {
		state, hints = Damage, append(hints, "`txarchive verify` lists what is damaged or missing")
	}
	c.conclude(state, says, strings.Join(hints, "; "))
	return nil
}

// leaks scans the originals on all cores and returns what it found by file and offset, and which files could not be read to the end.
func (d *Doctor) leaks(ctx context.Context) (leaks []leak, unread map[string]error, err error) {
	var total int64
	var versions []index.FileVersion
	for v, err := range d.Archive.Index().Versions(ctx, index.VersionFilter{}) {
		if err != nil {
			return nil, nil, err
		}
		versions = append(versions, v)
		total += v.Size
	}
	// As restore does: chains are numbered in the order of the packs, in which a member that several originals share is inflated once.
	slices.SortFunc(versions, func(a, b index.FileVersion) int { return cmp.Compare(a.Chain, b.Chain) })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unread = map[string]error{}
	var (
		mu    sync.Mutex
		done  int64
		found = map[leak]bool{}
		work  sync.WaitGroup
		next  = make(chan index.FileVersion)
	)
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for v := range next {
				err := secret.Scan(d.Archive.Content(ctx, v), func(f secret.Found) bool {
					mu.Lock()
					defer mu.Unlock()
					found[leak{versionName(v), f}] = true
					return true
				})
				damaged := errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrNotFound)
				if err != nil && !damaged && ctx.Err() == nil {
					cancel(fmt.Errorf("look for secrets in %s: %w", versionName(v), err))
				}
				mu.Lock()
				if damaged {
					unread[versionName(v)] = err
				}
				done += v.Size
				if d.Progress != nil {
					d.Progress(done, total)
				}
				mu.Unlock()
			}
		})
	}
	for _, v := range versions {
		if ctx.Err() != nil {
			break
		}
		next <- v
	}
	close(next)
	work.Wait()
	return slices.SortedFunc(maps.Keys(found), func(a, b leak) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.Offset, b.Offset))
	}), unread, context.Cause(ctx)
}

// versionName returns the name of an original as `cat` takes it.
func versionName(v index.FileVersion) string {
	name := v.Source + "/" + v.Path
	if !v.Newest {
		name += fmt.Sprintf(" (version %d)", v.Number)
	}
	return name
}
