// Package body declares what a request body holds, once: which fields it has, by which
// other names they may be given, how each is read, and what the OpenAPI document says
// of it.
//
// A body is declared by a function that takes what is to be filled and returns an
// Object: a list of fields, each with a Type that points into what is to be filled. The
// machinery calls the function once for each request, to decode, and once at start, for
// the schema. Nothing is looked up by reflection.
//
// Judging values is the work of the service's own Validate, which the GraphQL edge
// needs too. An Object calls it in Check, so that one answer names the fields of the
// wrong type and those that the service would refuse. Limits of a Type are for the
// document.
//
// Bodies are read by a JSON reader of our own. encoding/json accepts too much of what a
// caller may have meant otherwise: the last of two equal names, names in any case,
// broken UTF-8. And it holds a 100 MB attachment three times; this reader points into
// the body.
package body
