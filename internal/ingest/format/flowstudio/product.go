package flowstudio

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// product reads a text that an agent or the orchestrator produced, as one uncounted row.
func (p *parser) product() {
	p.Emit(p.run(0, "3", transcript.Time{}))
	raw, err := format.ReadAll(p.in.Reader, maxProduct)
	if errors.Is(err, layer.ErrTooLarge) {
		return
	}
	if err != nil {
		p.Fail(err)
		return
	}
	text := looseText(raw)
	if text == "" {
		return
	}
	row := p.uncounted(transcript.KindNotice, p.productType(), transcript.Origin{Length: int64(len(raw))}, text)
	row.Step = p.productStep()
	if v, err := jsontext.Parse(jsontext.TrimBOM(raw)); err == nil {
		row.Time = v.Get("timestamp").Time()
		if step := v.Get("step_id").Str(); step != "" {
			row.Step = step
		}
	}
	p.Emit(row)
}

// productLines reads a product with one document per line, as one row per line. A line that is not JSON is kept as text:
// products have no problems.
func (p *parser) productLines() {
	p.Emit(p.run(0, "3", transcript.Time{}))
	for line, err := range jsontext.Lines(p.in.Reader, "") {
		if err != nil {
			p.Fail(err)
		}
		if p.Done() {
			return
		}
		if len(bytes.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		row := p.uncounted(transcript.KindNotice, p.productType(), line.Origin, looseText(line.Bytes))
		if v, err := jsontext.Parse(line.Bytes); err == nil {
			row.Time = v.First("timestamp", "ts").Time()
		}
		p.Emit(row)
	}
}

// productType returns the type of a product's rows, by its directory.
func (p *parser) productType() string {
	switch {
	case p.place.excluded:
		return "quarantined"
	case slices.Contains([]string{"handoff", "forensics", "routing", "nav"}, p.place.dir):
		return p.place.dir
	}
	return "product"
}

// productStep returns the step from the file names that the orchestrator gives.
func (p *parser) productStep() string {
	base := strings.TrimSuffix(p.place.name, path.Ext(p.place.name))
	switch p.place.dir {
	case "handoff":
		return strings.TrimSuffix(base, ".draft")
	case "forensics":
		return strings.TrimPrefix(base, "file_changes_")
	case "routing":
		return strings.TrimPrefix(base, "candidates_step_")
	case "nav":
		return strings.TrimSuffix(base, "-brief")
	}
	return ""
}

// looseText returns the strings of a JSON document, and any other text unchanged.
func looseText(raw []byte) string {
	raw = jsontext.TrimBOM(raw)
	if v, err := jsontext.Parse(raw); err == nil {
		return jsontext.AllStrings(v)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}
