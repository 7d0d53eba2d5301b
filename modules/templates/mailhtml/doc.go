// Package mailhtml inlines the CSS of an HTML template for mail programs that ignore <style>.
//
// The source still contains Liquid. InlineCSS first replaces each Liquid tag with a placeholder and restores
// the tags at the end (opaque.go).
package mailhtml
