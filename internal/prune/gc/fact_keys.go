package gc

import (
	"bytes"
	"encoding/json"
)

// keysOf returns where the keys of objects are in JSON, without their quotes.
func keysOf(value []byte) (keys [][2]int) {
	d := json.NewDecoder(bytes.NewReader(value))
	var objects []bool // whether what is open is an object
	isKey := false     // whether a key is next
	for {
		t, err := d.Token()
		if err != nil {
			return keys
		}
		inObject := len(objects) > 0 && objects[len(objects)-1]
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				objects, isKey = append(objects, t == '{'), t == '{'
				continue
			}
			objects = objects[:len(objects)-1]
			isKey = len(objects) > 0 && objects[len(objects)-1]
			continue
		case string:
			end := int(d.InputOffset()) - 1
			if from := end - len(t); isKey && from >= 0 && string(value[from:end]) == t { // one with escapes is nobody's own
				keys = append(keys, [2]int{from, end})
			}
		}
		isKey = inObject && !isKey
	}
}
