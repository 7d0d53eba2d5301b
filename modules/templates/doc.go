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
package templates
