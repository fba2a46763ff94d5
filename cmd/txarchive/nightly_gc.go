package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/prune/gc"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

// gc frees the space of what was pruned longer ago than the grace period. It reads all manifests, so it is skipped if no pack has
// changed since it last had nothing to do.
func (n *nightlyJob) gc(ctx context.Context, state *nightly.State) (r nightly.Result, err error) {
	if state.Leap != nil {
		return skipped(status.Doubt(&n.app.Printer, *state.Leap))
	}
	store, err := n.openWriteWaiting(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	packs, err := status.Packs(ctx, store)
	if err != nil {
		return r, err
	}
	if state.Collected == nightly.Fingerprint(packs) {
		return nightly.Result{Outcome: nightly.Skipped, Summary: "nothing has changed since the last gc"}, nil
	}
	state.Collected = ""
	o := gc.Options{Grace: n.opts.grace, MaxBytes: int64(n.opts.maxBytes)}
	if n.opts.maxTime > 0 {
		if o.MaxTime = n.opts.maxTime - n.app.Now().Sub(n.began); o.MaxTime <= 0 {
			return nightly.Result{Outcome: nightly.Stopped, Summary: "no time left"}, nil
		}
	}
	began := time.Now()
	report, err := n.app.collect(ctx, store, o)
	if err != nil {
		return r, err
	}
	r.Detail = gcReport(&report, false, time.Since(began))
	r.Summary = "nothing to free, nothing to merge"
	if report.Freed() != 0 || report.PacksBefore != report.PacksAfter {
		r.Summary = terminal.Bytes(report.Freed()) + " freed"
		if n := report.Rewritten + report.Merged + report.Removed; n > 0 {
			r.Summary += fmt.Sprintf(", %s became %s", terminal.Plural(report.PacksBefore, "pack", "packs"), terminal.Count(report.PacksAfter))
		}
	}
	if report.Spared > 0 {
		r.Summary += ", " + terminal.Plural(report.Spared, "original", "originals") + " in the grace period"
	}
	for _, name := range report.Damaged {
		r.Problems, r.Cause = append(r.Problems, "skipped because it is damaged: "+name), blob.ErrCorrupt
	}
	if report.More {
		r.Outcome = nightly.Stopped
	}
	if report.Spared == 0 && !report.More && len(report.Damaged) == 0 {
		if packs, err = status.Packs(ctx, store); err != nil {
			return r, err
		}
		state.Collected = nightly.Fingerprint(packs)
	}
	return r, nil
}

// policy prunes by a policy: that of --policy, else the one that was applied to the archive last. What it prunes can be undone until
// gc. It looks at every run: runs age without anything new.
func (n *nightlyJob) policy(ctx context.Context, state *nightly.State) (r nightly.Result, err error) {
	if state.Leap != nil {
		return skipped(status.Doubt(&n.app.Printer, *state.Leap))
	}
	store, err := n.openWriteWaiting(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ing := n.app.ingester(store)
	if _, err := ing.Adopt(ctx); err != nil { // packs that the index does not know may have facts that matter
		return r, err
	}
	p := n.app.pruner(store, ing)
	c := prune.Choice{By: "policy", Source: "nightly"}
	if n.opts.policy != "" {
		err = n.app.choosePolicy(&c, n.opts.policy)
	} else if c.Text, err = p.LastPolicy(ctx); err == nil && c.Text != "" {
		c.Policy, err = policy.Parse([]byte(c.Text))
	}
	if err != nil {
		return r, err
	}
	if c.Policy == nil || n.opts.policy == "" && len(c.Policy.Rules) == 0 {
		return skipped("the archive has no policy")
	}
	plan, err := p.Make(ctx, c)
	if err != nil {
		return r, err // whether a policy may empty a group is for a person to decide
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	r.Detail = plan.Frees
	if plan.Runs.Len() == 0 {
		r.Summary = "nothing to prune, " + terminal.Plural(plan.Kept, "run", "runs") + " kept"
		return r, nil
	}
	done, err := p.Apply(ctx, plan)
	if err != nil {
		return r, err
	}
	r.Summary = fmt.Sprintf("%s pruned, %s thinned, %s kept; txarchive prune --undo %s reverts it", terminal.Plural(done.Pruned, "run", "runs"),
		terminal.Count(done.Thinned), terminal.Count(plan.Kept), plan.ID)
	return r, nil
}
