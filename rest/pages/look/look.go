// Package look has the style that all pages except the dashboard share: sign-in, unsubscribing, the API
// reference and the development inbox. It uses the dashboard's design tokens and the theme of the system.
package look

import (
	"crypto/sha256"
	_ "embed" // the style
	"encoding/base64"
)

// Style is the shared sheet. A page writes it before its own.
//
//go:embed look.css
var Style string

// Source returns the source expression of an inline style or script, for style-src and script-src of a
// Content-Security-Policy.
func Source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
