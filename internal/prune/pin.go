package prune

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// Pin keeps a run for ever.
type Pin struct {
	Run    string     `json:"run_id"`
	Reason string     `json:"reason"`
	Added  *time.Time `json:"added"`
}

// Hold keeps a run until it is released or expires.
type Hold struct {
	Run     string     `json:"run_id"`
	Name    string     `json:"name"`
	Owner   string     `json:"owner"`
	Reason  string     `json:"reason"`
	Expires *time.Time `json:"expires"` // nil: never
	Added   *time.Time `json:"added"`
}

func (h *Hold) expiry() time.Time {
	if h.Expires == nil {
		return time.Time{}
	}
	return *h.Expires
}

// Active says whether the hold still keeps its run.
func (h *Hold) Active(now time.Time) bool { return h.Expires == nil || h.Expires.After(now) }

// Pins gives all pins, by run.
func (p *Pruner) Pins(ctx context.Context) ([]Pin, error) {
	var all []Pin
	for f, err := range p.Index.Facts(ctx, index.FactPin) {
		if err != nil {
			return nil, err
		}
		pin := Pin{}
		_ = json.Unmarshal(f.Value, &pin) // whatever else it says, it pins
		pin.Run = f.Key
		all = append(all, pin)
	}
	return all, nil
}

// Holds gives all holds, expired ones too, by run and name.
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
			h.Expires = nil // what cannot be read never expires
		}
		h.Run, h.Name = run, name
		all = append(all, h)
	}
	return all, nil
}

// Fact writes a pin down.
func (pin Pin) Fact(at time.Time) (blob.Fact, error) {
	value, err := json.Marshal(map[string]any{"added": at, "reason": pin.Reason})
	return blob.Fact{Kind: index.FactPin, Key: pin.Run, Time: at, Value: value}, err
}

// Unpin takes the pin off a run.
func Unpin(run string, at time.Time) blob.Fact {
	return blob.Fact{Kind: index.FactPin, Key: run, Time: at, Value: json.RawMessage("null")}
}

// Fact writes a hold down.
func (h Hold) Fact(at time.Time) (blob.Fact, error) {
	said := map[string]any{"added": at, "owner": h.Owner, "reason": h.Reason}
	if h.Expires != nil {
		said["expires"] = h.Expires.UTC()
	}
	value, err := json.Marshal(said)
	return blob.Fact{Kind: index.FactHold, Key: index.RunFactKey(h.Run, h.Name), Time: at, Value: value}, err
}

// Release ends a hold.
func Release(run, name string, at time.Time) blob.Fact {
	return blob.Fact{Kind: index.FactHold, Key: index.RunFactKey(run, name), Time: at, Value: json.RawMessage("null")}
}
