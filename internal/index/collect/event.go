package collect

import (
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

func (c *Collector) event(e *transcript.Event, afterChunk func() error) error {
	v := c.conversationOf(e)
	c.listConversation(v)
	v.LastSeq++
	n := max(len(e.Parts), 1)
	v.TotalRows += int64(n)
	if e.Time.Valid {
		c.lastTime = e.Time.UnixMicro
	}
	if !c.isNew(e.Origin) {
		return nil
	}
	id, scene, rest := attributes(e)
	nativeID := index.ParseNativeID(id)
	for i := range n {
		if i > 0 && i%chunkParts == 0 {
			if err := afterChunk(); err != nil {
				return err
			}
			c.listConversation(v)
		}
		part := transcript.Part{}
		if len(e.Parts) > 0 {
			part = e.Parts[i]
		}
		row := c.row(e, v, &part, scene)
		row.Part, row.Parts = i, n
		if i == 0 || row.EID != 0 {
			row.Native = nativeID
		}
		if i == 0 {
			row.Attributes = rest
			if e.Retold != "" {
				row.Prompt = index.Hash("prompt", e.Retold)
			}
		}
		c.out.Rows = append(c.out.Rows, row)
		c.out.Bytes += rowSize + 4*len(row.T) + len(row.Native.Text) + len(row.Attributes)
		c.pending++
	}
	if c.lastTime != 0 {
		c.fillTimes()
	}
	return nil
}

func (c *Collector) row(e *transcript.Event, v *collectedConversation, part *transcript.Part, scene index.Scene) index.Row {
	f := facets{format: c.out.Format, Labels: index.Labels{Kind: e.Kind, Role: e.Role, Type: e.Type, Scene: scene}, orRole: e.OrRole, agent: e.Agent, model: e.Model}
	row := index.Row{
		Conversation: v.index, Seq: v.LastSeq, Verdict: e.Verdict, Time: e.Time,
		Inner: e.Origin.Inner, Offset: e.Origin.Offset, Length: e.Origin.Length, Line: e.Origin.Line,
		TextBytes: len(part.Text), Call: part.Call, Result: part.Result,
	}
	if row.Verdict == "" {
		row.Verdict = transcript.Counted
	}
	if part.Kind != "" {
		f.Kind = part.Kind
	}
	if f.Kind == "" {
		f.Kind = transcript.KindUnknown
	}
	if part.Role != "" {
		f.Role = part.Role
	}
	if part.Length > 0 {
		row.Offset += part.Offset
		row.Length = part.Length
	}
	if part.Call != nil {
		f.Tool = part.Call.Name
	} else if part.Result != nil {
		f.Tool = part.Result.Name
	}
	if e.ID != "" {
		row.EID = index.EventHash(c.out.Format, e.ID)
		if e.Global {
			row.Global = 2
			if e.Home {
				row.Global = 1
			}
		}
	}
	f.failed = row.Result != nil && row.Result.Failed == transcript.Yes
	labels := c.labels(&f)
	row.Labels, row.T = &labels.Labels, c.numbers(labels.numbers, part.Text)
	return row
}

// Approximate memory in bytes.
const (
	rowSize    = 384 // a Row without its terms and attributes
	recordSize = 512 // any other record
	wordSize   = 60  // a word of a term list
)

// numbers returns the numbers of facets followed by those of the terms of a text.
func (c *Collector) numbers(facets []uint32, text string) []uint32 {
	if size := len(facets) + len(text)/2 + 1; cap(c.numberBlock)-len(c.numberBlock) < size { // append grows the slice in the rare case that this is too small
		c.numberBlock = make([]uint32, 0, max(size, 16<<10))
	}
	free := c.numberBlock[len(c.numberBlock):]
	numbers := append(free, facets...)
	for c.split.Begin(text); c.split.Next(&c.scratch); {
		numbers = c.terms.AppendTerms(numbers, &c.scratch)
	}
	if len(numbers) == 0 {
		return nil
	}
	if len(numbers) <= cap(free) {
		c.numberBlock = c.numberBlock[:len(c.numberBlock)+len(numbers)]
	}
	return slices.Clip(numbers)
}

// fillTimes gives pending rows without a time the nearest known time, or the file's where there is none.
func (c *Collector) fillTimes() {
	if c.pending == 0 {
		return
	}
	near := c.lastTime
	if near == 0 {
		near = c.out.ModTime
	}
	rows := c.out.Rows
	for i := len(rows) - c.pending; i < len(rows); i++ {
		rows[i].Near = near
		if rows[i].Time.Valid {
			rows[i].Near = rows[i].Time.UnixMicro
		}
	}
	c.pending = 0
}
