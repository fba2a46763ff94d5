package prune

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// Pin protects a run without a time limit.
type Pin struct {
	Run    string     `json:"run_id"`
	Reason string     `json:"reason"`
	Added  *time.Time `json:"added"`
}

// Hold protects a run until it is released or expires.
type Hold struct {
	Run     string     `json:"run_id"`
	Name    string     `json:"name"`
	Owner   string     `json:"owner"`
	Reason  string     `json:"reason"`
	Expires *time.Time `json:"expires"` // nil means never
	Added   *time.Time `json:"added"`
}

func (h *Hold) expiry() time.Time {
	if h.Expires == nil {
		return time.Time{}
	}
	return *h.Expires
}

// Active reports whether the hold still protects its run.
func (h *Hold) Active(now time.Time) bool { return h.Expires == nil || h.Expires.After(now) }

// Pins returns all pins, ordered by run.
func (p *Pruner) Pins(ctx context.Context) ([]Pin, error) {
	var all []Pin
	for f, err := range p.Index.Facts(ctx, index.FactPin) {
		if err != nil {
			return nil, err
		}
		pin := Pin{}
		_ = json.Unmarshal(f.Value, &pin) // the run is pinned even if the value cannot be parsed
		pin.Run = f.Key
		all = append(all, pin)
	}
	return all, nil
}

// Holds returns all holds, including expired ones, ordered by run and name.
func (p *Pruner) Holds(ctx context.Context) ([]Hold, error) {
	var all []Hold
	for f, err := range p.Index.Facts(ctx, index.FactHold) {
		if err != nil {
			return nil, err
		}
		run, name, ok := strings.Cut(f.Key, "/")
		if !ok {
			continue
		}
		h := Hold{}
		if json.Unmarshal(f.Value, &h) != nil {
			h.Expires = nil // a hold that cannot be parsed never expires
		}
		h.Run, h.Name = run, name
		all = append(all, h)
	}
	return all, nil
}

// Fact returns the fact that records a pin.
func (pin Pin) Fact(at time.Time) (blob.Fact, error) {
	value, err := json.Marshal(map[string]any{"added": at, "reason": pin.Reason})
	return blob.Fact{Kind: index.FactPin, Key: pin.Run, Time: at, Value: value}, err
}

// Unpin returns the fact that removes the pin of a run.
func Unpin(run string, at time.Time) blob.Fact {
	return blob.Retraction(index.FactPin, run, at)
}

// Fact returns the fact that records a hold.
func (h Hold) Fact(at time.Time) (blob.Fact, error) {
	said := map[string]any{"added": at, "owner": h.Owner, "reason": h.Reason}
	if h.Expires != nil {
		said["expires"] = h.Expires.UTC()
	}
	value, err := json.Marshal(said)
	return blob.Fact{Kind: index.FactHold, Key: index.RunFactKey(h.Run, h.Name), Time: at, Value: value}, err
}

// Release returns the fact that ends a hold.
func Release(run, name string, at time.Time) blob.Fact {
	return blob.Retraction(index.FactHold, index.RunFactKey(run, name), at)
}
