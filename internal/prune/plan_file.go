package prune

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/policy"
)

// Write writes the JSON form of a plan. encode encodes its parts; sep is written between them and between records.
func (p *Plan) Write(w io.Writer, encode func(any) string, sep string) error {
	b := bufio.NewWriter(w)
	head, tail := encode(p.planHead), encode(p.planTail)
	b.WriteString(head[:len(head)-1])
	for _, err := range []error{writeList(b, "runs", &p.Runs, encode, sep), writeList(b, "spared", &p.Spared, encode, sep),
		writeList(b, "versions", &p.Versions, encode, sep)} {
		if err != nil {
			return err
		}
	}
	b.WriteString("," + sep + tail[1:] + "\n")
	return b.Flush()
}

func writeList[T any](b *bufio.Writer, key string, l *List[T], encode func(any) string, sep string) error {
	fmt.Fprintf(b, ",%s%q:[", sep, key)
	between := sep
	for x, err := range l.All() {
		if err != nil {
			return err
		}
		b.WriteString(between)
		b.WriteString(encode(x))
		between = "," + sep
	}
	_, err := b.WriteString("]") // bufio errors are sticky: this returns any earlier one
	return err
}

// ReadPlan reads a saved plan.
func (p *Pruner) ReadPlan(r io.Reader) (*Plan, error) {
	plan := p.newPlan()
	err := plan.read(json.NewDecoder(bufio.NewReader(r)))
	var id string
	switch {
	case err != nil:
	case plan.Format == 0 || plan.ID == "":
		err = errors.New("not a plan")
	case plan.Format > PlanFormat:
		err = fmt.Errorf("its format %d is newer than this program", plan.Format)
	default:
		if id, err = planID(plan); err == nil && plan.ID != id {
			err = errors.New("it was edited")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", errors.Join(err, plan.Close()))
	}
	return plan, nil
}

// read decodes the lists record by record, then everything else.
func (p *Plan) read(d *json.Decoder) error {
	rest := map[string]json.RawMessage{}
	if err := expect(d, '{'); err != nil {
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch key, _ := token.(string); key {
		case "runs":
			err = readList(d, func(r *PlannedRun) error { return p.takeRun(r, &p.runs, &p.Runs) })
		case "spared":
			err = readList(d, func(r *PlannedRun) error { return p.takeRun(r, &p.spared, &p.Spared) })
		case "versions":
			err = readList(d, p.Versions.add)
		default:
			var value json.RawMessage
			err = d.Decode(&value)
			rest[key] = value
		}
		if err != nil {
			return err
		}
	}
	if err := expect(d, '}'); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the plan")
	}
	data, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	return errors.Join(json.Unmarshal(data, &p.planHead), json.Unmarshal(data, &p.planTail))
}

func (p *Plan) takeRun(r *PlannedRun, runs *[]runState, to *List[PlannedRun]) error {
	x := runState{id: r.RunID, started: r.started(), ends: r.ends(), pruned: r.Action == policy.Prune, payloads: r.Tier == policy.TierPayloads, versions: r.Tier == policy.TierVersions}
	state, err := hex.DecodeString(r.State)
	copy(x.hash[:], state)
	*runs = append(*runs, x)
	return errors.Join(err, to.add(r))
}

func readList[T any](d *json.Decoder, add func(*T) error) error {
	if err := expect(d, '['); err != nil {
		return err
	}
	for d.More() {
		x := new(T)
		if err := d.Decode(x); err != nil {
			return err
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return expect(d, ']')
}

func expect(d *json.Decoder, delim json.Delim) error {
	token, err := d.Token()
	if err == nil && token != delim {
		err = fmt.Errorf("found %v where %v should be", token, delim)
	}
	return err
}
