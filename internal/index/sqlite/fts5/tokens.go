package fts5

import "strings"

// separators are the printable ASCII characters that separate tokens: those that are neither letters nor digits nor in the
// tokenchars option of the table. Every non-ASCII byte is part of a token.
const separators = "\"'`"

const maxToken = 32768 // FTS5 truncates longer ones

// isTokenByte marks the bytes that are part of a token and that the tokenizer does not fold.
var isTokenByte = func() (k [256]bool) {
	for i := range k {
		k[i] = i > ' ' && i != 0x7f && (i < 'A' || i > 'Z') && strings.IndexByte(separators, byte(i)) < 0
	}
	return k
}()

func isToken(term []byte) bool {
	for _, c := range term {
		if !isTokenByte[c] {
			return false
		}
	}
	return len(term) > 0 && len(term) <= maxToken
}
