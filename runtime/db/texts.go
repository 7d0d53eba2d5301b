package db

import "encoding/binary"

// Texts is a text[] in the form that the protocol has for binary parameters: the
// server takes it as it is, where the text form is quoted here and parsed there. It
// is for the hot pool, which sends []byte in binary form.
func Texts(list []string) []byte { return binaryArray(list, textType) }

// Blobs is a bytea[] likewise.
func Blobs(list [][]byte) []byte { return binaryArray(list, byteaType) }

// binaryArray lays a list out as array_recv of PostgreSQL reads it: dimensions, a flag
// for nulls, the element's type, then length and lower bound, then each element with
// its length.
func binaryArray[E string | []byte](list []E, element int) []byte {
	size := 20
	for _, s := range list {
		size += 4 + len(s)
	}
	b := make([]byte, 0, size)
	word := func(n int) { b = binary.BigEndian.AppendUint32(b, uint32(n)) } // lengths of what fits a message
	if len(list) == 0 {
		word(0)
		word(0)
		word(element)
		return b
	}
	word(1)
	word(0)
	word(element)
	word(len(list))
	word(1)
	for _, s := range list {
		word(len(s))
		b = append(b, s...)
	}
	return b
}

// Object identifiers of types, the same in every database.
const (
	byteaType = 17
	textType  = 25
)
