package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
)

// formatVersion is incremented when an existing reader would misread new packs. New types of lines and new keys do not
// require that.
const formatVersion = 1

// A manifest is NDJSON. The first key of every line is its type.
const (
	linePack    = "pack"
	lineMember  = "member"
	lineVersion = "version"
	lineFact    = "fact"
	lineCopy    = "copy"
)

type packLine struct {
	Type     string    `json:"type"`
	Format   int       `json:"format"`
	ID       string    `json:"id"`
	Writer   string    `json:"writer"`
	Created  time.Time `json:"created"`
	Nonce    string    `json:"nonce"`
	Replaces []string  `json:"replaces,omitempty"`
}

type memberLine struct {
	Type string `json:"type"`
	blob.Member
}

type versionLine struct {
	Type string `json:"type"`
	blob.Version
	SourceRaw []byte `json:"source_b64,omitempty"`
	PathRaw   []byte `json:"path_b64,omitempty"`
	ClaimRaw  []byte `json:"root_dir_b64,omitempty"`
}

type factLine struct {
	Type string `json:"type"`
	blob.Fact
	KeyRaw []byte `json:"key_b64,omitempty"`
}

// copyLine repeats the location of a copy in another pack, in a form that sed can process. Only README.txt relies on it.
type copyLine struct {
	Type     string   `json:"type"`
	Pack     string   `json:"pack"`
	Raw      int64    `json:"raw"`
	Size     int64    `json:"size"`
	SHA256   blob.Ref `json:"sha256"`
	Entry    string   `json:"entry,omitempty"`
	EntryRaw []byte   `json:"entry_b64,omitempty"`
}

func manifestName(id string) string { return manifestDir + "/" + id + ".ndjson" }

