// Package textmsg holds the rules of mobile networks for text messages: how a text is split into the parts that
// are carried separately (segment.go), and which telephone numbers are valid (number.go).
//
// # Segments
//
// A text that consists only of characters of the GSM 7-bit default alphabet and its extension table (3GPP TS
// 23.038, 6.2.1) is counted in septets: 160 in a single part, 153 in each of several. A character of the
// extension table takes two. Any other text is counted in UTF-16 units: 70 in a single part, 67 in each of
// several. Neither the two septets of a character nor the two units of a surrogate pair are separated, so a
// part may have one unit less than would fit.
//
// # Numbers
//
// A number must be in E.164 format and have a length that is possible in its country. It need not be assigned:
// tables of assigned numbers become outdated, and would reject new numbers.
package textmsg
