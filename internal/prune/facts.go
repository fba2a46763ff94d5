package prune

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// facts returns the ledgers of originals, and the tombstones of those that are removed.
func (p *Pruner) facts(ctx context.Context, orders []index.LedgerOrder, plan string, now time.Time) ([]blob.Fact, error) {
	ledgers, err := p.Index.Ledgers(ctx, orders)
	if err != nil {
		return nil, err
	}
	return factsOf(ledgers, orders, plan, now)
}

// factsOf returns the facts for ledgers, which are parallel to orders. A version that had a tombstone before gets no
// second one: if that tombstone was retracted, the same content is in a later version.
func factsOf(ledgers []index.Ledger, orders []index.LedgerOrder, plan string, now time.Time) (facts []blob.Fact, err error) {
	for i := range ledgers {
		l := &ledgers[i]
		f, err := l.Fact(now)
		if err != nil {
			return nil, err
		}
		facts = append(facts, f)
		if l.Tombstoned && !orders[i].Tombstoned {
			t := blob.NewTombstone(&l.Version, plan)
			if slices.ContainsFunc(orders[i].Runs, func(r index.LedgerRun) bool { return r.Tier == index.LedgerVersions }) {
				t.Superseded = l.Newest
			}
			facts = append(facts, t.Fact(now))
		}
	}
	return facts, nil
}

// FactPolicy is the kind of the fact that records the policy by which an archive was last pruned. Key: "policy".
// Value: {"text": YAML}.
const FactPolicy = "policy"

// policyFact returns the fact that records a policy, if it differs from the recorded one.
func (p *Pruner) policyFact(ctx context.Context, text string) ([]blob.Fact, error) {
	last, err := p.LastPolicy(ctx)
	if err != nil || text == "" || text == last {
		return nil, err
	}
	value, err := json.Marshal(map[string]string{"text": text})
	return []blob.Fact{{Kind: FactPolicy, Key: FactPolicy, Time: p.now(), Value: value}}, err
}

// LastPolicy returns the text of the policy that was applied last, "" for none.
func (p *Pruner) LastPolicy(ctx context.Context) (text string, err error) {
	for f, err := range p.Index.Facts(ctx, FactPolicy) {
		if err != nil {
			return "", err
		}
		var value struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(f.Value, &value); err != nil {
			return "", fmt.Errorf("read the last policy: %w", err)
		}
		text = value.Text
	}
	return text, nil
}
