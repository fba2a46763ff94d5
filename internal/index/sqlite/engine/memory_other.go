//go:build !linux

package engine

import (
	"modernc.org/libc"
	"modernc.org/libc/sys/types"
)

func allocSlab(t *libc.TLS) uintptr { return libc.Xmalloc(t, types.Size_t(slabSize)) }

func freeSlab(t *libc.TLS, slab uintptr) { libc.Xfree(t, slab) }
