//go:build !poison

package format

// poisonBytes does nothing: see poison_on.go.
func poisonBytes([]byte) {}

func poisonDocument(d *document) *document { return d }
