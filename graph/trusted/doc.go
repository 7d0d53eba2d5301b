// Package trusted contains the queries of this installation's pages by their hash. Signed-in users can run only these
// queries. The fields of disabled modules are removed from each query.
package trusted
