// Package templates keeps messages with gaps, and fills the gaps.
//
// # Words
//
// A template is a draft that is edited, and the versions that were published of
// it. A version never changes. Sends use the published version; an edit touches
// the draft only, so that nothing half-written is ever sent. The alias and the
// name belong to the template itself and change at once.
//
// A variable is a gap: a key as `customer.name`, a type, whether a send has to
// give it, and what stands there otherwise (its fallback). To render is to put
// values into the gaps.
//
//	draft ──Publish──▶ version 1, 2, … (the last one is the published version)
//	  ▲                     │
//	  └──────Rollback───────┘ what version n says is published again, as a new
//	                          version, and is the draft
//
// # Rooms
//
// This package keeps templates and their versions. What an author may write, and how a
// render puts values into it, is in modules/templates/language. The inlining of CSS is
// in modules/templates/mailhtml.
//
// # Publishing
//
// A version contains the html with its CSS inlined, if inlining leaves the structure
// alone, and the source as the author wrote it, for a rollback. If a template has no
// text, modules/sending/compose generates the text part of each email from the rendered
// html.
//
// # Guarantees
//
// A publication is seen at once in the process that made it, and within CacheTTL
// in others. A deleted template leaves sent mail alone. Facts: none.
package templates
