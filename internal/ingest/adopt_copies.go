package ingest

import (
	"github.com/txarchive/txarchive/internal/blob"
)

// intertwined cuts manifests into runs that must be indexed together: copies name packs that come before theirs, until
// gc puts these into a later one. Copies of what lay in a pack that is gone are made to name the place where the same
// bytes stand now.
func intertwined(manifests []blob.Manifest) (runs [][]blob.Manifest) {
	at := map[string]int{}
	for i, m := range manifests {
		at[m.Pack] = i
	}
	stored := bytesOf(manifests, at)
	start, end := 0, 0 // of the run: what it names lies before end
	for i := range manifests {
		if i > end {
			runs = append(runs, manifests[start:i])
			start, end = i, i
		}
		end = max(end, redirect(&manifests[i], at, stored))
	}
	if len(manifests) > 0 {
		runs = append(runs, manifests[start:])
	}
	return runs
}

// bytesOf says where the contents stand that copies in packs which are gone mean.
func bytesOf(manifests []blob.Manifest, at map[string]int) map[blob.Ref]blob.Copy {
	wanted := map[blob.Ref]bool{}
	each(manifests, func(_ int, e *blob.Extent) {
		if e.CopyOf != nil && e.CopyOf.Pack != "" {
			if _, there := at[e.CopyOf.Pack]; !there {
				wanted[e.SHA256] = true
			}
		}
	})
	stored := map[blob.Ref]blob.Copy{}
	each(manifests, func(i int, e *blob.Extent) {
		if e.CopyOf == nil && wanted[e.SHA256] {
			stored[e.SHA256] = blob.Copy{Pack: manifests[i].Pack, Raw: e.Raw}
		}
	})
	return stored
}

func each(manifests []blob.Manifest, do func(i int, e *blob.Extent)) {
	for i := range manifests {
		for j := range manifests[i].Versions {
			extents := manifests[i].Versions[j].Extents
			for k := range extents {
				do(i, &extents[k])
			}
		}
	}
}

// redirect puts the copies of a manifest right, and returns the last manifest that they name.
func redirect(m *blob.Manifest, at map[string]int, stored map[blob.Ref]blob.Copy) (last int) {
	for j := range m.Versions {
		for k := range m.Versions[j].Extents {
			e := &m.Versions[j].Extents[k]
			if e.CopyOf == nil || e.CopyOf.Pack == "" {
				continue
			}
			if _, there := at[e.CopyOf.Pack]; !there {
				if now, ok := stored[e.SHA256]; ok {
					e.CopyOf = &now
				}
			}
			last = max(last, at[e.CopyOf.Pack])
		}
	}
	return last
}
