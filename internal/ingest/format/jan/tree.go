package jan

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// node is what the tree of messages needs to know of one. Prompts that were edited and answers that were made anew are beside
// each other, below the message before them.
type node struct {
	id     string
	parent parent
	active string // the one below it that is shown
	at     transcript.Time
}

// parent is what a message states about the one before it.
type parent struct {
	stated bool // not by messages of threads in which nothing was made anew
	id     string
}

func nodeOf(v jsontext.Value) node {
	metadata := v.Get("metadata")
	n := node{id: v.Get("id").Text(), active: metadata.Get("activeChildId").Str(), at: timeOf(v.Get("created_at"))}
	if before := metadata.Get("parentId"); before.IsString() || before.Exists() && before.IsNull() {
		n.parent = parent{true, before.Str()}
	}
	return n
}

// shown returns the messages that the program shows: from the newest at the top, below each the one that it states, else the newest.
// It returns nil if all are.
func shown(nodes []node) map[string]bool {
	below := map[parent][]node{}
	for _, n := range nodes {
		if n.parent.stated {
			below[n.parent] = append(below[n.parent], n)
		}
	}
	var path map[string]bool
	active := ""
	for at := (parent{stated: true}); ; {
		next, ok := pick(below[at], active)
		if !ok || path[next.id] {
			return path
		}
		if path == nil {
			path = map[string]bool{}
		}
		path[next.id] = true
		at.id, active = next.id, next.active
	}
}

// pick returns one of several versions of a message: the one with the id, else the newest.
func pick(versions []node, id string) (picked node, ok bool) {
	for n, v := range versions {
		if v.id == id && id != "" {
			return v, true
		}
		if n == 0 || v.at.UnixMicro >= picked.at.UnixMicro {
			picked = v
		}
	}
	return picked, len(versions) > 0
}
