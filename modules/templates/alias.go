package templates

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/base/id"
)

var aliasForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// badAlias is empty for a word that may be an alias. One that looks like an id
// may not: both stand in the same place of a path.
func badAlias(alias string) string {
	switch {
	case !aliasForm.MatchString(alias):
		return "must be 1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit"
	case strings.HasPrefix(alias, string(id.Template)+"_"):
		return "must not begin with " + string(id.Template) + "_, as ids do"
	}
	return ""
}
