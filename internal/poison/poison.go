// Package poison overwrites buffers that are being released, so that tests fail for code that still reads them. It does so only in
// programs that are built with the tag poison (make poison).
package poison

// Bytes overwrites a buffer.
func Bytes(b []byte) {
	if !On {
		return
	}
	for i := range b {
		b[i] = 0xa5
	}
}
