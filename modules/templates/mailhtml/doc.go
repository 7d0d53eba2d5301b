// Package mailhtml makes of the HTML that an author wrote what mail programs need: HTML with
// its CSS inlined (InlineCSS), and a text part (PlainText).
//
// Both work on a source in which Liquid still stands. So they first put words that mean
// nothing in the place of Liquid, and put the Liquid back at the end (opaque.go).
package mailhtml
