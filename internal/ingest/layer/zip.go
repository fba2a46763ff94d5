package layer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// ZipFile is one file of a zip.
type ZipFile struct {
	Name   string    // as written; it is data, never a path to open
	Inner  string    // the layer with its content: see Layer
	Reader io.Reader // valid until the next file. Its error is a *ContentError if the content cannot be read
}

// zipFileLayer begins the layer of a file: "zip@<offset>:<name>". With the offset of what the zip has of the file, a reader needs nothing
// of the files before it.
const zipFileLayer = "zip@"

func layerOf(name string, offset int64) string {
	return zipFileLayer + strconv.FormatInt(offset, 10) + ":" + name
}

// ZipFiles yields the files of a zip in the order in which they were written, which is where a stream meets them: a zip whose list of files
// at its end is missing has them, too. What replaced a file of the same name follows it. Files are stored, deflated or compressed by zstd;
// others, and encrypted ones, have an error at their first Read. A file whose length stands behind it must be deflated: nothing else says where
// the next one begins. An error is about the zip if IsContent reports so, else it is r's; either ends the sequence.
func ZipFiles(r io.Reader) iter.Seq2[ZipFile, error] {
	return func(yield func(ZipFile, error) bool) {
		for z := newZipReader(r, readAhead); ; {
			file, err := z.file()
			if err == io.EOF || !yield(file, err) || err != nil {
				return
			}
		}
	}
}

const readAhead = 64 << 10 // bytes

// zipReader reads a zip as a stream.
type zipReader struct {
	in   counter
	buf  *bufio.Reader
	out  int64 // bytes of content so far
	last *zipContent

	// Decoders are of all files: each would take memory for its window, which a small file may state to be large.
	flate io.Reader
	zstd  *zstd.Decoder
}

func newZipReader(r io.Reader, ahead int) *zipReader {
	z := &zipReader{in: counter{r: r}}
	z.buf = bufio.NewReaderSize(&z.in, ahead)
	return z
}

// offset returns how much of the zip was taken.
func (z *zipReader) offset() int64 { return z.in.n - int64(z.buf.Buffered()) }

// file returns the next file, after what is left of the present one. The error is io.EOF after the last.
func (z *zipReader) file() (ZipFile, error) {
	for {
		if z.last != nil {
			if err := z.last.skip(); err != nil {
				return ZipFile{}, err
			}
		}
		offset := z.offset()
		h, err := z.next()
		if err != nil {
			return ZipFile{}, err
		}
		z.last = &zipContent{z: z, h: h, start: z.offset()}
		if !h.sizeAfter() {
			z.last.packed = &io.LimitedReader{R: z.buf, N: h.packed}
		}
		if strings.HasSuffix(h.name, "/") && h.size == 0 {
			continue // a directory
		}
		return ZipFile{h.name, layerOf(h.name, offset), z.last}, nil
	}
}

