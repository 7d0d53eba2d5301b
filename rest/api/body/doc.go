// Package body declares request bodies, once for both decoding and the OpenAPI document: the fields, their aliases,
// their types and their descriptions.
//
// A body is declared by a function that takes the value to fill and returns an Object: a list of fields, each with
// a Type that points into that value. The function is called for each request, to decode it, and once at startup,
// for the schema. There is no reflection.
//
// The service's own Validate validates the values, for the GraphQL edge too. An Object calls it in Check, so that one
// response reports both fields of the wrong type and invalid values. The limits of a Type are only documentation.
//
// The package has its own JSON reader, because encoding/json accepts ambiguous input: duplicate names, names in any
// case, invalid UTF-8. It also holds a 100 MB attachment three times in memory, whereas this reader points into the
// body.
package body
