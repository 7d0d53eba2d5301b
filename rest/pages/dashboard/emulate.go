package dashboard

import (
	"regexp"
	"slices"
	"strings"
)

// appearance is how an email is shown.
type appearance struct {
	pictures bool   // shows remote images
	images   string // URL prefix of images that are always shown; empty: none
	scheme   string // emulated color scheme, dark or light; empty: that of the browser
}

func (a *appearance) setScheme(scheme string) {
	if scheme == "dark" || scheme == "light" {
		a.scheme = scheme
	}
}

// isOwnImage reports whether an attribute loads a single image of a template of this installation.
func (a *appearance) isOwnImage(name, value string) bool {
	return a.images != "" && name != "srcset" && strings.HasPrefix(strings.TrimSpace(value), a.images)
}

// gap matches white space and comments of CSS.
const gap = `(?:\s|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*`

var (
	schemeQuery  = regexp.MustCompile(`(?i)\(` + gap + `prefers-color-scheme` + gap + `(?::` + gap + `([a-z-]+)` + gap + `)?\)`)
	deviceWidth  = regexp.MustCompile(`(?i)(\(\s*(?:min-|max-)?)device-(width|height)\b`)
	schemeChoice = regexp.MustCompile(`(?i)((?:^|[;{\s])color-scheme` + gap + `:)([^;}!]*)`)
	schemeNames  = regexp.MustCompile(`(?i)^\s*(?:only\s+)?(?:light|dark)(?:\s+(?:light|dark))?\s*$`)
)

// Conditions on the width of the frame, one of which is always true, and one never.
const (
	always = "(min-width:0)"
	never  = "(max-width:0)"
)

// emulateSheet rewrites CSS for the size of the frame, which is the device of the preview, and for the color scheme. A
// frame cannot choose the color scheme that its media queries see, so they are replaced by their result.
func (a *appearance) emulateSheet(css string) string { return a.emulateChoice(a.emulateQuery(css)) }

// emulateQuery rewrites media queries.
func (a *appearance) emulateQuery(css string) string {
	css = deviceWidth.ReplaceAllString(css, "$1$2")
	if a.scheme == "" {
		return css
	}
	return schemeQuery.ReplaceAllStringFunc(css, func(query string) string {
		wanted := schemeQuery.FindStringSubmatch(query)[1]
		if wanted == "" || strings.EqualFold(wanted, a.scheme) {
			return always
		}
		return never
	})
}

// emulateChoice rewrites declarations of color-scheme that leave the choice to the browser.
func (a *appearance) emulateChoice(css string) string {
	if a.scheme == "" {
		return css
	}
	return schemeChoice.ReplaceAllStringFunc(css, func(declaration string) string {
		parts := schemeChoice.FindStringSubmatch(declaration)
		return parts[1] + a.choose(parts[2])
	})
}

// choose returns the emulated scheme if it is among the supported ones.
func (a *appearance) choose(supported string) string {
	if slices.Contains(strings.Fields(strings.ToLower(supported)), a.scheme) {
		return a.scheme
	}
	return supported
}

func (a *appearance) emulateAttribute(name, value string) string {
	switch {
	case name == "media":
		return a.emulateQuery(value)
	case name == "style":
		return a.emulateChoice(value)
	case name == "content" && a.scheme != "" && schemeNames.MatchString(value): // of a meta element
		return a.choose(value)
	}
	return value
}
