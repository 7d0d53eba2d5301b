// Package language is what the authors of templates write: Liquid, in the part of it that is
// bounded.
//
// A source has output, if, unless, case, for, comment, raw, and the filters of filter.go.
// There is no assign, capture, include, render, tablerow, cycle or range, and no filter that
// turns escaping off. HTML escapes values, Text (for the subject and the text) does not.
//
// The author of a source is a stranger. So every source is judged when it is saved and again
// before it is compiled for a send (scan.go, walk.go). A render ends at MaxRender bytes or
// after RenderTime (budget.go), whatever it does.
//
// A variable is a gap: a key as `customer.name`, a type, whether a send has to give it, and
// its fallback. Fill holds the values of a send against the variables, Render puts them into
// the gaps. {{unsubscribe_url}} comes through a render as it stands; the send replaces it.
package language
