// Package language implements the template language: a bounded subset of Liquid.
//
// A source may contain output, if, unless, case, for, comment, raw, and the filters in filter.go. There is no
// assign, capture, include, tablerow, cycle or range, and no filter that disables escaping except raw. HTML
// escapes values; Text (for the subject and the text) does not.
//
// # Layouts and partials
//
// Expand replaces layout, block and render with the sources of the components, so that Compile, CSS inlining and sends
// only see one flat source. The flat source records the component and position of each of its pieces, which errors
// name. Names are hygienic:
//
//   - In a partial, a name is an argument, a loop variable of the partial, or unsubscribe_url. Arguments are literals
//     or paths of the caller, and replace the names in the tags of the partial.
//   - A loop variable of a partial gets another name if an argument begins with the same one.
//   - A block cannot be in a loop, so that it never sees loop variables of the layout.
//   - Each component compiles on its own (with its tags of components blanked out), so that none can close a tag of
//     another, and pieces of two components never form a tag.
//
// Partials that render partials grow exponentially. The bytes and the tags are therefore counted while the flat source
// is built.
//
// # Limits
//
// The author of a source is untrusted. Every source is checked when it is saved, and again before it is
// compiled for a send (scan.go, walk.go). A render always ends, at MaxRender bytes or after RenderTime
// (budget.go).
//
// A variable is a placeholder. It has a key such as `customer.name`, a type, and a fallback unless a send must
// supply its value. Fill checks the values of a send against the variables, and Render inserts them. Render
// leaves {{unsubscribe_url}} unchanged for the send to replace.
package language
