package cline

import "github.com/txarchive/txarchive/internal/ingest/format"

// extensions are the folders of the programs in an editor's globalStorage.
var extensions = []struct{ source, folder string }{
	{"cline", "saoudrizwan.claude-dev"},
	{"roo-code", "rooveterinaryinc.roo-cline"},
	{"kilo-code", "kilocode.kilo-code"},
	{"zoo-code", "zoocodeorganization.zoo-code"},
	{ibmBob, "ibm.bob-code"},
}

var editors = []string{"Code", "Code - Insiders", "Cursor", "Windsurf", "VSCodium", "Trae"}

// ibmBob is an editor of its own with a fork of Roo in it.
const ibmBob = "ibm-bob"

var bobs = []string{"IBM Bob", "Bob-IDE"}

// servers are the data directories of editors on remote machines.
var servers = []string{
	"~/.vscode-server/data", "~/.vscode-server-insiders/data", "~/.cursor-server/data", "~/.windsurf-server/data", "~/.vscodium-server/data",
}

// Places returns where the programs keep their files. The setting customStoragePath of Roo and Kilo moves them; it is not read.
func (cline) Places() []format.Place {
	const deletes = "a task that is deleted in its list"
	var all []format.Place
	add := func(source, path string) {
		all = append(all, format.Place{Name: source, Path: path, Deletes: deletes})
	}
	for _, x := range extensions {
		in, remote := editors, servers
		if x.source == ibmBob {
			in, remote = bobs, nil
		}
		for _, home := range format.ConfigHomes {
			for _, editor := range in {
				add(x.source, home+"/"+editor+"/User/globalStorage/"+x.folder)
			}
		}
		for _, server := range remote {
			add(x.source, server+"/User/globalStorage/"+x.folder)
		}
	}
	add("cline", "~/.cline/data")
	add("cline", "$CLINE_DATA_DIR")
	add("cline", "$CLINE_DIR/data")
	add("cline", "$CLINE_SESSION_DATA_DIR")
	add("roo-code", "~/.vscode-mock/global-storage")
	return all
}
