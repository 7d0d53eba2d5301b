// Package templates stores message templates and renders them with the variables of a send.
//
// # Terms
//
// A template consists of a draft for editing and the versions published from it. A version never changes. Sends use the
// published version; edits only change the draft, so that an incomplete text is never sent. The alias and the
// name belong to the template itself and change immediately.
//
// A variable has a key such as `customer.name`, a type, and a fallback for sends that omit it, unless it is
// required. Rendering replaces the variables with values.
//
//	draft ──Publish──▶ version 1, 2, … (the last one is the published version)
//	  ▲                     │
//	  └──────Rollback───────┘ publishes the content of version n again, as a new
//	                          version, and makes it the draft
//
// Every change of a draft is also recorded in its history, with its author. Successive changes by one author are one
// edit. RestoreEdit makes an earlier edit the draft.
//
// An account can upload images for its templates. They are public: a client that has the URL can load one.
//
// # Packages
//
// This package stores templates and their versions. Package language defines the template syntax and renders it.
// Package mailhtml inlines CSS.
//
// # Publishing
//
// A version contains the html with its CSS inlined, if inlining does not change the
// structure, and the source as the author wrote it, for a rollback. If a template has no
// text, modules/sending/compose generates the text part of each email from the rendered
// html.
//
// # Layouts and partials
//
// A template has a kind. Layouts and partials are drafted, versioned and published like templates, and cannot be sent.
// Publishing a template expands the published versions of its layout and partials into the html and the text of the
// version (components.go), so that sends read one row, and published templates change only when they are published
// again. The version records the components as pins, and the variables of the layout that it uses. A version of a
// layout or a partial contains its source as written. A publication locks its components, and starts again if one was
// published after it was read. A rollback keeps the content and the pins of the earlier version.
//
// # Guarantees
//
// A published version is used immediately by the process that published it, and within CacheTTL
// by others. Deleting a template does not change sent mail. Facts: none.
package templates