// wrapError returns the error of the underlying reader if there is one, else err as a ContentError.
func (z *zipReader) wrapError(err error) error {
	switch {
	case z.in.err != nil:
		return z.in.err
	case err == nil, err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return &ContentError{"zip", err}
}

// zipHeader is what stands before a file.
type zipHeader struct {
	name         string
	flags        uint16
	method       uint16
	sum          uint32
	packed, size int64
}

// sizeAfter reports whether the length of the file stands behind it. A deflated file says itself where it ends.
func (h *zipHeader) sizeAfter() bool { return h.flags&zipSizeAfter != 0 && h.packed == 0 }

// The signatures of what a zip consists of, the bits of flags, and the methods.
const (
	zipFileHeader = 0x04034b50
	zipListHeader = 0x02014b50 // of the list of files, which is at the end
	zipEnd        = 0x06054b50 // of a zip without files

	zipEncrypted = 1 << 0
	zipSizeAfter = 1 << 3 // the sizes follow the content

	zipStored   = 0
	zipDeflated = 8
	zipZstd     = 93
)

var (
	errZipHeader    = errors.New("no header where a file should begin")
	errZipSizeAfter = errors.New("the length of a file stands behind it")
	errZipEncrypted = errors.New("it is encrypted")
	errZipSize      = errors.New("it has another size than stated")
	errZipSum       = errors.New("it has another checksum than stated")
	errZipEnd       = errors.New("its checksum and length do not follow")
)

// next reads the header of the next file. It returns io.EOF, and has read everything, if the list of files follows.
func (z *zipReader) next() (h zipHeader, err error) {
	var b [30]byte
	if _, err := io.ReadFull(z.buf, b[:4]); err != nil {
		return h, z.wrapError(err)
	}
	switch binary.LittleEndian.Uint32(b[:]) {
	case zipFileHeader:
	case zipListHeader, zipEnd:
		if _, err := io.Copy(io.Discard, z.buf); err != nil {
			return h, err
		}
		return h, io.EOF
	default:
		return h, z.wrapError(errZipHeader)
	}
	if _, err := io.ReadFull(z.buf, b[4:]); err != nil {
		return h, z.wrapError(err)
	}
	word := binary.LittleEndian.Uint16
	h.flags, h.method, h.sum = word(b[6:]), word(b[8:]), binary.LittleEndian.Uint32(b[14:])
	packed, size := binary.LittleEndian.Uint32(b[18:]), binary.LittleEndian.Uint32(b[22:])
	h.packed, h.size = int64(packed), int64(size)
	names := make([]byte, int(word(b[26:]))+int(word(b[28:])))
	if _, err := io.ReadFull(z.buf, names); err != nil {
		return h, z.wrapError(err)
	}
	h.name = string(names[:word(b[26:])])
	if h.readLarge(names[word(b[26:]):], packed, size); h.packed < 0 || h.size < 0 {
		return h, z.wrapError(errZipHeader)
	}
	if h.sizeAfter() && (h.method != zipDeflated || h.flags&zipEncrypted != 0) {
		return h, z.wrapError(errZipSizeAfter)
	}
	return h, nil
}

// readLarge reads sizes of 4 GiB or more, which stand in the extra field 1.
func (h *zipHeader) readLarge(extra []byte, packed, size uint32) {
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if n > len(extra) {
			return
		}
		field := extra[:n]
		extra = extra[n:]
		if id != 1 {
			continue
		}
		for _, f := range []struct {
			short uint32
			long  *int64
		}{{size, &h.size}, {packed, &h.packed}} {
			if f.short == 1<<32-1 && len(field) >= 8 {
				*f.long, field = int64(binary.LittleEndian.Uint64(field)), field[8:]
			}
		}
	}
}

// zipContent reads the content of one file, and checks it at its end.
type zipContent struct {
	z      *zipReader
	h      zipHeader
	start  int64             // where the content begins
	packed *io.LimitedReader // what is left of it, as stored; nil if its length stands behind it
	r      io.Reader         // nil before the first Read
	n      int64
	sum    uint32
	err    error
}

