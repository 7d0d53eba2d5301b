package textmsg

import "unicode/utf16"

// Encoding is the encoding of a text.
type Encoding string

// The encodings.
const (
	GSM7 Encoding = "gsm7"
	UCS2 Encoding = "ucs2"
)

// Max is the maximum number of parts of one message.
const Max = 10

// room is the number of units in a single part, and in each of several parts.
type room struct{ alone, joined int }

var rooms = map[Encoding]room{GSM7: {160, 153}, UCS2: {70, 67}}

// basic is the GSM 7-bit default alphabet, without the escape to the extension table.
const basic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"

// extension is the extension table, reached by an escape.
const extension = "\f^{}\\[~]|€"

var septets = septetsOf()

func septetsOf() map[rune]int {
	table := make(map[rune]int, len(basic)+len(extension))
	for _, r := range basic {
		table[r] = 1
	}
	for _, r := range extension {
		table[r] = 2
	}
	return table
}

// encodingOf returns the encoding that a text requires and its size in units of that encoding.
func encodingOf(text string) (Encoding, int) {
	size := 0
	for _, r := range text {
		n := septets[r]
		if n == 0 {
			return UCS2, len(utf16.Encode([]rune(text)))
		}
		size += n
	}
	return GSM7, size
}

// width returns how many units a character takes.
func (e Encoding) width(r rune) int {
	if e == GSM7 {
		return septets[r]
	}
	return utf16.RuneLen(r)
}

// Split returns the encoding of a text and its parts, which joined equal the text. Each invalid UTF-8 byte
// counts as U+FFFD.
func Split(text string) (Encoding, []string) {
	encoding, size := encodingOf(text)
	has := rooms[encoding]
	if size <= has.alone {
		return encoding, []string{text}
	}
	var parts []string
	begin, used := 0, 0
	for at, r := range text {
		n := encoding.width(r)
		if used+n > has.joined {
			parts = append(parts, text[begin:at])
			begin, used = at, 0
		}
		used += n
	}
	return encoding, append(parts, text[begin:])
}

// Count returns the encoding of a text and its number of parts.
func Count(text string) (Encoding, int) {
	encoding, parts := Split(text)
	return encoding, len(parts)
}
