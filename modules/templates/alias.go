package templates

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/base/id"
)

var aliasForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// badAlias returns why a word cannot be an alias, or "" if it can. An alias cannot look like an id, because
// paths accept either.
func badAlias(alias string) string {
	switch {
	case !aliasForm.MatchString(alias):
		return "must be 1 to 64 characters of a-z, 0-9, - and _, beginning with a letter or digit"
	case strings.HasPrefix(alias, string(id.Template)+"_"):
		return "cannot begin with " + string(id.Template) + "_, which is reserved for ids"
	}
	return ""
}
