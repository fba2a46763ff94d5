package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
)

// Memory is a Store in memory.
type Memory struct {
	mu    sync.Mutex
	packs map[string][]byte
}

var _ blob.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{packs: map[string][]byte{}} }

// Create implements blob.Store.
func (m *Memory) Create(ctx context.Context) (blob.Upload, error) {
	return &memoryUpload{store: m}, ctx.Err()
}

// Open implements blob.Store.
func (m *Memory) Open(ctx context.Context, name string) (blob.Pack, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.packs[name]
	if !ok {
		return nil, fmt.Errorf("open pack %s: %w", name, blob.ErrNotFound)
	}
	return Bytes(data), ctx.Err()
}

// List implements blob.Store.
func (m *Memory) List(ctx context.Context) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		m.mu.Lock()
		var infos []blob.Info
		for _, name := range slices.Sorted(maps.Keys(m.packs)) {
			infos = append(infos, blob.Info{Name: name, Size: int64(len(m.packs[name]))})
		}
		m.mu.Unlock()
		for _, info := range infos {
			if err := ctx.Err(); err != nil {
				yield(blob.Info{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Remove implements blob.Store.
func (m *Memory) Remove(ctx context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.packs[name]; !ok {
		return fmt.Errorf("remove pack %s: %w", name, blob.ErrNotFound)
	}
	delete(m.packs, name)
	return ctx.Err()
}

// Bytes returns a pack with the given bytes, which need not be in a store or be a valid pack.
func Bytes(data []byte) blob.Pack { return memoryPack{bytes.NewReader(data)} }

type memoryPack struct{ *bytes.Reader }

func (memoryPack) Close() error { return nil }

type memoryUpload struct {
	store *Memory
	buf   bytes.Buffer
	ended bool
}

var errEnded = errors.New("the upload has ended")

func (u *memoryUpload) Write(p []byte) (int, error) {
	if u.ended {
		return 0, errEnded
	}
	return u.buf.Write(p)
}

func (u *memoryUpload) Commit(ctx context.Context, name string) error {
	if u.ended {
		return errEnded
	}
	u.ended = true
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	if _, ok := u.store.packs[name]; ok {
		return fmt.Errorf("commit pack %s: %w", name, blob.ErrExists)
	}
	if !blob.ValidName(name) {
		return fmt.Errorf("commit pack: %q is not the name of a pack", name)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	u.store.packs[name] = u.buf.Bytes()
	return nil
}

func (u *memoryUpload) Abort() error {
	u.ended = true
	return nil
}
