package ingest_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
)

// zipOf returns a zip of alternating names and contents.
func zipOf(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: zip.Deflate, Modified: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = io.WriteString(f, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkOriginals expects exactly these originals, by path, with the given versions.
func (w *world) checkOriginals(what string, want map[string][]string) {
	w.t.Helper()
	stored := w.allVersions()
	for path := range stored {
		if want[path] == nil {
			w.t.Errorf("%s: %s is stored", what, path)
		}
	}
	for path, contents := range want {
		if got := stored[path]; !slices.Equal(got, contents) {
			w.t.Errorf("%s: %d contents stored of %s, want %d as they were", what, len(got), path, len(contents))
		}
	}
}

// TestLifeZips has successive exports: each is a zip with everything that the one before had.
func TestLifeZips(t *testing.T) {
	for format, chat := range exportedChats {
		if format == "grok-export" { // see TestLifeGrokZip
			continue
		}
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s, w := newTree(t), newWorld(t)
			image := strings.Repeat("of a boat ", 99999)
			first := export(chat("c1", "Sails", 60, "m1 mend the sail", "m2 with thraed"), chat("c2", "Ropes", 60, "n1 which knot"))
			s.write("photos.zip", zipOf(t, "a.png", image))
			s.write("notes.txt", "not of an export")
			s.write("jan.zip", zipOf(t, "conversations.json", first, "dalle/", "", "dalle/boat.webp", image, "chat.html", "<p>which knot", "user.json", "{}",
				"file-a.json", export(chat("c9", "Another's", 9, "z1 attached")), "work/.env", "A=1"))
			want := map[string][]string{"jan.zip/conversations.json": {first}, "jan.zip/dalle/boat.webp": {image}, "jan.zip/chat.html": {"<p>which knot"},
				"jan.zip/user.json": {"{}"}, "jan.zip/file-a.json": {export(chat("c9", "Another's", 9, "z1 attached"))}}
			w.ingestAndCheck("first", format, s.dir, counts{runs: 2, conversations: 2, events: 3}, 5, 0, 0)
			w.checkOriginals("first", want)

			// The next is larger, in two shards, below a directory, and has the same image.
			second := []string{export(chat("c1", "Sails and masts", 600, "m1 mend the sail", "m2 with thread", "m3 and the mast")), export(chat("c3", "Oars", 600, "o1 how long"))}
			s.write("feb.ZIP", zipOf(t, "export/conversations-000.json", second[0], "export/conversations-001.json", second[1], "export/dalle/boat.webp", image))
			w.ingestAndCheck("second", format, s.dir, counts{runs: 3, conversations: 3, events: 5}, 2, 0, 0)
			want["feb.ZIP/export/conversations-000.json"], want["feb.ZIP/export/conversations-001.json"], want["feb.ZIP/export/dalle/boat.webp"] = second[:1], second[1:], []string{image}
			w.checkOriginals("second", want)

			// A later one takes the place of the first, as some browsers do, and the rest of it is as it was.
			third := export(chat("c1", "Sails and masts", 900, "m1 mend the sail", "m2 with thread", "m3 and the mast", "m4 splint it"), chat("c2", "Ropes", 60, "n1 which knot"))
			s.write("jan.zip", zipOf(t, "conversations.json", third, "dalle/boat.webp", image))
			w.ingestAndCheck("third", format, s.dir, counts{runs: 3, conversations: 3, events: 6}, 0, 0, 1)
			want["jan.zip/conversations.json"] = []string{first, third}
			w.checkOriginals("third", want)

			// Unpacked beside it nothing counts twice.
			s.write("unpacked/conversations.json", third)
			w.ingestAndCheck("unpacked", format, s.dir, counts{runs: 3, conversations: 3, events: 6}, 0, 0, 0)
		})
	}
}

