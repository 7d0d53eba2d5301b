// Package theme contains the shared parts of everything that people read outside of the dashboard: the style and the
// favicon of public pages, and the languages of these pages and of the emails of the service. The style uses the same
// tokens as the dashboard, which has its own style, and the color scheme follows the system.
package theme

import (
	"crypto/sha256"
	_ "embed" // the style
	"encoding/base64"
)

// Style is the shared style sheet. A page writes it before its own.
//
//go:embed look.css
var Style string

// Source returns the source expression of an inline style or script, for style-src and script-src of a
// Content-Security-Policy.
func Source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
