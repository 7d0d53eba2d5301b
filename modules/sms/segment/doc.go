// Package segment splits a text into the parts that a mobile network carries separately.
//
// A text that consists only of characters of the GSM 7-bit default alphabet and its extension table (3GPP TS
// 23.038, 6.2.1) is counted in septets: 160 in a single part, 153 in each of several. A character of the
// extension table takes two. Any other text is counted in UTF-16 units: 70 in a single part, 67 in each of
// several. Neither the two septets of a character nor the two units of a surrogate pair are separated, so a
// part may have one unit less than would fit.
package segment
