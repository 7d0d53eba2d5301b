package db

import "encoding/binary"

// Texts is a text[] in the form that the protocol has for binary parameters: the
// server takes it as it is, where the text form is quoted here and parsed there. It
// is for the hot pool, which sends []byte in binary form.
//
// Layout (array_recv of PostgreSQL): dimensions, a flag for nulls, the element's type,
// then length and lower bound, then each element with its length.
func Texts(list []string) []byte {
	size := 20
	for _, s := range list {
		size += 4 + len(s)
	}
	b := make([]byte, 0, size)
	word := func(n int) { b = binary.BigEndian.AppendUint32(b, uint32(n)) } // lengths of what fits a message
	if len(list) == 0 {
		word(0)
		word(0)
		word(textType)
		return b
	}
	word(1)
	word(0)
	word(textType)
	word(len(list))
	word(1)
	for _, s := range list {
		word(len(s))
		b = append(b, s...)
	}
	return b
}

// textType is the object identifier of the type text, the same in every database.
const textType = 25