// TestLifeGrokZip has the zip of an account at xAI: files of users without a suffix, and one of sessions and keys, which is not archived,
// neither from the zip nor beside it.
func TestLifeGrokZip(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	const dir, asset = "ttl/30d/export_data/u/", "ttl/30d/export_data/u/prod-mc-asset-server/a1/content"
	_, first := exportedBy("grok-export", "", grokChat("c1", "Sails", 60, "m1 mend the sail", "m2 with thraed"))
	s.write("jan.zip", zipOf(t, dir+"prod-grok-backend.json", first, dir+"prod-mc-auth-mgmt-api.json", `{"sessions":[]}`, dir+"prod-mc-auth-mgmt-api (1).json", `{"sessions":[]}`,
		dir+"prod-mc-billing.json", "{}", asset, "a sail"))
	want := map[string][]string{"jan.zip/" + dir + "prod-grok-backend.json": {first}, "jan.zip/" + dir + "prod-mc-billing.json": {"{}"}, "jan.zip/" + asset: {"a sail"}}
	w.ingestAndCheck("first", "grok-export", s.dir, counts{runs: 1, conversations: 1, events: 2}, 3, 0, 0)
	w.checkOriginals("first", want)
	_, second := exportedBy("grok-export", "", grokChat("c1", "Sails", 600, "m1 mend the sail", "m2 with thread", "m3 and the mast"))
	s.write("feb/"+dir+"prod-grok-backend.json", second)
	s.write("feb/"+dir+"prod-mc-auth-mgmt-api.json", `{"sessions":[]}`)
	w.ingestAndCheck("unpacked", "grok-export", s.dir, counts{runs: 1, conversations: 1, events: 3}, 1, 0, 0)
	want["feb/"+dir+"prod-grok-backend.json"] = []string{second}
	w.checkOriginals("unpacked", want)
}

// TestLifeLeChatZip has exports of Le Chat: a file for each chat, with the messages in any order.
func TestLifeLeChatZip(t *testing.T) {
	t.Parallel()
	chat := func(id string, said ...string) (name, content string) {
		var messages []string
		for i, s := range slices.Backward(said) {
			messages = append(messages, fmt.Sprintf(`{"id":"%s-%d","version":0,"chatId":%q,"content":%q,"contentChunks":null,"role":%q,"createdAt":"2026-05-01T08:00:%02dZ"}`,
				id, i, id, s, []string{"user", "assistant"}[i%2], i))
		}
		return "chat-" + id + ".json", export(messages...)
	}
	const c1, c2 = "0d000000-0000-4000-8000-000000000001", "0d000000-0000-4000-8000-000000000002"
	s, w := newTree(t), newWorld(t)
	name, first := chat(c1, "mend the sail", "with thraed")
	other, ropes := chat(c2, "which knot")
	const file = "chat-" + c1 + "-files/sail.png"
	s.write("may.zip", zipOf(t, name, first, other, ropes, file, "a sail"))
	want := map[string][]string{"may.zip/" + name: {first}, "may.zip/" + other: {ropes}, "may.zip/" + file: {"a sail"}}
	w.ingestAndCheck("first", "le-chat-export", s.dir, counts{runs: 2, conversations: 2, events: 3}, 3, 0, 0)
	w.checkOriginals("first", want)
	_, second := chat(c1, "mend the sail", "with thread", "and the mast")
	s.write("june/"+name, second)
	w.ingestAndCheck("unpacked", "le-chat-export", s.dir, counts{runs: 2, conversations: 2, events: 4}, 1, 0, 0)
	want["june/"+name] = []string{second}
	w.checkOriginals("unpacked", want)
}

// TestDamagedZips has zips that are readable in part: the readable files are stored, and the zip itself as well until it is intact.
func TestDamagedZips(t *testing.T) {
	chats := export(gptChat("c1", "Sails", 60, "m1 mend the sail", "m2 with thread"))
	good := zipOf(t, "conversations.json", chats, "a.txt", strings.Repeat("all work and no play ", 100))
	list := strings.LastIndex(good, "PK\x01\x02")
	change := func(at int, to byte) string { return good[:at] + string(to) + good[at+1:] }
	for name, bad := range map[string]string{
		"checksum": change(list+16, good[list+16]^1), "encrypted": change(list+8, 1), "twice": zipOf(t, "conversations.json", chats, "conversations.json", "[]"),
		"its own name": zipOf(t, "conversations.json", chats, "export.zip", "?"), "below its own name": zipOf(t, "conversations.json", chats, "export.zip/a", "?"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := newTree(t), newWorld(t)
			s.write("export.zip", bad)
			for range 2 { // it is told of each time, and stored once
				r := w.ingest("home", s.dir, ".")
				if len(r.Problems) != 1 || r.Problems[0].Path != "export.zip" || !strings.Contains(r.Problems[0].Reason, " in it: ") {
					t.Errorf("%+v", r.Problems)
				}
				w.checkOriginals(name, map[string][]string{"export.zip/conversations.json": {chats}, "export.zip/export.zip": {bad}})
			}
			if got := countsOf(w.totals().Formats["chatgpt-export"]); got != (counts{runs: 1, conversations: 1, events: 2}) {
				t.Errorf("%+v", got)
			}
			s.write("export.zip", good)
			if r := w.ingest("home", s.dir, "."); len(r.Problems) > 0 || r.New != 1 {
				t.Errorf("sound: %+v", r)
			}
		})
	}
}

