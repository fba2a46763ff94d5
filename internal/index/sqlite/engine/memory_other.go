//go:build !linux

package engine

import (
	"modernc.org/libc"
	"modernc.org/libc/sys/types"
)

func takeLot(t *libc.TLS) uintptr { return libc.Xmalloc(t, types.Size_t(lotSize)) }

func giveLot(t *libc.TLS, lot uintptr) { libc.Xfree(t, lot) }
