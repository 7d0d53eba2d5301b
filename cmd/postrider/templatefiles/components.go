package templatefiles

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Kinds of a template that are parts of others.
const (
	layout  = "layout"
	partial = "partial"
)

// folders are the folders of layouts and partials, by kind.
var folders = map[string]string{layout: "layouts", partial: "partials"}

// kindOf returns the kind of the template with a stem: that of the innermost folder named layouts or partials.
func kindOf(folder, stem string) string {
	below, err := filepath.Rel(folder, filepath.Dir(stem))
	if err != nil {
		return ""
	}
	for _, name := range slices.Backward(strings.Split(filepath.ToSlash(below), "/")) {
		for kind, named := range folders {
			if name == named {
				return kind
			}
		}
	}
	return ""
}

var renderTag = regexp.MustCompile(`\{%-?\s*render\s+["']([a-z0-9_-]+)["']`)

// sortByUse sorts partials before their users, then layouts, then templates. Partials that form a cycle, which the
// server refuses, stay in their order.
func sortByUse(all []Template) []Template {
	out := make([]Template, 0, len(all))
	added := map[string]bool{}
	var add func(t Template)
	add = func(t Template) {
		if added[t.Alias] {
			return
		}
		added[t.Alias] = true
		for _, name := range partialsIn(t) {
			i := slices.IndexFunc(all, func(other Template) bool { return other.Alias == name && other.Kind == partial })
			if i >= 0 {
				add(all[i])
			}
		}
		out = append(out, t)
	}
	for _, kind := range []string{partial, layout, ""} {
		for _, t := range all {
			if t.Kind == kind {
				add(t)
			}
		}
	}
	return out
}

// partialsIn returns the names of the partials that a template renders.
func partialsIn(t Template) (names []string) {
	bodies := []*string{t.HTML, t.Text}
	for _, translated := range t.Translations {
		bodies = append(bodies, translated.HTML, translated.Text)
	}
	for _, body := range bodies {
		if body == nil {
			continue
		}
		for _, found := range renderTag.FindAllStringSubmatch(*body, -1) {
			names = append(names, found[1])
		}
	}
	return names
}