func (c *zipContent) Read(p []byte) (int, error) {
	if c.err == nil && c.r == nil {
		c.r, c.err = c.open()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.sum = crc32.Update(c.sum, crc32.IEEETable, p[:n])
	c.z.out += int64(n)
	switch {
	case isImplausible(c.n, c.z.offset()-c.start), isImplausible(c.z.out, c.z.in.n): // the latter of many files that each stay below it
		err = fmt.Errorf("zip: %w", ErrTooLarge)
	case err == io.EOF:
		err = c.check()
	case err != nil:
		err = c.z.wrapError(err)
	}
	c.err = err
	return n, err
}

// open returns a reader of what is compressed.
func (c *zipContent) open() (io.Reader, error) {
	z := c.z
	switch {
	case c.h.flags&zipEncrypted != 0:
		return nil, &ContentError{"zip", errZipEncrypted}
	case c.h.method == zipStored:
		return c.packed, nil
	case c.h.method == zipDeflated && c.packed == nil:
		return z.inflate(z.buf) // of a buffer it takes no more than it needs
	case c.h.method == zipDeflated:
		return z.inflate(c.packed)
	case c.h.method == zipZstd && z.zstd == nil:
		var err error
		if z.zstd, err = newZstd(c.packed); err != nil {
			return nil, z.wrapError(err)
		}
		return z.zstd, nil
	case c.h.method == zipZstd:
		return z.zstd, z.zstd.Reset(c.packed)
	}
	return nil, &ContentError{"zip", errors.New("it is compressed by method " + strconv.Itoa(int(c.h.method)))}
}

func (z *zipReader) inflate(r io.Reader) (io.Reader, error) {
	if z.flate == nil {
		z.flate = flate.NewReader(r)
		return z.flate, nil
	}
	return z.flate, z.flate.(flate.Resetter).Reset(r, nil)
}

// check returns io.EOF if the content is as it should be.
func (c *zipContent) check() error {
	switch {
	case c.packed == nil && !c.takeSizes():
		return c.z.wrapError(errZipEnd)
	case c.packed != nil && c.n != c.h.size:
		return &ContentError{"zip", errZipSize}
	case c.packed != nil && c.sum != c.h.sum:
		return &ContentError{"zip", errZipSum}
	}
	return io.EOF
}

// takeSizes takes the checksum and the sizes behind a file, and reports whether they are right. The sizes have four bytes, or eight; a signature that
// most writers put before them is not a part of the standard.
func (c *zipContent) takeSizes() bool {
	packed, size := c.z.offset()-c.start, c.n
	short, _ := binary.Append(nil, binary.LittleEndian, []uint32{c.sum, uint32(packed), uint32(size)})
	long, _ := binary.Append(nil, binary.LittleEndian, struct {
		Sum          uint32
		Packed, Size int64
	}{c.sum, packed, size})
	for _, signature := range []string{"PK\x07\x08", ""} {
		for _, sizes := range [][]byte{long, short} {
			want := signature + string(sizes)
			if have, _ := c.z.buf.Peek(len(want)); string(have) == want {
				_, _ = c.z.buf.Discard(len(want))
				return true
			}
		}
	}
	return false
}

// skip moves behind the content.
func (c *zipContent) skip() error {
	if c.packed == nil {
		_, err := io.Copy(io.Discard, c)
		return err
	}
	if _, err := io.Copy(io.Discard, c.packed); err != nil || c.packed.N > 0 {
		return c.z.wrapError(err)
	}
	return nil
}

// zipMember returns the content of the file that a layer names. It seeks r if it can.
func zipMember(r io.Reader, layer string) (io.Reader, error) {
	number, name, _ := strings.Cut(strings.TrimPrefix(layer, zipFileLayer), ":")
	offset, err := strconv.ParseInt(number, 10, 64)
	if err != nil || offset < 0 {
		return nil, ErrUnknown
	}
	if s, ok := r.(io.Seeker); ok {
		_, err = s.Seek(offset, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, r, offset)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	file, err := newZipReader(r, 4<<10).file()
	if err == io.EOF || err == nil && file.Name != name {
		return nil, ErrUnknown
	}
	return file.Reader, err
}

// zipContents returns what can be read of all files of a zip, one after another. Where a stream cannot tell where the next one begins, it is
// looked for.
func zipContents(r io.Reader) io.Reader { return &zipAll{z: newZipReader(r, readAhead)} }

type zipAll struct {
	z    *zipReader
	file io.Reader // nil between two files
}

func (a *zipAll) Read(p []byte) (int, error) {
	for {
		if a.file == nil {
			file, err := a.z.file()
			if IsContent(err) && a.z.findHeader() {
				continue
			}
			if err != nil {
				return 0, err
			}
			a.file = file.Reader
		}
		n, err := a.file.Read(p)
		switch {
		case err == io.EOF || IsContent(err):
			a.file = nil
		case err != nil:
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// findHeader moves to the next header of a file, and reports whether there is one.
func (z *zipReader) findHeader() bool {
	z.last = nil
	var signature [4]byte
	binary.LittleEndian.PutUint32(signature[:], zipFileHeader)
	for {
		ahead, err := z.buf.Peek(readAhead)
		if i := bytes.Index(ahead, signature[:]); i >= 0 {
			_, _ = z.buf.Discard(i)
			return true
		}
		if err != nil {
			return false
		}
		_, _ = z.buf.Discard(len(ahead) - len(signature) + 1)
	}
}
