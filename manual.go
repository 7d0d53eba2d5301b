// Package postrider contains the manual, which the program serves to language models (rest/pages/manual). It exists
// because a Go file can embed only files below its own folder.
package postrider

import "embed"

// Manual contains the pages of the manual. docs/README.md lists them.
//
//go:embed docs/*.md WEBHOOKS.md SECURITY.md CHANGELOG.md
var Manual embed.FS
