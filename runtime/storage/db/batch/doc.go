// Package batch stores many rows with one constant statement. The columns are declared once: name, type and
// the function that returns the value of a row. The INSERT, its source and the arguments are derived from
// them, so that no two lists must be kept in the same order.
//
// Each column is passed as one array, which unnest turns into rows again. Texts and bytes are passed
// unchanged; times and JSON are passed as texts and cast in the statement.
package batch
