package prune

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// List is an ordered list of records of a plan. There may be a million, so beyond a limit they are in a temporary
// file, which is unlinked where the system allows that; only offsets are kept in memory.
type List[T any] struct {
	at    []int64 // offset of each record
	file  *os.File
	size  int64  // size of the file
	tail  []byte // records after the end of the file, not yet written
	limit int    // limit of tail; 0 means listLimit
	read  []byte // buffered bytes of the file, from offset from on
	from  int64
	fill  func(i int, x *T) // sets fields of a record that are stored elsewhere; may be nil
}

// listLimit is how many bytes of records are kept in memory, and listReadSize how many are read at a time.
const (
	listLimit    = 1 << 20
	listReadSize = 1 << 12
)

// Len returns the number of records.
func (l *List[T]) Len() int { return len(l.at) }

// All yields the records, in order.
func (l *List[T]) All() iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for i := range l.at {
			if x, err := l.get(i); !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// add appends a record.
func (l *List[T]) add(x *T) error {
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	l.at = append(l.at, l.size+int64(len(l.tail)))
	l.tail = append(binary.LittleEndian.AppendUint32(l.tail, uint32(len(data))), data...)
	if len(l.tail) < cmp.Or(l.limit, listLimit) {
		return nil
	}
	if l.file == nil {
		if l.file, err = os.CreateTemp("", "txarchive-plan-"); err != nil {
			return fmt.Errorf("write plan: %w", err)
		}
		_ = os.Remove(l.file.Name()) // where open files cannot be removed, Close does it
	}
	n, err := l.file.Write(l.tail)
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	l.size, l.tail = l.size+int64(n), l.tail[:0]
	return nil
}

// get decodes the i-th record.
func (l *List[T]) get(i int) (*T, error) {
	const head = 4
	data, err := l.bytes(l.at[i], head)
	if err == nil {
		data, err = l.bytes(l.at[i]+head, int(binary.LittleEndian.Uint32(data)))
	}
	x := new(T)
	if err == nil {
		err = json.Unmarshal(data, x)
	}
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if l.fill != nil {
		l.fill(i, x)
	}
	return x, nil
}

// bytes returns n bytes at offset at. They are valid until the next call.
func (l *List[T]) bytes(at int64, n int) ([]byte, error) {
	if at >= l.size {
		return l.tail[at-l.size:][:n], nil
	}
	if at < l.from || at+int64(n) > l.from+int64(len(l.read)) {
		l.read, l.from = append(l.read[:0], make([]byte, max(n, listReadSize))...), at
		k, err := l.file.ReadAt(l.read, at)
		if l.read = l.read[:k]; k < n {
			return nil, cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	return l.read[at-l.from:][:n], nil
}

func (l *List[T]) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if rmErr := os.Remove(l.file.Name()); !errors.Is(rmErr, os.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	l.file = nil
	return err
}
