// Package number validates telephone numbers and determines their country.
//
// A number must be in E.164 format and have a length that is possible in its country. It need not be assigned:
// tables of assigned numbers become outdated, and a new number would be refused.
package number
