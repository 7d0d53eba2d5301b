package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
)

// ParseModules parses which of the known modules are enabled: all for "", all but those with a minus
// (`-inbound,-automations`), or only those listed. The result is in the order of known. The error lists
// everything that is wrong. It does not check whether the remaining modules work without the others.
func ParseModules(spec string, known []string) (on []string, err error) {
	var wrong setting.Mistakes
	on, off := []string{}, []string{}
	for _, item := range setting.List(spec) {
		name, minus := strings.CutPrefix(item, "-")
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case !slices.Contains(known, name):
			wrong.Add(Modules.Name, "has the unknown module %q; must be among %s", item, strings.Join(known, ", "))
		case minus:
			off = append(off, name)
		default:
			on = append(on, name)
		}
	}
	if len(on) > 0 && len(off) > 0 {
		wrong.Add(Modules.Name, "cannot combine modules to run (%s) with modules to disable (-%s)",
			strings.Join(on, ", "), strings.Join(off, ", -"))
	}
	if err := wrong.Err(); err != nil {
		return nil, fmt.Errorf("modules: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(known), func(name string) bool {
		if len(on) > 0 {
			return !slices.Contains(on, name)
		}
		return slices.Contains(off, name)
	}), nil
}
