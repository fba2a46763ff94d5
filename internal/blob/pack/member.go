package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/txarchive/txarchive/internal/blob"
)

// Every member begins with these bytes: a gzip header with FEXTRA, without time and operating system, and the subfield
// "TX" of 8 bytes: the stored and the raw length of the member. Only the trailer has a second subfield.
const (
	memberMagic  = "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x0c\x00TX\x08\x00"
	memberHeader = len(memberMagic) + 8
	memberFooter = 8 // CRC-32 and length
)

// stored is a member in memory.
type stored struct {
	data []byte
	raw  int64
	sum  blob.Ref // of data
}

// encoder compresses members.
type encoder struct{ level int }

// deflater is what compressing takes: with its tables more than a megabyte. It is kept for later members and other builders.
type deflater struct {
	fw  *flate.Writer
	buf bytes.Buffer
}

// idle has the deflaters that nobody uses, by level: at most as many as were in use at once.
var idle struct {
	sync.Mutex
	of [flate.BestCompression + 1][]*deflater
}

func takeDeflater(level int) *deflater {
	idle.Lock()
	defer idle.Unlock()
	if n := len(idle.of[level]); n > 0 {
		d := idle.of[level][n-1]
		idle.of[level] = idle.of[level][:n-1]
		d.buf.Reset()
		d.fw.Reset(&d.buf)
		return d
	}
	d := &deflater{}
	fw, err := flate.NewWriter(&d.buf, level)
	must(err) // Options.normal has made the level valid
	d.fw = fw
	return d
}

func giveBack(d *deflater, level int) {
	idle.Lock()
	defer idle.Unlock()
	idle.of[level] = append(idle.of[level], d)
}

// member compresses raw. The result does not depend on earlier calls.
func (e encoder) member(raw []byte) stored {
	d := takeDeflater(e.level)
	defer giveBack(d, e.level)
	d.buf.WriteString(memberMagic)
	d.buf.Write(make([]byte, 8))
	_, err := d.fw.Write(raw)
	must(err) // a bytes.Buffer does not fail
	must(d.fw.Close())
	var footer [memberFooter]byte
	binary.LittleEndian.PutUint32(footer[:], crc32.ChecksumIEEE(raw))
	binary.LittleEndian.PutUint32(footer[4:], uint32(len(raw)))
	d.buf.Write(footer[:])

	data := bytes.Clone(d.buf.Bytes())
	binary.LittleEndian.PutUint32(data[len(memberMagic):], uint32(len(data)))
	binary.LittleEndian.PutUint32(data[len(memberMagic)+4:], uint32(len(raw)))
	return stored{data: data, raw: int64(len(raw)), sum: sha256.Sum256(data)}
}

// must panics on errors that cannot happen.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// parseMember reads the lengths from the first memberHeader bytes of a member. It is not ok if the header is not that of a
// member or no member can have these lengths.
func parseMember(head []byte) (size, raw int64, ok bool) {
	if len(head) < memberHeader || string(head[:len(memberMagic)]) != memberMagic {
		return 0, 0, false
	}
	size = int64(binary.LittleEndian.Uint32(head[len(memberMagic):]))
	raw = int64(binary.LittleEndian.Uint32(head[len(memberMagic)+4:]))
	return size, raw, plausible(size, raw)
}

// plausible reports whether a member of size bytes can inflate to raw bytes: deflate expands at most 1032 times.
func plausible(size, raw int64) bool {
	deflated := size - int64(memberHeader+memberFooter)
	return deflated > 0 && raw > 0 && raw <= maxMemberRaw && raw <= deflated*1032
}

type inflater struct {
	src bytes.Reader
	r   io.ReadCloser
}

var inflaterPool = sync.Pool{New: func() any { return &inflater{r: flate.NewReader(bytes.NewReader(nil))} }}

// inflate returns the raw bytes of a stored member, or what is wrong with it.
func inflate(data []byte) (raw []byte, wrong string) {
	size, rawSize, ok := parseMember(data)
	if !ok || size != int64(len(data)) {
		return nil, "not the header of a member"
	}
	in := inflaterPool.Get().(*inflater)
	defer inflaterPool.Put(in)
	deflated := data[memberHeader : len(data)-memberFooter]
	in.src.Reset(deflated)
	if err := in.r.(flate.Resetter).Reset(&in.src, nil); err != nil {
		return nil, err.Error()
	}
	raw = make([]byte, rawSize)
	if _, err := io.ReadFull(in.r, raw); err != nil {
		return nil, "the deflate stream is damaged"
	}
	var more [1]byte
	if n, err := in.r.Read(more[:]); n != 0 || err != io.EOF || in.src.Len() != 0 {
		return nil, "the deflate stream does not end where it should"
	}
	footer := data[len(data)-memberFooter:]
	if binary.LittleEndian.Uint32(footer) != crc32.ChecksumIEEE(raw) {
		return nil, "wrong CRC-32"
	}
	if int64(binary.LittleEndian.Uint32(footer[4:])) != rawSize {
		return nil, "wrong length"
	}
	return raw, ""
}