// TestDamagedZipWithCredentials has a zip that cannot be read to its end, and a file that is never archived: neither is the zip, then.
func TestDamagedZipWithCredentials(t *testing.T) {
	t.Parallel()
	chats := export(gptChat("c1", "Sails", 60, "m1 mend the sail"))
	s, w := newTree(t), newWorld(t)
	s.write("export.zip", zipOf(t, "conversations.json", chats, "work/.env", "KEY=1", "a.txt", "one", "a.txt", "two"))
	for range 2 {
		r := w.ingest("home", s.dir, ".")
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Reason, "credentials") {
			t.Errorf("%+v", r.Problems)
		}
		w.checkOriginals("damaged", map[string][]string{"export.zip/conversations.json": {chats}, "export.zip/a.txt": {"one"}})
	}
}

// TestOtherZips has zips that are no exports: a scan ignores them, and CheckZip says why for one that a user names.
func TestOtherZips(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	chats := export(gptChat("c1", "Sails", 60, "m1 mend the sail"))
	good := zipOf(t, "conversations.json", chats)
	encrypted := []byte(good)
	encrypted[strings.Index(good, "PK\x01\x02")+8] |= 1
	bomb := []byte(good)
	binary.LittleEndian.PutUint32(bomb[strings.Index(good, "PK\x01\x02")+24:], 1<<31)
	var many []string // before an export that nobody has made
	for i := range 20 {
		many = append(many, fmt.Sprintf("%d/conversations.json", i), "{}")
	}
	many = append(many, "conversations.json", chats)
	zips := map[string]struct{ content, why string }{
		"photos.zip": {zipOf(t, "a.png", "?"), "not an export"}, "other.zip": {zipOf(t, "conversations.json", `[{"a":1}]`), "not an export"}, "outer.zip": {zipOf(t, "a/inner.zip", good), "inner.zip"},
		"cut.zip": {good[:len(good)-9], "not completely downloaded"}, "text.zip": {"hello", "not a zip"}, "encrypted.zip": {string(encrypted), "encrypted"}, "bomb.zip": {string(bomb), "200 times"},
		"many.zip": {zipOf(t, many...), "not an export"},
	}
	for name, c := range zips {
		s.write(name, c.content)
		if err := ingest.CheckZip(all.Formats(), filepath.Join(s.dir, name)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
	s.write("document.docx", good)
	if r := w.ingest("home", s.dir, "."); r.Ignored != int64(len(zips)+1) || len(r.Problems) > 0 || r.New != 0 {
		t.Errorf("%+v", r)
	}
	w.All = true
	if r := w.ingest("home", s.dir, "."); r.New != int64(len(zips)+1) {
		t.Errorf("%+v", r)
	}
	s.write("good.zip", good)
	w.All, w.DryRun = false, true
	if r := w.ingest("home", s.dir, "."); r.New != 1 || r.RawBytes != int64(len(good)) {
		t.Errorf("%+v", r)
	}
	if err := ingest.CheckZip(all.Formats(), filepath.Join(s.dir, "good.zip")); err != nil {
		t.Error(err)
	}
}

// TestLongZip has an export whose files go into several packs, and one with many files.
func TestLongZip(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	var chats []string
	for i := range 30 {
		chats = append(chats, gptChat(fmt.Sprintf("c%d", i), "Long", 60, fmt.Sprintf("m%d %s", i, strings.Repeat("all work and no play ", 30000))))
	}
	files := []string{"conversations.json", export(chats...)}
	for i := range 500 {
		files = append(files, fmt.Sprintf("file-%d.dat", i), strings.Repeat(fmt.Sprint(i), i))
	}
	s.write("export.zip", zipOf(t, files...))
	w.ingestAndCheck("long", "chatgpt-export", s.dir, counts{runs: 30, conversations: 30, events: 30})
	want := map[string][]string{}
	for i := 0; i < len(files); i += 2 {
		want["export.zip/"+files[i]] = []string{files[i+1]}
	}
	w.checkOriginals("long", want)
}
