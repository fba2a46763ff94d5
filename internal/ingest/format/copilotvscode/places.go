package copilotvscode

import "github.com/txarchive/txarchive/internal/ingest/format"

var editors = []string{"Code", "Code - Insiders", "Code - Exploration", "Code - OSS", "VSCodium", "VSCodium - Insiders"}

// servers are the data directories of editors on remote machines.
var servers = []string{"~/.vscode-server/data", "~/.vscode-server-insiders/data", "~/.vscodium-server/data"}

// Places returns where the editors keep sessions. With --user-data-dir, or in a portable editor without $VSCODE_PORTABLE, they lie elsewhere.
func (vscode) Places() []format.Place {
	var all []format.Place
	add := func(user string) {
		for _, dir := range []string{"/User/workspaceStorage", "/User/globalStorage/emptyWindowChatSessions"} {
			all = append(all, format.Place{
				Name: "copilot-vscode", Path: user + dir, Deletes: "sessions that are deleted in its list",
			})
		}
	}
	for _, home := range format.ConfigHomes {
		for _, editor := range editors {
			add(home + "/" + editor)
		}
	}
	for _, server := range servers {
		add(server)
	}
	add("$VSCODE_PORTABLE/user-data")
	return all
}
