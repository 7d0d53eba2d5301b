// Package segment cuts a text into the parts that a mobile network carries one by one.
//
// A text whose characters all stand in the GSM 7-bit default alphabet or its extension table
// (3GPP TS 23.038, 6.2.1) is counted in septets: 160 in one part, 153 in each of several. A
// character of the extension table takes two. Any other text is counted in units of UTF-16: 70
// in one part, 67 in each of several. Neither the two septets of a character nor the two units of
// a surrogate pair are cut apart, so a part may be one short of what fits.
package segment
