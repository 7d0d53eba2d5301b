// Package body declares request bodies, once for decoding and the OpenAPI document: the fields, their aliases, how
// each is read, and its description.
//
// A body is declared by a function that takes the value to fill and returns an Object: a list of fields, each with
// a Type that points into that value. The function is called for each request, to decode it, and once at startup,
// for the schema. There is no reflection.
//
// Values are validated by the service's own Validate, which the GraphQL edge uses too. An Object calls it in Check,
// so that one response reports both fields of the wrong type and invalid values. The limits of a Type are only
// documentation.
//
// Bodies are read by a JSON reader of our own. encoding/json accepts input that the caller may have meant
// differently: duplicate names, names in any case, broken UTF-8. It also holds a 100 MB attachment three times in
// memory; this reader points into the body.
package body
