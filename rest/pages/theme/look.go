// Package theme contains what all public pages share: the style, the favicon and the choice of a language. The
// tokens of the style are those of the dashboard, which has its own style, and the color scheme follows the system.
package theme

import (
	"crypto/sha256"
	_ "embed" // the style
	"encoding/base64"
)

// Style is the shared sheet. A page writes it before its own.
//
//go:embed look.css
var Style string

// Source names a style or a script that stands in a page, for style-src and script-src of a
// Content-Security-Policy.
func Source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
