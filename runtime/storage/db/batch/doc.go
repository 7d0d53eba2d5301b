// Package batch stores many rows with one statement of constant text. The columns are
// declared once: name, type and the function that gives the value of a row. From them
// come the INSERT, its source and the arguments, so that no two lists have to be kept in
// one order.
//
// Each column travels as one array, which unnest turns into rows again. Texts and octets
// travel as they are; times and JSON travel as texts, and are cast in the statement.
package batch
