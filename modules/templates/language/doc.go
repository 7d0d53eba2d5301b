// Package language implements the template language: a bounded subset of Liquid.
//
// A source may contain output, if, unless, case, for, comment, raw, and the filters in filter.go. There is no
// assign, capture, include, render, tablerow, cycle or range, and no filter that disables escaping. HTML
// escapes values; Text (for the subject and the text) does not.
//
// The author of a source is untrusted. Every source is checked when it is saved, and again before it is
// compiled for a send (scan.go, walk.go). A render always ends, at MaxRender bytes or after RenderTime
// (budget.go).
//
// A variable is a placeholder. It has a key such as `customer.name`, a type, and a fallback unless a send must
// supply its value. Fill checks the values of a send against the variables, and Render inserts them. Render
// leaves {{unsubscribe_url}} unchanged for the send to replace.
package language