func encodeManifest(m blob.Manifest, id, nonce string) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(len(m.Versions)*typicalLine + len(m.Members)*typicalLine/2)
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(packLine{linePack, formatVersion, id, m.Writer, m.Created, nonce, m.Replaces})
	for _, member := range m.Members {
		if err == nil {
			err = enc.Encode(memberLine{lineMember, member})
		}
	}
	for _, v := range m.Versions {
		if err == nil {
			err = encodeVersion(&buf, enc, &v)
		}
	}
	for _, fact := range m.Facts {
		line := factLine{Type: lineFact, Fact: fact}
		line.Time = jsonTime(fact.Time)
		line.Key, line.KeyRaw = blob.Readable(fact.Key)
		if err == nil {
			err = enc.Encode(line)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return buf.Bytes(), nil
}

// typicalLine is the approximate length of a version line.
const typicalLine = 512

func encodeVersion(buf *bytes.Buffer, enc *json.Encoder, v *blob.Version) error {
	if quick, ok := appendVersion(buf.AvailableBuffer(), v); ok {
		buf.Write(quick)
	} else if err := enc.Encode(lineOf(v)); err != nil {
		return err
	}
	for _, e := range v.Extents {
		if e.CopyOf == nil || e.CopyOf.Pack == "" {
			continue
		}
		name := nameOf(v, &e)
		line := copyLine{Type: lineCopy, Pack: e.CopyOf.Pack, Raw: e.CopyOf.Raw, Size: e.Size, SHA256: e.SHA256, Entry: name}
		if !utf8.ValidString(name) {
			line.Entry, line.EntryRaw = "", []byte(name)
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(v *blob.Version) versionLine {
	line := versionLine{Type: lineVersion, Version: *v}
	line.ModTime = jsonTime(v.ModTime)
	line.Source, line.SourceRaw = blob.Readable(v.Source)
	line.Path, line.PathRaw = blob.Readable(v.Path)
	line.Claim, line.ClaimRaw = blob.Readable(v.Claim)
	return line
}

// jsonTime clamps a time to the years that JSON can represent: a file may have any modification time.
func jsonTime(t time.Time) time.Time {
	t = t.UTC()
	switch year := t.Year(); {
	case year < 0:
		return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
	}
	return t
}

// selection says which lines of a manifest to decode. The zero value is all of them; with keep, not the versions that it
// rejects; with originals, only the versions of originals that it accepts.
type selection struct {
	keep      Filter
	originals func(blob.Name) bool
}

// decodeManifest decodes the lines of a manifest that are wanted. It ignores lines of unknown types.
func decodeManifest(lines []byte, wanted selection) (m blob.Manifest, summary summary, id string, err error) {
	d := decoder{m: &m, selection: wanted}
	n := 0
	for line := range bytes.Lines(lines) {
		if n++; n == 1 {
			id, err = decodePack(line, &m)
		} else {
			err = d.decodeLine(line)
		}
		if err != nil {
			return blob.Manifest{}, summary, "", fmt.Errorf("manifest line %d: %w", n, err)
		}
	}
	if n == 0 {
		return blob.Manifest{}, summary, "", fmt.Errorf("the manifest has no lines")
	}
	return m, d.summary, id, nil
}

func decodePack(data []byte, m *blob.Manifest) (id string, err error) {
	var line packLine
	if err := json.Unmarshal(data, &line); err != nil {
		return "", err
	}
	switch {
	case line.Type != linePack || line.Format < 1:
		return "", fmt.Errorf("not the first line of a manifest")
	case line.Format > formatVersion:
		return "", fmt.Errorf("format %d: %w", line.Format, blob.ErrTooNew)
	case !validID(line.ID):
		return "", fmt.Errorf("%q is not the id of a pack", line.ID)
	}
	m.Writer, m.Created, m.Replaces = line.Writer, line.Created, line.Replaces
	return line.ID, nil
}

// decoder decodes all lines but the first.
type decoder struct {
	selection
	m       *blob.Manifest
	summary summary
	prev    blob.Version
}

// summary is what a Reader keeps of all versions of a manifest, including those that the selection leaves out.
type summary struct {
	stored      []Content
	first, last blob.Name
}

func (t *summary) add(v *blob.Version) {
	for _, e := range v.Extents {
		if e.CopyOf == nil {
			t.stored = append(t.stored, Content{e.Raw, e.Size, ShortSum(e.SHA256[:16])})
		}
	}
	name := v.Name()
	if t.first == (blob.Name{}) || name.Compare(t.first) < 0 {
		t.first = name
	}
	if name.Compare(t.last) > 0 {
		t.last = name
	}
}

func (d *decoder) decodeLine(data []byte) error {
	m := d.m
	switch lineType(data) {
	case lineMember:
		var line memberLine
		err := json.Unmarshal(data, &line)
		m.Members = append(m.Members, line.Member)
		return err
	case lineVersion:
		if d.originals != nil {
			return d.versionIfWanted(data)
		}
		v, err := d.version(data)
		if err != nil {
			return err
		}
		d.summary.add(&v)
		if d.prev = v; d.keep == nil || d.keep(&v) {
			m.Versions = append(m.Versions, v)
		}
		return nil
	case lineFact:
		if d.originals != nil {
			return nil
		}
		f, err := decodeFact(data)
		m.Facts = append(m.Facts, f)
		return err
	}
	if !json.Valid(data) {
		return fmt.Errorf("not JSON")
	}
	return nil
}

// versionIfWanted decodes a version line if its original is wanted.
func (d *decoder) versionIfWanted(data []byte) error {
	if name, ok := quickName(data, &d.prev); ok && !d.originals(name) {
		return nil
	}
	v, err := d.version(data)
	if d.prev = v; err == nil && d.originals(v.Name()) {
		d.m.Versions = append(d.m.Versions, v)
	}
	return err
}

func decodeFact(data []byte) (blob.Fact, error) {
	if f, ok := quickFact(data); ok {
		return f, nil
	}
	var line factLine
	err := json.Unmarshal(data, &line)
	exact(&line.Key, line.KeyRaw)
	return line.Fact, err
}

func (d *decoder) version(data []byte) (blob.Version, error) {
	if v, ok := quickVersion(data, &d.prev); ok {
		return v, nil
	}
	var line versionLine
	err := json.Unmarshal(data, &line)
	exact(&line.Source, line.SourceRaw)
	exact(&line.Path, line.PathRaw)
	exact(&line.Claim, line.ClaimRaw)
	return line.Version, err
}

// exact replaces the readable form of a string with its exact bytes, if there are any.
func exact(s *string, raw []byte) {
	if raw != nil {
		*s = string(raw)
	}
}

// lineType returns the value of the first key of a line, "type", without parsing the line.
func lineType(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(name)
}
