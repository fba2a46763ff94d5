//go:build poison

package format

// poisonBytes overwrites a buffer that is being released, so that tests fail for code that still reads it (make poison).
func poisonBytes(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}

// poisonDocument makes a document unusable whose values are no longer valid, and returns a new one.
func poisonDocument(d *document) *document {
	clear(d.nodes)
	d.bytes = []byte{0xa5}
	return new(document)
}
